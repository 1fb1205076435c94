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
    "argv", [["sleep 10"], ["/bin/sh -c 'sleep 10'"], ["sh", "-c", "sleep", "10"], ["sleep"]], ids=shlex.join
)
def test_a_command_that_can_not_run_as_written_delays_nothing_and_says_why(argv: list[str]) -> None:
    hook = exec_hook(argv)
    assert (hook.low, hook.high) == (0, 0)
    assert hook.broken


@pytest.mark.parametrize(
    "argv", [["/opt/my app/drain"], ["sh", "-c", "sleep 10", "sleep"], ["sleep", "10"]], ids=shlex.join
)
def test_a_command_that_may_run_is_not_called_broken(argv: list[str]) -> None:
    assert not exec_hook(argv).broken


def test_the_other_handlers() -> None:
    assert hook_of(LifecycleHandler(sleep=SleepAction(seconds=12))).low == 12
    assert hook_of(LifecycleHandler(http_get=HTTPGetAction(path="/drain"))).high is None
    assert hook_of(LifecycleHandler(tcp_socket=TCPSocketAction(port=1))).high == 0
    assert hook_of(LifecycleHandler()).spelling == ""
    assert hook_of(None).known


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
