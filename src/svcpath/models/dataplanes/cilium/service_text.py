"""`cilium-dbg service list` and `bpf lb list` as text: lines that begin in the first column open a frontend."""

from __future__ import annotations

import re

from svcpath.models.dataplanes.cilium.addresses import address_of, frontend_of, name_of, slot_of
from svcpath.models.dataplanes.cilium.held import CiliumBackend, FrontendRead, Key
from svcpath.models.dataplanes.table import NotUnderstood

_TARGET = re.compile(
    r"(\d+) => (\S+?)(?:/(TCP|UDP|SCTP|ANY|NONE))?(?: \(([\w-]+)\))?( \(preferred\))?\s*$", re.IGNORECASE
)
_SERVICE_LINE = re.compile(r"(\d+)\s+(\S+)\s+(\w+)\s*(.*)$")
_LB_ENTRY = re.compile(r"(\S+?)(?:/(TCP|UDP|SCTP|ANY|NONE))? \((\d+)\) \((\d+)\)(?: \[([^\]]*)\])?.*$")
_LB_NOT_FOUND = re.compile(r"backend (\d+) not found")
_LB_HEAD = re.compile(r"(\d+) (\d+)\[(\d+)\] \((\d+)\) \[(.*)\]$")
_FLAG_KINDS = frozenset({"ClusterIP", "NodePort", "LoadBalancer", "ExternalIPs", "HostPort", "LocalRedirect"})


def read_text(text: str, frontends: dict[Key, FrontendRead], not_understood: list[NotUnderstood]) -> None:
    current: FrontendRead | None = None
    protocol = ""
    listing = ""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped:
            continue
        if stripped.startswith("SERVICE ADDRESS"):
            listing = "map"
            continue
        if stripped.startswith("ID ") and "Frontend" in stripped:
            listing = "agent"
            continue
        if listing == "agent" or (not listing and "=>" in stripped):
            current, protocol, understood = _agent_line(line, number, frontends, current, protocol)
        else:
            current, protocol, understood = _map_line(line, number, frontends, current, protocol)
        if not understood:
            place = next((str(key[0]) for key, read in frontends.items() if read is current), "")
            not_understood.append(NotUnderstood(number, stripped, place))
            if current is not None:
                current.unread.append(not_understood[-1])


def _agent_line(
    line: str, number: int, frontends: dict[Key, FrontendRead], current: FrontendRead | None, protocol: str
) -> tuple[FrontendRead | None, str, bool]:
    stripped = line.strip()
    rest = stripped
    if not line[:1].isspace():
        found = _SERVICE_LINE.match(stripped)
        key = frontend_of(found.group(2)) if found is not None else None
        if found is None or key is None:
            return None, "", False
        current = frontends.setdefault(key, FrontendRead())
        current.kind = found.group(3)
        current.lines.append(number)
        protocol, rest = key[0].protocol, found.group(4).strip()
        if not rest:
            return current, protocol, True
    target = _TARGET.match(rest)
    backend = address_of(target.group(2)) if target is not None else None
    if target is None or backend is None or current is None:
        return current, protocol, False
    state = (target.group(4) or "active").lower()
    current.targets.append(
        CiliumBackend(backend, state, int(target.group(1)), number, preferred=target.group(5) is not None)
    )
    return current, protocol, True


def _map_line(
    line: str, number: int, frontends: dict[Key, FrontendRead], current: FrontendRead | None, protocol: str
) -> tuple[FrontendRead | None, str, bool]:
    stripped = line.strip()
    value, name = stripped, ""
    if not line[:1].isspace():
        name, _, value = stripped.partition("  ")
        value = value.strip()
        key = name_of(name)
        if key is None or not value:
            return None, "", False
        current = frontends.setdefault(key, FrontendRead())
        protocol = key[0].protocol
    if current is None:
        return None, protocol, False
    return current, protocol, map_value(value, number, current, slot_of(name))


def map_value(value: str, number: int, current: FrontendRead, slot_named: int | None) -> bool:
    """``10.0.0.5:53/UDP (4) (1)``, the head ``0.0.0.0:0 (4) (0) [flags]``, a backend that is gone, and what
    ``--frontends`` has of them: ``0 2[0] (4) [flags]`` for a head, ``501 0[0] (4) [flags]`` for a slot."""
    current.lines.append(number)
    gone = _LB_NOT_FOUND.match(value)
    if gone is not None:
        current.lost.append((int(gone.group(1)), number))
        return True
    head = _LB_HEAD.match(value)
    if head is not None:
        flags = head.group(5).split(", ")
        if (slot_named or int(head.group(1))) and slot_named != 0 and "l7-load-balancer" not in flags:
            return False  # a slot names its backend by an id; the address stands in another map
        current.kind = next((flag for flag in flags if flag in _FLAG_KINDS), current.kind)
        current.count = int(head.group(2)), int(head.group(3))
        current.rev_nat = int(head.group(4))
        return True
    found = _LB_ENTRY.match(value)
    backend = address_of(found.group(1)) if found is not None else None
    if found is None or backend is None:
        return False
    current.rev_nat = int(found.group(3))
    slot = int(found.group(4))
    if slot == 0:
        flags = [flag.strip() for flag in (found.group(5) or "").split(",")]
        current.kind = next((flag for flag in flags if flag in _FLAG_KINDS), current.kind)
        return True
    current.targets.append(CiliumBackend(backend, "", slot, number))
    return True
