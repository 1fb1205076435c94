"""Drains on a real cluster: scenarios come out as they have to, and the shutdown timeline says what is measured.

Fewer cells of the grid: SVCPATH_GRID_CELLS=12. All scenarios in both modes are `make drain`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.endurance import LoadPlan, endure
from svcpath.drain.grid.cells import CELLS
from svcpath.drain.grid.compare import GridRow, compare
from svcpath.drain.grid.measure import measure
from svcpath.drain.kube import Api
from svcpath.evidence.sources.kube_client import Access
from svcpath_lab import home as homes
from svcpath_lab import labs
from tests.live.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900, func_only=True)]

COUNT = int(os.environ.get("SVCPATH_GRID_CELLS", str(len(CELLS))))
SEED = int(os.environ.get("SVCPATH_GRID_SEED", "20261130"))


def _said(text: str) -> None:
    del text


@pytest.fixture
def access(lab: Lab) -> Access:
    return Access(kubeconfig=lab.kubeconfig)


@pytest.fixture
def image() -> str:
    return labs.provider(homes.home(os.environ["SVCPATH_TEST_LAB"])).images["tools"]


def _played(lab: Lab, tmp_path: Path, scenario: int, *variants: str) -> list[dict[str, Any]]:
    results = tmp_path / "results.json"
    chosen = [word for variant in variants for word in ("--variant", variant)]
    name = os.environ["SVCPATH_TEST_LAB"]
    code = run(["drain", "run", "--scenario", str(scenario), *chosen, "--lab", name, "-o", f"json={results}"])
    played: list[dict[str, Any]] = json.loads(results.read_text())["scenarios"]
    assert code == 0, played
    return played


def test_requests_finish_behind_a_hook_and_are_cut_without_one(lab: Lab, tmp_path: Path) -> None:
    kept, cut = _played(lab, tmp_path, 2, "pass", "fail")
    assert (kept["passed"], kept["measured"]["failed"]) == (True, 0)
    assert not cut["passed"]
    assert cut["measured"]["failed"] > 0


def test_a_load_balancer_removes_a_node_late_and_a_short_hook_does_not_last(
    lab: Lab, tmp_path: Path, say_in_summary: Callable[[str], None]
) -> None:
    played = _played(lab, tmp_path, 6, "pass", "fail")
    if any(result["passed"] is None for result in played):
        pytest.skip(played[0]["sentence"])
    kept, lost = played
    assert kept["measured"]["failed"] == 0
    assert lost["measured"]["failed"] > 0
    for result in played:
        assert result["measured"]["balancer"] > result["measured"]["slice"]
    say_in_summary(f"drain: HAProxy removed the node {kept['measured']['later']:.1f} s later than the slice the Pod")


def test_the_clock_of_one_deletion_says_what_clients_and_servers_log(
    access: Access, image: str, say_in_summary: Callable[[str], None]
) -> None:
    import random

    places = sorted(random.Random(SEED).sample(range(len(CELLS)), min(COUNT, len(CELLS))))
    cells = [CELLS[place] for place in places]

    def measured(chosen: list[Any]) -> list[GridRow]:
        with contextlib.closing(ClusterTransport(access)) as cluster:
            found = measure(Api(cluster), chosen, image, _said)
        return [compare(cell, found[cell.name], image) for cell in chosen]

    rows = measured(cells)
    differ = [row.cell for row in rows if not row.agrees]
    timed = [row.time_agrees for row in rows if row.time_agrees is not None]
    ends = [row.ends_agree for row in rows if row.ends_agree is not None]
    say_in_summary(
        f"drain grid: {len(rows) - len(differ)} of {len(rows)} cells agree ({len(rows)} of {len(CELLS)}, seed {SEED}); "
        f"the signal within 1 s in {sum(timed)} of {len(timed)}, every container's end in {sum(ends)} of {len(ends)}"
    )
    if differ:
        # A machine that is late by seconds moves an edge: those cells once more, without the others beside them.
        again = measured(differ)
        still = [row for row in again if not row.agrees]
        say_in_summary(f"drain grid: {len(differ) - len(still)} of the other {len(differ)} agree when measured alone")
        assert not still, [(row.cell.name, row.predicted, row.measured) for row in still]


def test_a_recording_under_load_lacks_no_connection_that_a_server_logged(
    access: Access, image: str, tmp_path: Path, say_in_summary: Callable[[str], None]
) -> None:
    found = endure(access, image, LoadPlan(200, 20, 4), tmp_path / "load.db", _said)
    say_in_summary(
        f"drain recorder: {found.recorded} of {found.announced} connections, {found.replaced} Pods replaced, "
        f"{found.cores} cores (1,000 a second: make drain-load)"
    )
    assert (found.recorded, found.announced) == (4000, 4000)
    assert (found.duplicated, found.lost, found.unlogged, found.lost_pods) == (0, 0, 0, 0)
    assert found.replaced >= 4
