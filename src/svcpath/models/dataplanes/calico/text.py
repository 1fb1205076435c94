"""A NAT dump as text: a line per frontend, and its backends indented below it or below the last of its group.

felix/cmd/calico-bpf/commands/nat.go (dumpNice, dumpNiceGrouped) of Calico 3.14 to 3.31; up to 3.20 calico-node wrote its
log into the same output.
"""

from __future__ import annotations

import re

from svcpath.models.dataplanes.calico.held import Head, NatMaps, address_of, flags_of, frontend_of, sources_of

_FRONTEND = re.compile(
    r"(\S+) port (\d+) proto (\d+) id (\d+) count (-?\d+)(?: local (\d+))?"
    r"(?: flags ([\w-]*(?:, ?[\w-]*)*))?(?: src (\S+))?\s*$"
)
_BACKEND = re.compile(r"(\d+):(\d+)\s+(.*)$")
#: ``2021-05-10 11:05:45.649 [INFO][3708] confd/maps.go 313: Loaded map file descriptor.``
_LOG = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \[[A-Z]+\]\[\d+\] ")


def read(text: str, maps: NatMaps) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped and not _LOG.match(stripped) and not _head(stripped, number, maps):
            _backend(stripped, number, maps)


def _head(line: str, number: int, maps: NatMaps) -> bool:
    found = _FRONTEND.match(line)
    if found is None:
        return False
    address, port, protocol, identity, count, local, flags, sources = found.groups()
    frontend = frontend_of(address, int(port), int(protocol))
    prefix = sources_of(sources or "")
    if frontend is None or prefix is None:
        return False
    maps.heads.append(Head(frontend, int(identity), int(count), int(local or 0), flags_of(flags or ""), prefix, number))
    return True


def _backend(line: str, number: int, maps: NatMaps) -> None:
    found = _BACKEND.match(line)
    if found is None:
        maps.not_understood(number, line)
        return
    key = int(found.group(1)), int(found.group(2))
    text = found.group(3).strip()
    if text == "is missing":
        maps.slots.setdefault(key, (None, number))
        return
    backend = address_of(text)
    if backend is None:
        maps.not_understood(number, line)
    else:
        maps.slots[key] = backend, number
