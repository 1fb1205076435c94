"""A recording is compared with the servers' logs by the number of each request: what is missing, what is there twice, is counted."""

from __future__ import annotations

from pathlib import Path

from svcpath.drain.endurance import LoadPlan, compared, numbers
from svcpath.drain.store import ObjectState, Store
from svcpath.models.drain.moments import SampledConnection

LOAD = LoadPlan(rate=2, seconds=2, pods=1)


def _connection(number: int, outcome: str = "ok") -> SampledConnection:
    return SampledConnection("new", 1.0, 1.0, 1.0, 1.0, 1.1, "load-1", outcome, 200, f"id={number}")


def _log(*found: int) -> list[str]:
    return ["1.0 ready", *(f"1.0 accepted 10.0.0.1 4000{row} /hostname?id={row}" for row in found)]


def _store(path: Path, connections: list[SampledConnection], announced: int = 4) -> None:
    store = Store(path)
    store.begin(None)
    store.add_connections("a", list(enumerate(connections, 1)))
    store.set_meta("sampler a", f"{announced} 1 0.5 0.25")
    for version, kind in (("1", "ADDED"), ("2", "DELETED")):
        store.add([ObjectState("pods", "u1", "load-1", version, kind, 1.0, 1.0, b"{}")], "pods", version)
    store.add([ObjectState("pods", "u2", "load-2", "3", "ADDED", 1.0, 1.0, b"{}")], "pods", "3")
    store.close()


def test_a_whole_recording_holds(tmp_path: Path) -> None:
    _store(tmp_path / "x.db", [_connection(number) for number in (1, 2, 3)] + [_connection(4, "refused")])
    found = compared(LOAD, tmp_path / "x.db", {"load-1": _log(1, 2), "load-2": _log(3)}, {"u2"}, 0.1)
    assert found.holds
    assert (found.recorded, found.logged, found.failed, found.replaced, found.late) == (4, 3, 1, 1, 1)
    assert (found.sampler_used, found.sampler_waited) == (0.5, 0.2)


def test_what_several_samplers_announce_is_added(tmp_path: Path) -> None:
    _store(tmp_path / "x.db", [_connection(number) for number in (1, 2)], announced=2)
    store = Store(tmp_path / "x.db")
    store.add_connections("b", [(number, _connection(number)) for number in (3, 4)])
    store.set_meta("sampler b", "2 0")
    store.close()
    found = compared(LOAD, tmp_path / "x.db", {"load-1": _log(1, 2, 3, 4)}, {"u2"}, 0.1)
    assert found.holds
    assert (found.announced, found.recorded, found.late) == (4, 4, 1)


def test_what_lacks_is_counted_by_kind(tmp_path: Path) -> None:
    _store(tmp_path / "x.db", [_connection(1), _connection(1), _connection(2)])
    found = compared(LOAD, tmp_path / "x.db", {"load-1": _log(1, 4)}, {"u2", "u3"}, 0.1)
    assert (found.duplicated, found.unlogged, found.lost_pods, found.holds) == (1, 1, 1, False)
    assert found.lost >= 1


def test_a_recorder_of_more_than_a_core_does_not_hold(tmp_path: Path) -> None:
    _store(tmp_path / "x.db", [_connection(number) for number in (1, 2, 3, 4)])
    assert not compared(LOAD, tmp_path / "x.db", {"load-1": _log(1, 2, 3, 4)}, {"u2"}, 1.1).holds


def test_numbers_are_read_of_requests_alone() -> None:
    assert numbers(["1.0 accepted ::1 1 /hostname?a=1&id=7", "1.0 accepted ::1 1 /x", "1.0 end id=3"]) == [7]
    assert numbers(["1.0 accepted ::1 1 /hostname?id=7 + ::1 2 /x + ::1 3 /hostname?id=70"]) == [7, 70]
