"""How long one command takes: an argument vector, or the words of a shell's simple command after expansion.

sleep(1) in the spellings of GNU coreutils and BusyBox (several operands, fractions, the suffixes s, m, h, d, ``infinity``),
timeout(1), PowerShell's Start-Sleep, wrappers that change nothing, and programs that return at once. A sleep whose operand
is no time fails at once (both check all operands before they sleep).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from svcpath.models.drain.lengths import UNKNOWN, CommandEnd, CommandStop, Length

#: Programs that return at once; what they set off goes on by itself.
QUICK = frozenset(
    [
        ":",
        "true",
        "false",
        "test",
        "[",
        "[[",
        "echo",
        "printf",
        "touch",
        "rm",
        "mv",
        "cp",
        "mkdir",
        "ln",
        "cat",
        "date",
        "kill",
        "pkill",
        "killall",
        "set",
        "unset",
        "export",
        "cd",
        "umask",
        "sync",
        "logger",
        "chmod",
        "chown",
        "trap",
        "pgrep",
        "pidof",
        "grep",
        "which",
        "type",
        "curl",
        "wget",
        "nc",
        "nginx",
        "httpd",
        "apachectl",
        "apache2ctl",
        "caddy",
        "haproxy",
        "supervisorctl",
        "rabbitmqctl",
    ]
)
#: Programs of QUICK that only decide whether what follows ``&&`` or ``||`` runs, and those that never fail.
_TESTS = frozenset(["test", "[", "[[", "pgrep", "pidof", "grep", "which", "type"])
_SUCCEED = frozenset((":", "true", "echo", "printf", "set", "unset", "export", "umask", "sync", "trap", "date"))
SHELLS = frozenset(("sh", "bash", "ash", "dash", "ksh", "zsh"))
#: Words in front of a command that change nothing about its length.
_PREFIXES = frozenset(
    [
        "command",
        "nohup",
        "setsid",
        "builtin",
        "sudo",
        "time",
        "busybox",
        "toybox",
        "tini",
        "dumb-init",
        "catatonit",
        "--",
    ]
)
_AMOUNT = re.compile(r"\+?(\d+(?:\.\d*)?|\.\d+)([smhd]?)\Z")
#: What strtod(3) reads beyond that: exponents, hexadecimal numbers, nan.
_STRTOD = re.compile(r"\+?(?:0x[0-9a-f.]+(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)e[+-]?\d+|nan|inf(?:inity)?)[smhd]?\Z", re.I)
_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: What a shell replaces in a word.
EXPANDED = re.compile(r"[$`*?\[\]{}~]")
_STOP_SIGNALS = frozenset(("TERM", "QUIT", "INT", "15", "3", "2"))
#: Commands of servers that close their listeners.
_STOPPING = {
    "nginx": ({"quit", "stop"}, "-s"),
    "apachectl": ({"stop", "graceful-stop"}, "-k"),
    "apache2ctl": ({"stop", "graceful-stop"}, "-k"),
    "httpd": ({"stop", "graceful-stop"}, "-k"),
    "caddy": ({"stop"}, ""),
}
#: A script's length; given to what runs a shell.
Script = Callable[[Sequence[str]], Length]


def base(word: str) -> str:
    """The name of a program without its folder."""
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower() or word


def command(words: Sequence[str], shell: Script) -> Length:
    """The length of one command; ``shell`` reads the operands of a shell."""
    while words and (re.fullmatch(r"\w+=\S*", words[0]) or base(words[0]) in _PREFIXES):
        words = words[1:]
    if not words:
        return Length()
    program, operands = base(words[0]), list(words[1:])
    if program == "exec":
        found = command(operands, shell)
        return Length(found.low, found.high, found.assumed, found.status, found.stop, bool(operands), found.fault)
    if program == "env":
        return command([word for word in operands if not word.startswith("-")], shell)
    if program == "nice":
        return command(_without_options(operands, "n"), shell)
    if program == "timeout":
        return _timeout(operands, shell)
    if program == "sleep":
        return _sleep(operands)
    if program == "usleep":
        return _scaled(operands, 1e-6)
    if program in ("start-sleep", "powershell", "pwsh"):
        return _power_shell(program, operands)
    if program in SHELLS:
        return shell(operands)
    if program in QUICK:
        return _quick(program, operands)
    return Length(0.0, None, status=CommandEnd.ASSUMED, ends=None if program in (".", "source", "eval") else False)


def _quick(program: str, operands: Sequence[str]) -> Length:
    bound = _transfer_bound(program, operands)
    name = f"{program} (at most {bound:g} s)" if bound else program
    if program == "false":
        status = CommandEnd.FAILS
    elif program in _TESTS or (program in ("kill", "killall", "pkill") and "-0" in operands):
        status = CommandEnd.MAYBE
    else:
        status = CommandEnd.SUCCEEDS if program in _SUCCEED else CommandEnd.ASSUMED
    return Length(0.0, 0.0, (name,), status, _stop(program, operands))


def _stop(program: str, operands: Sequence[str]) -> CommandStop | None:
    """Whether a command tells the container's main process to stop, or another that may be it."""
    if program in _STOPPING:
        orders, option = _STOPPING[program]
        given = [
            word
            for at, word in enumerate(operands)
            if word in orders and (not option or (at and operands[at - 1] == option) or program.endswith("ctl"))
        ]
        return CommandStop(0.0, True, f"{program} {given[0]}") if given else None
    if program in ("kill", "pkill", "killall"):
        return _killed(program, operands)
    return CommandStop(0.0, False, program) if program == "supervisorctl" and "stop" in operands else None


