"""Recorded runs of the real resolvers, replayed: no mismatch, no peeking at results, and falsehoods are found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from svcpath.errors import FormatError
from svcpath.replay.runs import judge, read_rows, replay, replay_row
from tests.replay.recordings import lines

FILES = ("grid", "special", "hickory-0.26")


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_run_replays_with_its_outcome_and_query_order(name: str) -> None:
    summary = replay(read_rows(lines(name)))
    assert not summary.mismatches, summary.mismatches[0]
    assert not summary.skipped
    assert summary.rows == summary.matches + len(summary.open)
    assert len(summary.open) < summary.rows // 40


@pytest.mark.parametrize("name", FILES)
def test_what_is_predicted_does_not_change_when_the_results_are_shuffled(name: str) -> None:
    records = [json.loads(line) for line in lines(name)]
    results = [record["result"] for record in records]
    random.Random(1).shuffle(results)
    for record, result in zip(records, results, strict=True):
        record["result"] = result
    shuffled = [json.dumps(record) for record in records]
    honest = [replay_row(row) for row, _ in read_rows(lines(name))]
    blind = [replay_row(row) for row, _ in read_rows(shuffled)]
    assert honest == blind
    assert replay(read_rows(shuffled)).mismatches


def test_a_row_without_any_result_is_replayed_all_the_same() -> None:
    record = json.loads(lines("grid")[0])
    del record["result"]
    ((row, result),) = read_rows([json.dumps(record)])
    assert result is None
    assert replay_row(row)


def _other_address(record: dict[str, Any], result: dict[str, Any]) -> None:
    result["addrs"] = ["192.0.2.99"]


def _success_to_failure(record: dict[str, Any], result: dict[str, Any]) -> None:
    result.clear()
    result.update({"ok": False, "code": -4, "err": "made up"})


def _failure_to_success(record: dict[str, Any], result: dict[str, Any]) -> None:
    result.clear()
    result.update({"ok": True, "addrs": ["192.0.2.1"]})


def _other_text(record: dict[str, Any], result: dict[str, Any]) -> None:
    result["err"] = "another text"


def _query_left_out(record: dict[str, Any], result: dict[str, Any]) -> None:
    name = record["queries"][-1][-2 if len(record["queries"][-1]) == 5 else 4]
    record["queries"] = [query for query in record["queries"] if name not in query]


def _candidates_swapped(record: dict[str, Any], result: dict[str, Any]) -> None:
    record["queries"] = record["queries"][::-1]


def _usable(record: dict[str, Any], lie: Callable[..., None]) -> bool:
    ok = bool(record["result"].get("ok"))
    names = [query[3] for query in record["queries"]]
    if lie in (_other_address, _success_to_failure):
        return ok
    if lie in (_failure_to_success, _other_text):
        return not ok
    return len(set(names)) > 1 and (lie is not _candidates_swapped or names[0] != names[-1])


LIES = (_other_address, _success_to_failure, _failure_to_success, _other_text, _query_left_out, _candidates_swapped)


@pytest.mark.parametrize("lie", LIES)
def test_a_forged_row_is_reported(lie: Callable[..., None]) -> None:
    tried = 0
    for line in random.Random(2).sample(lines("grid"), 900):
        record = json.loads(line)
        if record["probe"] == "cares-gai" and lie is _other_text:
            record["result"]["code"] = 99
        if not _usable(record, lie):
            continue
        lie(record, record["result"])
        ((row, result),) = read_rows([json.dumps(record)])
        verdict = judge(row, result)
        assert verdict.status == "mismatch", (verdict, lie)
        tried += 1
    assert tried > 100


@pytest.mark.parametrize(
    "line",
    ["[1]", "{", '{"probe": 1, "queries": 3}', '{"probe": "x", "queries": [[1]], "name": "a", "conf": ""}', "\x00"],
)
def test_a_line_that_is_no_recorded_run_is_a_format_error_with_its_line(line: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_rows(["", line]))
    assert caught.value.line == 2


def test_an_unknown_probe_is_skipped_and_said() -> None:
    record = json.loads(lines("grid")[0]) | {"probe": "bind-9"}
    summary = replay(read_rows([json.dumps(record)]))
    assert [verdict.reason for verdict in summary.skipped] == ["no model for probe bind-9"]


@pytest.mark.parametrize(
    "result", [[], [{"rc": -8}], [{"ok": False, "rc": -8}], [{"ok": False, "code": -8, "err": ""}]]
)
def test_a_process_that_died_is_recognised_however_it_was_recorded(result: list[Any]) -> None:
    record = {
        "case": "O3-attempts0",
        "conf": "nameserver 127.0.0.1\noptions attempts:0\n",
        "name": "a.",
        "probe": "musl-1.2.5",
        "args": [],
        "result": result,
        "queries": [],
    }
    ((row, recorded),) = read_rows([json.dumps(record)])
    assert judge(row, recorded).status == "match"
    assert judge(row, [{"ok": True, "addrs": ["10.0.0.1"]}]).status == "mismatch"
    assert judge(row, [{"rc": -11}]).status == "mismatch"
