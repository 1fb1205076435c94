"""Lines of a lookup script (inpod_scripts.LOOKUPS) read as Lookups: whose resolver answered, and what."""

from __future__ import annotations

import re
import shlex

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.dns import Lookup

#: What lookups of one exec may take together: a resolver that gets no answer waits long.
SECONDS = 40.0


def label(program: str, rows: str, only: str) -> str:
    """Whose resolver answered: the libc that the program itself names, else the container's only one."""
    if program == "java":
        return "jvm"
    match = re.search(r"(?m)^libc\t(?:glibc (\d+\.\d+)|unknown)", rows)
    if match and match.group(1):
        return f"glibc-{match.group(1)}"
    return only or program


def lookup(row: str, label: str, at: str) -> Lookup | None:
    words = row.split("\t")
    if len(words) < 3 or words[0] == "libc":
        return None
    name, code, rest = words[0], words[1], words[2]
    if code == "ok":
        addresses = tuple(
            dict.fromkeys(address for word in rest.split() if (address := address_of(word.split("%")[0])))
        )
        if addresses:
            return Lookup(resolver=label, name=name, addresses=addresses, at=at)
        return Lookup(resolver=label, name=name, error=f"no address in {rest[:100]!r}", at=at)
    return Lookup(resolver=label, name=name, code=code, error=rest[:200], at=at)


def command(program: str, name: str) -> str:
    quoted = shlex.quote(name)
    if program.startswith("python"):
        return f"{program} -c {shlex.quote(f'import socket; print(socket.getaddrinfo({name!r}, None))')}"
    if program == "ping":
        return f"ping -c 1 {quoted}"
    return f"getent ahosts {quoted}" if program == "getent" else f"{program}  # resolves {quoted}"