def _killed(program: str, operands: Sequence[str]) -> CommandStop | None:
    signal = "TERM"
    targets = []
    rest = iter(operands)
    for word in rest:
        if word in ("-s", "--signal", "-n"):
            signal = next(rest, "")
        elif re.fullmatch(r"-(?:SIG)?[A-Z]+\d?|-\d+|--signal=\S+", word):
            signal = word.rpartition("=")[2].lstrip("-")
        elif not word.startswith("-"):
            targets.append(word)
    if signal.upper().removeprefix("SIG") not in _STOP_SIGNALS:
        return None
    # Process 1 is the container's own; of any other it is not known whether it takes the traffic.
    return CommandStop(0.0, program == "kill" and targets == ["1"], program) if targets else None


def _without_options(words: list[str], with_value: str) -> list[str]:
    while words and words[0].startswith("-"):
        takes = words[0][1:] in with_value
        words = words[2:] if takes else words[1:]
    return words


def _amount(word: str) -> float | None:
    """Seconds of one operand of sleep(1); None when they can't be read off."""
    if word.lower() in ("inf", "infinity"):
        return math.inf
    match = _AMOUNT.match(word)
    return float(match[1]) * _UNIT[match[2]] if match else None


def no_time(words: Sequence[str], *, expanded: bool) -> str:
    """The first operand of sleep that is no time, however it is read. ``expanded``: a shell replaces words before."""
    for word in words:
        if word == "--" or _AMOUNT.match(word) or _STRTOD.match(word) or word.lower() in ("--help", "--version"):
            continue
        if not (expanded and EXPANDED.search(word)):
            return word
    return ""


def _sleep(operands: list[str]) -> Length:
    wrong = no_time(operands, expanded=True)
    if wrong or not operands:
        fault = f"runs sleep with {wrong!r}, which is no time" if wrong else "runs sleep without a time"
        return Length(status=CommandEnd.FAILS, fault=fault)
    amounts = [_amount(word) for word in operands if word != "--"]
    if not amounts or any(amount is None for amount in amounts):
        return UNKNOWN  # a word that turns out to be no time makes it fail at once
    known = sum(amount for amount in amounts if amount is not None)
    return Length(known, known)


def _scaled(operands: list[str], scale: float) -> Length:
    if len(operands) == 1 and operands[0].isdecimal() and len(operands[0]) < 18:
        seconds = int(operands[0]) * scale
        return Length(seconds, seconds)
    return UNKNOWN


def _timeout(operands: list[str], shell: Script) -> Length:
    """timeout(1): its limit bounds whatever runs under it. That of Windows waits, and fails where it has no console."""
    windows = [operands[at + 1] for at, word in enumerate(operands[:-1]) if word.lower() == "/t"]
    if windows and windows[0].isdecimal() and len(windows[0]) < 7:
        return Length(0.0, float(windows[0]), status=CommandEnd.MAYBE)
    operands = _without_options(operands, "ks")
    limit = _amount(operands[0]) if operands else None
    if limit is None:
        return UNKNOWN
    inner = command(operands[1:], shell)
    if not limit:
        return inner
    high = limit if inner.high is None else min(inner.high, limit)
    return Length(min(inner.low, limit), high, inner.assumed, CommandEnd.MAYBE, inner.stop, fault=inner.fault)


def _power_shell(program: str, operands: list[str]) -> Length:
    text = " ".join(operands) if program != "start-sleep" else f"start-sleep {' '.join(operands)}"
    match = re.fullmatch(
        r"(?:-\w+\s+)*?['\"]?start-sleep(?:\s+-(s(?:econds)?|m(?:illiseconds)?|ms)[\s:])?\s*(\d+(?:\.\d+)?)['\"]?\s*;?",
        text.strip(),
        re.IGNORECASE,
    )
    if match is None:
        return UNKNOWN
    seconds = float(match[2]) * (0.001 if (match[1] or "s").lower().startswith("m") else 1.0)
    return Length(seconds, seconds)


def _transfer_bound(program: str, operands: Sequence[str]) -> float:
    """The limit that curl or wget was given for itself."""
    names = {"curl": ("-m", "--max-time"), "wget": ("-T", "--timeout")}.get(program, ())
    for at, word in enumerate(operands):
        for name in names:
            if word == name and at + 1 < len(operands):
                return _amount(operands[at + 1]) or 0.0
            if word.startswith(f"{name}="):
                return _amount(word.partition("=")[2]) or 0.0
    return 0.0
