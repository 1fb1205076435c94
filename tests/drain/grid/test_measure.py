"""A cell is judged from logs, statuses and a client's rows; the end of a process from the most exact of what saw it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from svcpath.drain.grid.cells import CELLS, GridCell
from svcpath.drain.grid.compare import compare, record
from svcpath.drain.grid.measure import End, Measured, _End, _ends, _judge, _Run
from svcpath.drain.scripts import drain_server, grid_client

ZERO = 1000.0


def _cell(name: str) -> GridCell:
    return next(cell for cell in CELLS if cell.name == name)


def _run(name: str) -> _Run:
    return _Run(_cell(name), "pod", "10.0.0.1", ZERO, ZERO)


def _held(end: float | None) -> dict[str, Any]:
    return {"kind": "held", "start": ZERO - 1, "end": end, "outcome": "ok" if end else "timeout"}


def _measured(*ends: End, signal: float | None = None) -> Measured:
    return Measured(refused=False, cut=False, killed=False, signal=signal, ends=ends, tried=1, requests=1, codes=())


def test_the_measured_side_knows_nothing_of_the_model() -> None:
    code = (
        "import sys, svcpath.drain.grid.measure; "
        "print([one for one in sys.modules if one.startswith(('svcpath.models', 'svcpath.drain.grid.compare'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_held_connection_tells_the_end_before_the_log_and_that_before_the_status() -> None:
    status = _End({"app": 0, "proxy": 0}, {"app": ZERO + 6, "proxy": ZERO + 6})
    log = [f"app {ZERO + 6.3} end", f"proxy {ZERO + 6.4} end", f"app {ZERO + 6} signal SIGTERM"]
    run = _run("sidecar-holds")
    assert list(_ends(run, [_held(ZERO + 6.31)], log, status)) == [
        End("app", 6.31, 0.0, "connection"),
        End("proxy", 6.4, 0.0, "log"),
    ]
    assert next(iter(_ends(run, [_held(None)], log, status))) == End("app", 6.3, 0.0, "log")
    assert list(_ends(run, [], [], status)) == [End("app", 6.0, 1.0, "status"), End("proxy", 6.0, 1.0, "status")]
    assert list(_ends(run, [], [], _End({}, {}))) == []


def test_a_cell_is_judged_by_what_came_after_the_delete() -> None:
    rows = [
        {"kind": "new", "start": ZERO - 0.5, "outcome": "refused", "connected": None},
        {"kind": "new", "start": ZERO + 0.5, "outcome": "ok", "connected": ZERO + 0.6},
        {"kind": "request", "start": ZERO, "outcome": "reset", "connected": ZERO + 0.1, "port": 5},
        _held(ZERO + 9),
    ]
    log = [f"app {ZERO + 6} signal SIGTERM", f"app {ZERO} accepted 10.0.0.9 4 /slow"]
    found = _judge(_run("exit-holds"), rows, log, _End({"app": 137}, {"app": ZERO + 8}))
    assert (found.refused, found.cut, found.killed, found.signal) == (False, False, True, 6.0)
    assert found.ends == (End("app", 9.0, 0.0, "connection"),)
    heard = [*log, f"app {ZERO} accepted 10.0.0.9 5 /slow"]
    assert _judge(_run("exit-holds"), rows, heard, _End({}, {})).cut


@pytest.mark.parametrize(
    ("cell", "ends"),
    [
        ("exit-holds", {"app": 6}),
        ("finish-holds", {"app": 8}),
        ("finish-no-hook", {"app": 3}),
        ("finish-long", {"app": 10}),
        ("finish-slow-end", {"app": 9}),
        ("ignore-cut", {"app": 10}),
        ("none-no-hook", {"app": 8}),
        ("edge-minus-1", {"app": 12}),
        ("beyond", {"app": 7}),
        ("second-container", {"app": 8, "proxy": 0}),
        ("sidecar-holds", {"app": 7, "proxy": 7}),
    ],
)
def test_the_model_says_when_each_container_ends(cell: str, ends: dict[str, float]) -> None:
    row = compare(_cell(cell), _measured(), "image")
    assert row.ends == ends
    assert row.ends_agree is None


def test_an_end_agrees_within_a_second_of_some_moment_it_may_have_been_at() -> None:
    def agree(*ends: End) -> bool | None:
        return compare(_cell("exit-holds"), _measured(*ends, signal=6.0), "image").ends_agree

    assert agree(End("app", 6.9, 0.0, "log"))
    assert not agree(End("app", 7.1, 0.0, "log"))
    assert not agree(End("app", 4.9, 0.0, "log"))
    assert agree(End("app", 4.1, 1.0, "status"))
    assert not agree(End("app", 3.9, 1.0, "status"))
    assert not agree(End("app", 7.1, 1.0, "status"))
    made = record(compare(_cell("exit-holds"), _measured(End("app", 7.1, 0.0, "log"), signal=6.0), "image"))
    assert made.agrees
    assert made.time_agrees
    assert not made.right


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_client_sees_the_end_of_a_process_that_says_nothing(how: signal.Signals) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        subprocess.Popen(
            [sys.executable, "-u", drain_server.__file__], env={"PORT": str(port), "ON_STOP": "exit"},
            stdout=subprocess.PIPE, text=True,
        ) as server,
        subprocess.Popen(
            [sys.executable, "-u", grid_client.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as client,
    ):  # fmt: skip
        assert server.stdout is not None
        assert "ready" in server.stdout.readline()
        task = {"cell": "x", "host": "127.0.0.1", "port": port, "held": port, "at": time.time() + 1.0}
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write(json.dumps({**task, "drained": 0.5, "longest": 0.1, "until": time.time() + 20}) + "\n")
        client.stdin.close()
        while " accepted " not in server.stdout.readline():
            pass
        time.sleep(0.3)
        before = time.time()
        server.send_signal(how)
        server.wait()
        after = time.time()
        rows = [json.loads(line) for line in client.stdout]
        server.stdout.close()
    (kept,) = [row for row in rows if row["kind"] == "held"]
    assert before <= kept["end"] <= after + 5
    assert {row["kind"] for row in rows} == {"new", "request", "held", "end"}
