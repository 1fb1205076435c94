"""How long a preStop hook takes, read from its definition without running it.

A ``sleep`` action says it. An exec hook is read as the argument vector or shell script that it is (commands.py, scripts.py):
sleeps add up, programs that return at once count as nothing, and everything else has no upper bound that could be read off.
An httpGet hook is as long as its answer takes: unknown. A tcpSocket hook is not supported and fails at once (core/v1
LifecycleHandler). The kubelet expands nothing in a hook's command (v1.35 pkg/kubelet/lifecycle/handlers.go).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import LifecycleHandler
from svcpath.models.drain.commands import QUICK, SHELLS, base, command, no_time
from svcpath.models.drain.lengths import CommandStop
from svcpath.models.drain.scripts import shell


class Hook(msgspec.Struct, frozen=True):
    """A hook's length in seconds: between ``low`` and ``high`` (None: no upper bound is known).

    ``spelling`` names how it is written ("sleep action", "exec sleep", "httpGet", ...; "" without a hook).
    ``assumed`` are programs of the hook that were counted as returning at once; ``needs`` the program that the image
    must have for the hook to run at all ("" if none). ``broken`` says why it fails at once and delays nothing. ``refused``
    says what the API server does not accept about it. ``stop``: the hook itself tells the application to stop, before it
    has ended.
    """

    low: float
    high: float | None
    spelling: str = ""
    assumed: tuple[str, ...] = ()
    needs: str = ""
    broken: str = ""
    stop: CommandStop | None = None
    refused: str = ""

    @property
    def known(self) -> bool:
        return self.high is not None and self.high == self.low

    @property
    def waits(self) -> bool:
        """Whether anything may lie between the delete and the stop."""
        return self.high != 0 and not (self.stop is not None and self.stop.sure and self.stop.at == 0)


NO_HOOK = Hook(0.0, 0.0)


def hook_of(handler: LifecycleHandler | None) -> Hook:
    """The length of a preStop hook. Never raises: what is not understood has no upper bound."""
    if handler is None:
        return NO_HOOK
    if handler.sleep is not None:
        seconds = float(max(handler.sleep.seconds, 0))
        refused = f"sleeps {handler.sleep.seconds} s, which is negative" if handler.sleep.seconds < 0 else ""
        return Hook(seconds, seconds, "sleep action", refused=refused)
    if handler.exec is not None:
        return exec_hook(handler.exec.command or ())
    if handler.http_get is not None:
        return Hook(0.0, None, "httpGet")
    if handler.tcp_socket is not None:
        return Hook(0.0, 0.0, "tcpSocket", broken="is a tcpSocket, which is no lifecycle handler")
    return NO_HOOK


def exec_hook(argv: Sequence[str]) -> Hook:
    """The length of an exec hook, given as its argument vector (no shell unless it names one)."""
    if not argv:
        return NO_HOOK
    length = command(argv, shell)
    broken = _broken(argv) or (length.fault if length.high == 0 else "")
    if broken:
        return Hook(0.0, 0.0, "exec", broken=broken)
    spelling = "exec sleep" if length.low > 0 or length.high not in (0.0, None) else "exec"
    stop = length.stop
    if stop is not None and length.high is not None and stop.at >= length.high:
        stop = None  # the kubelet's own signal comes at that moment too
    return Hook(length.low, length.high, spelling, tuple(dict.fromkeys(length.assumed)), base(argv[0]), stop=stop)


def _broken(argv: Sequence[str]) -> str:
    """Why a command can't run as it is written: a whole command line as the program's name, operands no shell reads."""
    program = base(argv[0])
    words = argv[0].split()
    if len(words) > 1 and (base(words[0]) in SHELLS or base(words[0]) in QUICK or base(words[0]) == "sleep"):
        return f"names a program {argv[0]!r}, spaces and all: no shell splits it"
    if program in SHELLS and len(argv) > 3 and argv[1] == "-c" and argv[2].split() == ["sleep"]:
        return f"runs sleep without a time: {argv[3]!r} is an argument of the shell, not of sleep"
    if program in SHELLS and len(argv) == 2 and base(argv[1].split(" ")[0]) in QUICK | {"sleep"} and " " in argv[1]:
        return f"gives {argv[0]} a script file named {argv[1]!r}: without -c it is no command"
    if program == "sleep":
        wrong = no_time(argv[1:], expanded=False)
        if wrong:
            return f"runs sleep with {wrong!r}, which is no time: no shell reads the command"
    return ""
