"""How long a preStop hook takes, read from its definition without running it.

A ``sleep`` action says it. An exec hook is read as the argument vector or shell script that it is: sleeps in their common
spellings (GNU coreutils and BusyBox: several operands, fractions, the suffixes s, m, h, d, ``infinity``) add up, programs
that return at once count as nothing, and everything else has no upper bound that could be read off. An httpGet hook is
as long as its answer takes: unknown. A tcpSocket hook is not supported and fails at once (core/v1 LifecycleHandler).
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import LifecycleHandler


class Hook(msgspec.Struct, frozen=True):
    """A hook's length in seconds: between ``low`` and ``high`` (None: no upper bound is known).

    ``spelling`` names how it is written ("sleep action", "exec sleep", "httpGet", ...; "" without a hook).
    ``assumed`` are programs of the hook that were counted as returning at once; ``needs`` the program that the image
    must have for the hook to run at all ("" if none). ``broken`` says why it fails at once and delays nothing.
    """

    low: float
    high: float | None
    spelling: str = ""
    assumed: tuple[str, ...] = ()
    needs: str = ""
    broken: str = ""

    @property
    def known(self) -> bool:
        return self.high is not None and self.high == self.low


NO_HOOK = Hook(0.0, 0.0)

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
#: Programs of QUICK that only decide whether what follows ``&&`` or ``||`` runs.
_TESTS = frozenset(("test", "[", "[[", "false"))
_SHELLS = frozenset(("sh", "bash", "ash", "dash", "ksh", "zsh"))
#: Words in front of a command that change nothing about its length.
_PREFIXES = frozenset(
    (
        "exec",
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
    )
)
_OPENING = frozenset(("for", "while", "until", "if", "case", "select"))
_CLOSING = frozenset(("done", "fi", "esac"))
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)\Z")
_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DESCRIPTOR = re.compile(r"(?<![^\s;&|()])\d+(?=[<>])")
_LONGEST_SCRIPT = 20_000


def hook_of(handler: LifecycleHandler | None) -> Hook:
    """The length of a preStop hook. Never raises: what is not understood has no upper bound."""
    if handler is None:
        return NO_HOOK
    if handler.sleep is not None:
        seconds = float(max(handler.sleep.seconds, 0))
        return Hook(seconds, seconds, "sleep action")
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
    broken = _broken(argv)
    if broken:
        return Hook(0.0, 0.0, "exec", needs="", broken=broken)
    length = _command(list(argv))
    spelling = "exec sleep" if length.low > 0 or length.high not in (0.0, None) else "exec"
    return Hook(length.low, length.high, spelling, tuple(dict.fromkeys(length.assumed)), _base(argv[0]))


def _broken(argv: Sequence[str]) -> str:
    """Why a command can't run as it is written: a whole command line as the program's name, a sleep without a time."""
    words = argv[0].split()
    if len(words) > 1 and (_base(words[0]) in _SHELLS or _base(words[0]) in QUICK or _base(words[0]) == "sleep"):
        return f"names a program {argv[0]!r}, spaces and all: no shell splits it"
    if _base(argv[0]) in _SHELLS and len(argv) > 3 and argv[1] == "-c" and argv[2].split() == ["sleep"]:
        return f"runs sleep without a time: {argv[3]!r} is an argument of the shell, not of sleep"
    return "runs sleep without a time" if _base(argv[0]) == "sleep" and len(argv) == 1 else ""


class _Length(msgspec.Struct, frozen=True):
    low: float = 0.0
    high: float | None = 0.0
    assumed: tuple[str, ...] = ()
    test: bool = False

    def then(self, other: _Length) -> _Length:
        high = None if self.high is None or other.high is None else self.high + other.high
        return _Length(self.low + other.low, high, self.assumed + other.assumed, other.test)

    def beside(self, other: _Length) -> _Length:
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return _Length(max(self.low, other.low), high, self.assumed + other.assumed)

    def perhaps(self) -> _Length:
        return _Length(0.0, self.high, self.assumed)


_UNKNOWN = _Length(0.0, None)


def _base(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower() or word


def _command(words: list[str]) -> _Length:
    """One command: words after expansion by the shell, or an argument vector."""
    while words and (re.fullmatch(r"\w+=\S*", words[0]) or _base(words[0]) in _PREFIXES):
        words = words[1:]
    if not words:
        return _Length()
    program, operands = _base(words[0]), words[1:]
    if program == "env":
        return _command([word for word in operands if not word.startswith("-")])
    if program == "nice":
        return _command(_without_options(operands, "n"))
    if program == "timeout":
        return _timeout(operands)
    if program == "sleep":
        return _sleep(operands)
    if program == "usleep":
        return _scaled(operands, 1e-6)
    if program in ("start-sleep", "powershell", "pwsh"):
        return _power_shell(program, operands)
    if program in _SHELLS:
        return _shell(operands)
    if program in QUICK:
        bound = _transfer_bound(program, operands)
        return _Length(0.0, 0.0, (f"{program} (at most {bound:g} s)" if bound else program,), program in _TESTS)
    return _UNKNOWN


def _without_options(words: list[str], with_value: str) -> list[str]:
    while words and words[0].startswith("-"):
        takes = words[0][1:] in with_value
        words = words[2:] if takes else words[1:]
    return words


def _amount(word: str) -> float | None:
    """Seconds of one operand of sleep(1); None when it is no number (a variable)."""
    if word.lower() in ("inf", "infinity"):
        return math.inf
    match = _AMOUNT.match(word)
    return float(match[1]) * _UNIT[match[2]] if match else None


def _sleep(operands: list[str]) -> _Length:
    amounts = [_amount(word) for word in operands if word != "--"]
    known = sum(amount for amount in amounts if amount is not None)
    if not amounts or any(amount is None for amount in amounts):
        return _Length(0.0 if math.isinf(known) else known, None)
    if math.isinf(known):
        return _Length(math.inf, math.inf)
    return _Length(known, known)


def _scaled(operands: list[str], scale: float) -> _Length:
    if len(operands) == 1 and operands[0].isdecimal() and len(operands[0]) < 18:
        seconds = int(operands[0]) * scale
        return _Length(seconds, seconds)
    return _UNKNOWN


def _timeout(operands: list[str]) -> _Length:
    """timeout(1): its limit bounds whatever runs under it."""
    operands = _without_options(operands, "ks")
    limit = _amount(operands[0]) if operands else None
    if limit is None:
        return _UNKNOWN
    inner = _command(operands[1:])
    if not limit:
        return inner
    return _Length(min(inner.low, limit), limit if inner.high is None else min(inner.high, limit), inner.assumed)


def _power_shell(program: str, operands: list[str]) -> _Length:
    text = " ".join(operands) if program != "start-sleep" else f"start-sleep {' '.join(operands)}"
    match = re.fullmatch(
        r"(?:-\w+\s+)*?['\"]?start-sleep(?:\s+-s(?:econds)?)?\s+(\d+(?:\.\d+)?)['\"]?\s*;?", text.strip(), re.IGNORECASE
    )
    return _Length(float(match[1]), float(match[1])) if match else _UNKNOWN


def _transfer_bound(program: str, operands: list[str]) -> float:
    """The limit that curl or wget was given for itself."""
    names = {"curl": ("-m", "--max-time"), "wget": ("-T", "--timeout")}.get(program, ())
    for at, word in enumerate(operands):
        for name in names:
            if word == name and at + 1 < len(operands):
                return _amount(operands[at + 1]) or 0.0
            if word.startswith(f"{name}="):
                return _amount(word.partition("=")[2]) or 0.0
    return 0.0


def _shell(operands: list[str]) -> _Length:
    """sh -c SCRIPT with options in any order; a script file can't be read."""
    command = False
    for word in operands:
        if word.startswith(("-", "+")) and not (command and not word[1:].isalpha()):
            command = command or (not word.startswith("--") and "c" in word[1:])
        elif command:
            return script(word)
        elif word not in ("errexit", "pipefail", "nounset"):
            return _UNKNOWN
    return _UNKNOWN


