"""The length of preStop hooks is read off in their common spellings, and nothing else is guessed."""

from __future__ import annotations

import math
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.facts.kubernetes import (
    ExecAction,
    HTTPGetAction,
    LifecycleHandler,
    SleepAction,
    TCPSocketAction,
)
from svcpath.models.drain.hooks import exec_hook, hook_of

KNOWN: list[tuple[list[str], float]] = [
    (["sleep", "10"], 10),
    (["/bin/sleep", "10"], 10),
    (["/usr/bin/env", "sleep", "5"], 5),
    (["busybox", "sleep", "4"], 4),
    (["sleep", "1m"], 60),
    (["sleep", "0.5"], 0.5),
    (["sleep", "1m", "30s"], 90),
    (["sleep", "infinity"], math.inf),
    (["sh", "-c", "sleep 10"], 10),
    (["/bin/sh", "-ec", "exec sleep 10"], 10),
    (["bash", "-lc", "sleep 5\nsleep 5"], 10),
    (["/bin/sh", "-c", "sleep 45 && nginx -s quit"], 45),
    (["/bin/sh", "-c", "nginx -s quit; sleep 20"], 20),
    (["/bin/sh", "-c", "curl -s -XPOST localhost:9901/drain_listeners; sleep 45"], 45),
    (["sh", "-c", "wget -qO- http://127.0.0.1/drain || true; sleep 20"], 20),
    (["sh", "-c", "echo hi > /dev/null 2>&1; sleep 7 # then done"], 7),
    (["sh", "-c", 'echo "a; sleep 5"; sleep 2'], 2),
    (["sh", "-c", "(sleep 3); { sleep 4; }"], 7),
    (["sh", "-c", "sleep 10 | cat"], 10),
    (["sh", "-c", "sleep 10 &"], 0),
    (["sh", "-c", "sleep 15; exit 0"], 15),
    (["powershell", "-Command", "Start-Sleep -Seconds 15"], 15),
    (["sh", "-c", "sleep 10 >/dev/null 2>&1"], 10),
    (["sh", "-c", "sleep 10 > /tmp/drained"], 10),
    (["sh", "-c", "echo done 2>/dev/null; sleep 3"], 3),
    (["dumb-init", "--", "sleep", "6"], 6),
    (["nginx", "-s", "quit"], 0),
    (["sh", "-c", "sleep 5; exit 0; sleep 100"], 5),
    (["sh", "-c", "exec sleep 10; sleep 40"], 10),
    (["sh", "-c", "{ sleep 1; exit 0; }; sleep 50"], 1),
    (["sh", "-c", "(exit 0); sleep 5"], 5),
    (["sh", "-c", "(sleep 20; kill 1) &"], 0),
    (["sh", "-c", "{ sleep 20; kill 1; } & sleep 2"], 2),
    (["sh", "-c", "cat <<EOF\nsleep 100\nEOF\nsleep 3"], 3),
    (["sh", "-c", "false || sleep 7"], 7),
    (["sh", "-c", "sleep 5 || sleep 50"], 5),
    (["sh", "-c", "! true && sleep 9; sleep 2"], 2),
    (["sh", "-c", 'sleep "7" # drain'], 7),
    (["powershell", "-Command", "Start-Sleep -Milliseconds 1500"], 1.5),
    (["timeout", "20", "sleep", "60"], 20),
    (["sh", "-c", "sleep 5 && kill -SIGTERM $(pidof vault)"], 5),
    (["sh", "-c", "kill -QUIT $(cat /run/nginx.pid) 2>/dev/null; sleep 9"], 9),
    (["sh", "-c", "echo $(sleep 4) done; sleep 1"], 5),
    ([], 0),
]
UNKNOWN: list[tuple[list[str], float, float | None]] = [
    (["python", "-c", "import time; time.sleep(10)"], 0, None),
    (["/drain.sh"], 0, None),
    (["sh", "/drain.sh"], 0, None),
    (["sh", "-c", "sleep $DELAY"], 0, None),
    (["sh", "-c", "sleep ${DELAY:-5}"], 0, None),
    (["sh", "-c", "while [ -f /x ]; do a; sleep 1; done"], 0, None),
    (["sh", "-c", "sleep 10; while killall -0 nginx; do sleep 1; done"], 10, None),
    (["sh", "-c", "if true; then a; sleep 5; fi; sleep 2"], 2, None),
    (["sh", "-c", "/usr/local/bin/drain && sleep 5"], 5, None),
    (["sh", "-c", "[ -f /x ] && sleep 10"], 0, 10),
    (["timeout", "30", "/drain.sh"], 0, 30),
    (["sh", "-c", "sleep 'x"], 0, None),
    (["sh", "-c", "test -f /tmp/x && exit 0; sleep 40"], 0, 40),
    (["sh", "-c", "pgrep nginx || exit 0; sleep 40"], 0, 40),
    (["sh", "-c", "if [ -f /x ]; then exit 0; fi; sleep 40"], 0, None),
    (["sh", "-c", "case $x in a) sleep 5;; *) exit 0;; esac; sleep 40"], 0, None),
    (["sh", "-c", "set -e; sleep 5; grep x y; sleep 60"], 5, 65),
    (["sh", "-ec", "pgrep nginx; sleep 60"], 0, 60),
    (["sh", "-c", "drain() { sleep 40; }; echo hi"], 0, None),
    (["sh", "-c", "sleep $((5+5))"], 0, None),
    (["sh", "-c", "sleep $(cat /etc/drain)"], 0, None),
    (["sh", "-c", "sleep $(sleep 3"], 0, None),
    (["sh", "-c", ". /etc/drain.env; sleep 40"], 0, None),
    (["timeout.exe", "/t", "15", "/nobreak"], 0, 15),
    (["sh", "-c"], 0, None),
]


