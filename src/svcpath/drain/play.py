"""Play scenarios and the grid on a cluster, in namespaces of the drain's own, and say how each came out."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from svcpath.drain import kube
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.endurance import LoadPlan, endure
from svcpath.drain.grid.cells import CELLS, GridCell
from svcpath.drain.grid.compare import compare, record
from svcpath.drain.grid.measure import measure
from svcpath.drain.kube import Api
from svcpath.drain.outside import Outside
from svcpath.drain.scenarios import SCENARIOS, Scenario
from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult
from svcpath.evidence.sources.kube_client import Access
from svcpath.reports.drain import CellRecord, LoadRecord, ScenarioRecord

SPACE = "svcpath-drain"


def grid(
    access: Access, image: str, say: Callable[[str], None], cells: Sequence[GridCell] = CELLS
) -> tuple[CellRecord, ...]:
    """All cells at once; the model reads the manifests, the measured side the logs."""
    with contextlib.closing(ClusterTransport(access)) as cluster:
        found = measure(Api(cluster), cells, image, say)
    return tuple(record(compare(cell, found[cell.name], image)) for cell in cells)


def load(access: Access, image: str, wanted: LoadPlan, say: Callable[[str], None]) -> tuple[LoadRecord, ...]:
    """The recorder under load; its recording is kept no longer than it is compared."""
    with tempfile.TemporaryDirectory(prefix="svcpath-load-") as folder:
        return (endure(access, image, wanted, Path(folder) / "load.db", say),)


def scenarios(
    access: Access,
    image: str,
    chosen: Sequence[int],
    say: Callable[[str], None],
    outside: Outside | None = None,
    variants: frozenset[str] = frozenset(),
) -> tuple[ScenarioRecord, ...]:
    """Each of the chosen scenarios in its variants (or those named), one after another."""
    records = []
    with contextlib.closing(ClusterTransport(access)) as cluster, kube.namespace(api := Api(cluster), SPACE):
        api.create([kube.scripts_map(SPACE), kube.client_pod(SPACE, image)])
        api.ready_pods(SPACE, "app=drain-client", 1)
        stage = DrainStage(api, SPACE, image, say, outside)
        for number in chosen:
            scenario = SCENARIOS[number]
            for variant in scenario.variants:
                if variants and variant.name not in variants:
                    continue
                say(f"{number}. {scenario.title}, {variant.name}: {scenario.does}")
                found = scenario.run(stage, variant)
                api.clear(SPACE)
                records.append(_record(scenario, variant, found))
    return tuple(records)


def _record(scenario: Scenario, variant: ScenarioVariant, found: ScenarioResult) -> ScenarioRecord:
    return ScenarioRecord(
        number=scenario.number,
        title=scenario.title,
        does=scenario.does,
        measures=scenario.measures,
        passes_when=scenario.passes,
        variant=variant.name,
        why=variant.why,
        passed=found.passed,
        as_it_should=None if found.passed is None else found.passed == variant.holds,
        sentence=found.sentence,
        measured=found.measured,
    )