def script(text: str) -> _Length:
    """The length of a shell script, as far as it can be read off."""
    if len(text) > _LONGEST_SCRIPT:
        return _UNKNOWN
    words = _words(text)
    return _UNKNOWN if words is None else _list(words)


def _words(text: str) -> list[str] | None:
    """Words and operators; operators are marked by a leading NUL. None when the quoting is broken."""
    # A number that touches a redirection is a file descriptor; one that does not ("sleep 10 >log") is a word.
    text = _DESCRIPTOR.sub("", text.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = "#"
    found: list[str] = []
    try:
        for token in lexer:
            if token and all(one in ";&|()<>\n" for one in token):
                found.extend(f"\0{part}" for part in re.findall(r"&&|\|\||;;|\|&|&>>?|<<<|<<-?|[<>]&|>>|.|\n", token))
            elif token in ("{", "}"):
                found.append(f"\0{token}")
            else:
                found.append(token)
    except ValueError:
        return None
    return found


def _list(words: list[str]) -> _Length:
    """A list of pipelines. Loops and conditionals are not evaluated: their length is unknown."""
    total = _Length()
    current: list[str] = []
    pipeline: _Length | None = None
    joined = ";"
    skip_next = False
    nested = 0

    def close(operator: str) -> None:
        nonlocal total, current, pipeline, joined, nested
        if current:
            nested += current[0] in _OPENING
            length = _UNKNOWN if nested else _simple(current)
            nested = max(0, nested - (current[0] in _CLOSING))
            pipeline = length if pipeline is None else pipeline.beside(length)
        current = []
        if operator in ("|", "|&"):
            return
        if pipeline is not None:
            total = _join(total, pipeline, joined, background=operator == "&")
            joined = operator
        elif operator in ("&&", "||"):
            joined = operator
        pipeline = None

    for word in [*words, "\0;"]:
        if skip_next and not word.startswith("\0"):
            skip_next = False
            continue
        if not word.startswith("\0"):
            current.append(word)
            continue
        operator = word[1:]
        if operator[:1] in "<>" or operator.startswith("&>"):
            skip_next = True
            continue
        close(operator)
    return total


def _join(total: _Length, length: _Length, joined: str, *, background: bool) -> _Length:
    if background:
        return total.then(_Length(0.0, 0.0, length.assumed))
    if joined == "&&" and total.test:
        return total.then(length.perhaps())
    if joined == "||":
        # The right side runs only if the left fails; a test may well fail, a command is taken to succeed.
        return total.then(length.perhaps()) if total.test else total
    return total.then(length)


def _simple(words: list[str]) -> _Length:
    if words[0] == "!":
        return _simple(words[1:]) if words[1:] else _Length()
    if words[0] in ("exit", "return"):
        return _Length()
    return _command(words)