@pytest.mark.parametrize(
    ("argv", "seconds"), KNOWN, ids=lambda value: shlex.join(value) if isinstance(value, list) else ""
)
def test_a_common_spelling_has_a_known_length(argv: list[str], seconds: float) -> None:
    hook = exec_hook(argv)
    assert (hook.low, hook.high) == (seconds, seconds)


@pytest.mark.parametrize(
    ("argv", "low", "high"), UNKNOWN, ids=lambda value: shlex.join(value) if isinstance(value, list) else ""
)
def test_what_can_not_be_read_off_stays_a_range(argv: list[str], low: float, high: float | None) -> None:
    hook = exec_hook(argv)
    assert (hook.low, hook.high) == (low, high)


@pytest.mark.parametrize(
    "argv",
    [
        ["sleep 10"],
        ["/bin/sh -c 'sleep 10'"],
        ["sh", "-c", "sleep", "10"],
        ["sleep"],
        ["sleep", "10", "&&", "nginx", "-s", "quit"],
        ["sleep", "10sec"],
        ["sleep", "$(DELAY)"],
        ["/bin/sh", "sleep 10"],
        ["sh", "-c", "sleep 1h30m; true"],
    ],
    ids=shlex.join,
)
def test_a_command_that_can_not_run_as_written_delays_nothing_and_says_why(argv: list[str]) -> None:
    hook = exec_hook(argv)
    assert (hook.low, hook.high) == (0, 0)
    assert hook.broken


@pytest.mark.parametrize(
    "argv",
    [
        ["/opt/my app/drain"],
        ["sh", "-c", "sleep 10", "sleep"],
        ["sleep", "10"],
        ["sleep", "1e1"],
        ["sleep", "0x10"],
        ["sh", "-c", "sleep $DELAY"],
        ["sh", "/opt/drain.sh"],
    ],
    ids=shlex.join,
)
def test_a_command_that_may_run_is_not_called_broken(argv: list[str]) -> None:
    assert not exec_hook(argv).broken


def test_the_other_handlers() -> None:
    assert hook_of(LifecycleHandler(sleep=SleepAction(seconds=12))).low == 12
    assert hook_of(LifecycleHandler(http_get=HTTPGetAction(path="/drain"))).high is None
    assert hook_of(LifecycleHandler(tcp_socket=TCPSocketAction(port=1))).high == 0
    assert hook_of(LifecycleHandler()).spelling == ""
    assert hook_of(None).known


@pytest.mark.parametrize(
    ("script", "at", "sure"),
    [
        ("nginx -s quit; sleep 20", 0, True),
        ("kill -TERM 1 && sleep 20", 0, True),
        ("sleep 10; kill -s QUIT 1; sleep 5", 10, True),
        ("httpd -k graceful-stop; sleep 9", 0, True),
        ("nginx -s quit; while pgrep -x nginx; do sleep 1; done", 0, True),
        ("pkill -TERM gunicorn; sleep 9", 0, False),
        ("kill -QUIT $(cat /run/nginx.pid); sleep 9", 0, False),
        ("[ -f /run/x ] && kill 1; sleep 9", 0, False),
    ],
)
def test_a_hook_that_tells_the_application_to_stop_before_it_waits_says_when(
    script: str, at: float, sure: bool
) -> None:
    stop = exec_hook(["sh", "-c", script]).stop
    assert stop is not None
    assert (stop.at, stop.sure) == (at, sure)


@pytest.mark.parametrize(
    "script",
    ["sleep 15 && nginx -s quit", "kill -0 1; sleep 9", "nginx -s reload; sleep 9", "kill -HUP 1; sleep 9", "sleep 9"],
)
def test_a_hook_that_waits_first_or_stops_nothing_leaves_the_stop_to_the_kubelet(script: str) -> None:
    assert exec_hook(["sh", "-c", script]).stop is None


def test_programs_counted_as_nothing_are_named() -> None:
    assert exec_hook(["sh", "-c", "curl -m 5 localhost/drain; sleep 1"]).assumed == ("curl (at most 5 s)",)


@given(st.lists(st.text(max_size=40), max_size=6))
def test_no_command_breaks_the_reader(argv: list[str]) -> None:
    hook = hook_of(LifecycleHandler(exec=ExecAction(command=tuple(argv))))
    assert hook.low >= 0
    assert hook.high is None or hook.high >= hook.low


@given(st.text(alphabet="sleep 10;&|()<>{}'\"\\\n$`#", max_size=60))
def test_no_script_breaks_the_reader(script: str) -> None:
    hook = exec_hook(["sh", "-c", script])
    assert hook.high is None or hook.high >= hook.low >= 0
