"""The experiment's rows, judged from raw logs of real runs, and from the same logs with one thing made otherwise."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from svcpath_lab.experiment.log import Entry, RawLog, read
from svcpath_lab.experiment.statements import FAILS, HOLDS, NOT_SEEN, StatementRow, judge

DATA = Path(__file__).parents[1] / "data" / "lab"
RUNS = sorted(path.name for path in DATA.glob("reference-*.jsonl.gz"))


def _log(name: str) -> list[Entry]:
    text = gzip.decompress((DATA / name).read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def _row(entries: list[Entry], name: str) -> StatementRow:
    return next(row for row in judge(entries) if row.name.startswith(name))


@pytest.mark.parametrize("name", RUNS)
def test_every_statement_holds_in_a_recorded_run(name: str) -> None:
    rows = judge(_log(name))
    assert [row for row in rows if row.outcome != HOLDS] == []
    names = [row.name for row in rows]
    assert names[-10:] == [
        "headless Service",
        "control empty-service",
        "control wrong-port",
        "conditions",
        "new connections",
        "slow request",
        "preStop",
        "rollout",
        "endpoint removal",
        "convergence",
    ]
    assert any("musl" in name for name in names)
    assert any("glibc" in name for name in names)


def test_both_modes_and_both_changes_were_recorded() -> None:
    assert [name.removesuffix(".jsonl.gz") for name in RUNS] == [
        f"reference-{mode}-{change}" for mode in ("iptables", "nftables") for change in ("delete", "restart")
    ]


def _changed(change: Callable[[list[Entry]], None]) -> list[Entry]:
    entries = copy.deepcopy(_log(RUNS[0]))
    change(entries)
    return entries


def _target(entries: list[Entry]) -> Entry:
    return next(entry for entry in entries if entry["what"] == "target")


def _lookup_fails(entries: list[Entry]) -> None:
    next(entry for entry in entries if entry["what"] == "lookup")["answer"] = "-5 Name has no usable address"


def _wrong_port_answers(entries: list[Entry]) -> None:
    for entry in entries:
        if entry["what"] == "request" and entry["label"] == "wrong-port":
            entry.update(status=200, exit=0, body="x")


def _one_to_the_old_pod(entries: list[Entry]) -> None:
    [entry for entry in entries if entry["what"] == "request" and entry["label"] == "after"][3]["body"] = _target(
        entries
    )["pod"]


def _never_pinned(entries: list[Entry]) -> None:
    for entry in entries:
        if entry["what"] == "request" and entry["label"] == "pin":
            entry["body"] = "another"


def _slow_cut(entries: list[Entry]) -> None:
    for entry in entries:
        if entry["what"] == "slow-finished":
            entry.update(status=0, exit=56, body="ConnectionResetError")


def _no_signal_seen(entries: list[Entry]) -> None:
    entries[:] = [entry for entry in entries if entry["what"] != "pod-log"]


def _serving_false(entries: list[Entry]) -> None:
    for entry in entries:
        if entry["what"] == "watch" and entry["resource"] == "endpointslices":
            for endpoint in entry["object"].get("endpoints") or ():
                if endpoint["conditions"].get("terminating"):
                    endpoint["conditions"]["serving"] = False


def _old_pod_gone_at_success(entries: list[Entry]) -> None:
    next(entry for entry in entries if entry["what"] == "rollout-status")["terminating"] = []


def _stale_table(entries: list[Entry]) -> None:
    table = next(entry for entry in entries if entry["what"] == "table")
    table["text"] += f"\n-A KUBE-SEP-X -p tcp -j DNAT --to-destination {_target(entries)['ips'][0]}:8080\n"


def _nothing_watched(entries: list[Entry]) -> None:
    entries[:] = [entry for entry in entries if entry["what"] != "watch"]


def _removed_too_early(entries: list[Entry]) -> None:
    """The Pod's end is received three seconds later than it was."""
    pod = _target(entries)["pod"]
    for entry in entries:
        if entry["what"] == "watch" and entry["resource"] == "pods" and entry["object"]["metadata"]["name"] == pod:
            ended = entry["type"] == "DELETED" or entry["object"]["status"]["phase"] in ("Succeeded", "Failed")
            entry["at"] += 3.0 if ended else 0.0


@pytest.mark.parametrize(
    ("change", "row", "outcome"),
    [
        (_lookup_fails, "resolution", FAILS),
        (_wrong_port_answers, "control wrong-port", FAILS),
        (_one_to_the_old_pod, "new connections", FAILS),
        (_never_pinned, "new connections", FAILS),
        (_slow_cut, "slow request", FAILS),
        (_serving_false, "conditions", FAILS),
        (_old_pod_gone_at_success, "rollout", FAILS),
        (_stale_table, "convergence", FAILS),
        (_removed_too_early, "endpoint removal", FAILS),
        (_no_signal_seen, "preStop", NOT_SEEN),
        (_nothing_watched, "conditions", NOT_SEEN),
        (_nothing_watched, "endpoint removal", NOT_SEEN),
        (_nothing_watched, "slow request", NOT_SEEN),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_was_otherwise_flips_its_row(change: Callable[[list[Entry]], None], row: str, outcome: str) -> None:
    assert _row(_changed(change), row).outcome == outcome


def test_a_neighbours_address_that_begins_alike_is_not_the_old_pods() -> None:
    def neighbour(entries: list[Entry]) -> None:
        table = next(entry for entry in entries if entry["what"] == "table")
        table["text"] += f"\n-A KUBE-SEP-X -j DNAT --to-destination {_target(entries)['ips'][0]}9:8080\n"

    assert _row(_changed(neighbour), "convergence").outcome == HOLDS


def test_an_empty_log_holds_nothing() -> None:
    assert {row.outcome for row in judge([])} == {NOT_SEEN}


def test_what_was_added_to_a_log_is_on_disk_at_once_and_reads_back(tmp_path: Path) -> None:
    log = RawLog(tmp_path / "folder" / "log.jsonl")
    log.add("run", change="delete")
    entry = log.add("end")
    assert read(log.path) == log.entries
    assert entry["what"] == "end"
    log.close()
    log.add("late")
    assert len(read(log.path)) == 2
