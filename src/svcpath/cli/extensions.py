"""Commands that ship as a distribution of their own, found by entry points when the command line names one of them.

``svcpath-lab`` offers ``lab`` in two groups: ``svcpath.commands`` names the module of ``svcpath lab ...`` (its ``app``),
``svcpath.clusters`` a function from a lab's name to the ``PracticeCluster`` that ``svcpath drain run`` plays on. svcpath
imports nothing of it otherwise, so that it starts as quickly, and works, where it is not installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svcpath import __version__
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drain.outside import Outside

COMMANDS, CLUSTERS = "svcpath.commands", "svcpath.clusters"
#: What is offered where there are sources on the path and nothing is installed (PYTHONPATH=src:lab/src).
OF_SOURCES = {(COMMANDS, "lab"): "svcpath_lab.cli", (CLUSTERS, "lab"): "svcpath_lab.practice:practice_cluster"}


@dataclass(frozen=True, slots=True)
class PracticeCluster:
    """A cluster that is there to be drained: how to reach it, and what a lab knows of it.

    ``image`` runs the workloads of the scenarios; ``outside`` is a place outside the cluster, where it has one; ``facts`` go
    into the results (date, versions, machine).
    """

    kubeconfig: Path
    context: str
    image: str
    outside: Outside | None
    facts: dict[str, str]


def command(name: str) -> Any:
    """The module of a command, with its ``app``. Raises UsageError, with what to install, where it is not there."""
    return _load(COMMANDS, name, f"svcpath {name}")


def practice_cluster(name: str) -> PracticeCluster:
    """The lab called ``name``. Raises UsageError where svcpath-lab is not installed, and what svcpath-lab raises."""
    found = _load(CLUSTERS, "lab", "svcpath drain run")(name)
    assert isinstance(found, PracticeCluster)
    return found


def _load(group: str, name: str, needed_by: str) -> Any:
    from importlib.metadata import entry_points

    for entry in entry_points(group=group, name=name):
        return entry.load()
    module, _, attribute = OF_SOURCES[group, name].partition(":")
    package = module.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        distribution = package.replace("_", "-")
        raise UsageError(
            f"{distribution} is not installed, and `{needed_by}` needs it: pip install {distribution}=={__version__}"
        )
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found
