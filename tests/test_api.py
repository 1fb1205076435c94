"""What ``import svcpath`` promises: its names, their order, their examples, and that asking for them costs little."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Sequence

import pytest

import svcpath
from svcpath import api, errors
from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.source import Source
from svcpath.evidence.sources.recordings import recording
from svcpath.reports.records import Report
from svcpath.reports.report import encode


def test_the_names_are_sorted_and_each_is_there() -> None:
    assert list(svcpath.__all__) == sorted(svcpath.__all__)
    assert len(set(svcpath.__all__)) == len(svcpath.__all__)
    for name in svcpath.__all__:
        assert getattr(svcpath, name) is not None
    assert set(dir(svcpath)) >= set(svcpath.__all__)


def test_the_names_are_complete() -> None:
    """Every public function and type of the api, and every error a user can catch but ModelError's kind of mistake."""
    assert list(api.__all__) == sorted(api.__all__)
    defined = {
        name
        for name, value in vars(api).items()
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == api.__name__
    }
    assert defined <= set(api.__all__) | {"usable"}, "a public function that api.__all__ leaves out"
    internal = {"request"}
    assert set(api.__all__) - internal <= set(svcpath.__all__)
    caught = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.SvcpathError) and value.__module__ == errors.__name__
    }
    assert set(svcpath.__all__) - set(api.__all__) <= caught
    assert {"SvcpathError", "UsageError", "UnknownTarget", "EvidenceError", "SourceUnavailable"} <= set(svcpath.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = svcpath.nothing


def test_type_checkers_see_the_names_that_are_there() -> None:
    source = inspect.getsource(importlib.import_module("svcpath"))
    block = source.partition("if TYPE_CHECKING:")[2].partition("__all__")[0]
    named = set(re.findall(r"\b[A-Za-z]\w*\b", re.sub(r"from [\w.]+ import", "", block)))
    assert set(svcpath.__all__) <= named


@pytest.mark.parametrize("module", ["svcpath.api"])
def test_the_examples_run(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), raise_on_error=False)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", ["diagnose", "drift", "files", "recording", "resolve", "trace"])
def test_every_function_tells_its_types_and_what_it_raises(name: str) -> None:
    function = getattr(svcpath, name)
    hints = typing.get_type_hints(function, localns=vars(api))
    assert "return" in hints
    assert set(inspect.signature(function).parameters) <= set(hints)
    assert function.__doc__


def test_a_source_of_ones_own_is_enough() -> None:
    class Mine:
        def __init__(self) -> None:
            self.asked = 0
            self._inner: Source = recording("iptables")

        def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[typing.Any], ...]]:
            self.asked += len(needs)
            return self._inner.observe(needs)

    mine = Mine()
    report = svcpath.diagnose(mine, "svc/wrong-port", namespace="service-ops", client="pod/client")
    assert isinstance(report, Report)
    assert mine.asked > 5
    same = svcpath.diagnose(recording("iptables"), "wrong-port.service-ops", client="pod/client")
    assert encode(report) == encode(same)


def test_progress_tells_each_layer_in_order() -> None:
    names: list[str] = []
    svcpath.diagnose(
        recording("iptables"), "wrong-port", namespace="service-ops", progress=lambda layer: names.append(layer.name)
    )
    assert names == ["resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle"]


@pytest.mark.parametrize("target", ["pod/x", "svc/", "ingress/web"])
def test_a_target_that_is_no_service_is_a_usage_error(target: str) -> None:
    with pytest.raises(svcpath.UsageError, match="svc/NAME"):
        svcpath.diagnose(recording("iptables"), target)


def test_a_target_in_any_of_its_forms_is_the_same() -> None:
    forms = [("svc/echo-server", "service-ops"), ("service/echo-server", "service-ops"), ("services/echo-server", "")]
    forms += [("echo-server", "service-ops"), ("echo-server.service-ops", ""), ("echo-server.service-ops.svc", "")]
    forms += [("echo-server.service-ops.svc.cluster.local.", ""), ("echo-server", "")]
    for target, namespace in forms:
        report = svcpath.diagnose(recording("iptables"), target, namespace=namespace)
        assert (report.target.service, report.target.namespace) == ("echo-server", "service-ops"), target
        assert report.verdict.status == "healthy", target


def test_importing_svcpath_imports_nothing_heavy() -> None:
    code = "import sys, svcpath; print(*sorted(set(sys.modules) & {'click', 'rich', 'yaml', 'msgspec', 'dns'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not done.stdout.strip()
