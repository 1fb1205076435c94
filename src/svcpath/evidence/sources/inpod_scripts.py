"""The shell text of an exec, put together from the files in scripts/, and how its output is taken apart.

One exec carries several looks, each between marker lines with a random word, so that what a file holds can't pass for a
marker. The shell is whatever sh there is (dash, bash, BusyBox), and nothing is written or installed. Arguments of
processes are never read; of the environment only the variables that resolvers read leave the container.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from svcpath.evidence.sources.scripts import one_line, text

RESOLVER_VARIABLES = (
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "HOSTALIASES",
    "GODEBUG",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "JAVA_OPTS",
)

#: Program that a name is resolved with -> shell text; names are "$@". Each prints NAME, "ok" or a code, addresses or text.
LOOKUPS: Mapping[str, str] = {
    "python3": 'python3 -c "$PYTHON" "$@"',
    "python": 'python -c "$PYTHON" "$@"',
    "node": 'node -e "$NODE" "$@"',
    "java": 'printf \'%s\' "$JAVA" | java --source 11 /dev/stdin "$@"',
    "php": 'php -r "$PHP" -- "$@"',
    "ruby": 'ruby -e "$RUBY" -- "$@"',
    "getent": one_line("lookup_getent.sh"),
    "ping": one_line("lookup_ping.sh"),
}
#: The interpreters whose own lookup is the application's, by the name of the program.
OF_RUNTIME: Mapping[str, tuple[str, ...]] = {
    "python": ("python3", "python"),
    "node": ("node",),
    "java": ("java",),
    "php": ("php",),
    "ruby": ("ruby",),
}
ANY_LIBC = ("python3", "python", "getent", "node", "php", "ruby", "ping")

#: The programs that LOOKUPS name, by the shell variable in which they find them.
_TEXTS: Mapping[str, str] = {
    "PYTHON": text("lookup.py"),
    "NODE": one_line("lookup.js"),
    "JAVA": one_line("Lookup.java"),
    "PHP": one_line("lookup.php"),
    "RUBY": one_line("lookup.rb"),
}
_SHOW = one_line("show.sh") + "; "


class Section(msgspec.Struct, frozen=True):
    """What one look printed, its exit code (None: it was cut off)."""

    text: bytes
    code: int | None

    @property
    def good(self) -> bool:
        return self.code == 0

    @property
    def decoded(self) -> str:
        return self.text.decode("utf-8", "replace")


class Script(msgspec.Struct, frozen=True):
    """Shell text of several looks by name."""

    looks: Mapping[str, str]
    word: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, looks: Mapping[str, str], texts: Mapping[str, str] | None = None) -> Script:
        """``texts`` are programs by the name of the shell variable in which a look finds them."""
        return cls(looks, secrets.token_hex(8), {**_TEXTS, **(texts or {})})

    def command(self, *arguments: str) -> list[str]:
        """argv for an exec."""
        texts = "".join(
            f"{name}={_quoted(program)}; "
            for name, program in self.texts.items()
            if any(f'${name}"' in look for look in self.looks.values())
        )
        body = "".join(
            f"printf '\\n{self.word} + %s\\n' {name}; ( {look}\n) 2>/dev/null; printf '\\n{self.word} = %s\\n' $?; "
            for name, look in self.looks.items()
        )
        return ["sh", "-c", _SHOW + texts + body, "sh", *arguments]

    def sections(self, output: bytes) -> dict[str, Section]:
        """Every look whose beginning is in the output."""
        found: dict[str, Section] = {}
        start = b"\n" + self.word.encode() + b" + "
        end = b"\n" + self.word.encode() + b" = "
        for piece in output.split(start)[1:]:
            name, _, rest = piece.partition(b"\n")
            printed, cut, code = rest.partition(end)
            number = code.split(b"\n", 1)[0]
            found[name.decode("utf-8", "replace")] = Section(printed, int(number) if cut and number.isdigit() else None)
        return found


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def available(programs: tuple[str, ...], scripts: Mapping[str, str]) -> str:
    """Shell text that runs the first of ``programs`` that there is, after a line with its name."""
    cases = "".join(
        f"{'if' if number == 0 else 'elif'} command -v {name} >/dev/null 2>&1; then echo {name}; {scripts[name]}; "
        for number, name in enumerate(programs)
    )
    return f"{cases}else echo none; fi"


def resolving(preferred: tuple[str, ...] = ()) -> str:
    """Shell text that looks the arguments up with the first program that there is, ``preferred`` before others."""
    return available(tuple(dict.fromkeys((*preferred, *ANY_LIBC))), LOOKUPS)


def _look(name: str) -> str:
    return "\n" + text(name)


def client_look(*, lookups: bool = False) -> Script:
    """Resolver files, the resolver's variables, the processes with their libraries, the libc; ``lookups`` of its arguments."""
    kept = "|".join(RESOLVER_VARIABLES)
    return Script.of(
        {
            "resolv.conf": "show /etc/resolv.conf",
            "hosts": "show /etc/hosts",
            "nsswitch.conf": "[ -e /etc/nsswitch.conf ] || exit 3; show /etc/nsswitch.conf",
            "environment": f"env | grep -E '^({kept})='; :",
            "processes": _look("processes.sh"),
            "libc": _look("libc.sh"),
            "jvm": _look("jvm.sh"),
            **({"lookup": resolving()} if lookups else {}),
        }
    )


def sockets_look() -> Script:
    return Script.of({name: f"show /proc/net/{name}" for name in ("tcp", "tcp6", "udp", "udp6")})


def beside_look() -> Script:
    """The same from an ephemeral container: what is the target's own is reached through its first process."""
    looks = dict(client_look().looks)
    looks["nsswitch.conf"] = "[ -e /proc/1/root/etc/nsswitch.conf ] || exit 3; show /proc/1/root/etc/nsswitch.conf"
    looks["environment"] = "exit 4"
    looks["libc"] = one_line("libc_beside.sh")
    return Script.of(looks)
