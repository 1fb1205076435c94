"""Cilium: service list, bpf lb list (also --frontends and --backends) and bpf ct list, text and JSON.

Formats: cilium-dbg/cmd/{service_list,bpf_lb_list,bpf_ct_list}.go and pkg/maps/{lbmap,ctmap} of Cilium 1.12 to 1.18.
Slot 0 of a service is its head; a backend in state ``terminating`` gets no new connection while an active one exists;
a frontend with scope ``/i`` answers inside the cluster where the external traffic policy is Local.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ruleset import address_value, canonical
from svcpath.models.dataplanes.table import (
    Backend,
    Dialect,
    Entry,
    Frontend,
    NotUnderstood,
    Origin,
    Outcome,
    ServiceTable,
    Share,
    Verdict,
)

_TARGET = re.compile(r"(\d+) => (\S+?)(?:/(TCP|UDP|SCTP|ANY|NONE))?(?: \(([\w-]+)\))?\s*$", re.IGNORECASE)
_SERVICE_LINE = re.compile(r"(\d+)\s+(\S+)\s+(\w+)\s*(.*)$")
_LB_ENTRY = re.compile(r"(\S+?)(?:/(TCP|UDP|SCTP|ANY|NONE))? \((\d+)\) \((\d+)\)(?: \[([^\]]*)\])?.*$")
_LB_NOT_FOUND = re.compile(r"backend (\d+) not found")
_LB_HEAD = re.compile(r"(\d+) (\d+)\[(\d+)\] \((\d+)\) \[(.*)\]$")
_SLOT = re.compile(r"^(\S+) \((\d+)\)$")
_BACKEND = re.compile(r"(\d+)\s+(?:(\w+)://)?(\S+?)(?:/(TCP|UDP|SCTP|ANY))?(?:\s.*)?$", re.IGNORECASE)
_SCOPES = {"i": "internal", "e": "external"}
_FLAG_KINDS = frozenset({"ClusterIP", "NodePort", "LoadBalancer", "ExternalIPs", "HostPort", "LocalRedirect"})


class Target(NamedTuple):
    """A backend as the agent or the map lists it; ``id`` "" where not told."""

    backend: Backend
    state: str
    slot: int
    line: int
    id: str = ""


class CtEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the connection tracking map; ``backend_id`` 0 for one that names no backend."""

    protocol: str
    direction: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    service: bool
    backend_id: int
    rev_nat: int
    text: str
    line: int


class _Held:
    """What was read of one frontend and scope."""

    __slots__ = ("count", "kind", "lines", "lost", "rev_nat", "service", "targets")

    def __init__(self) -> None:
        self.targets: list[Target] = []
        self.lost: list[tuple[int, int]] = []
        self.lines: list[int] = []
        self.kind = ""
        self.service: str | None = None
        self.rev_nat = 0
        self.count: tuple[int, int] | None = None


_Key = tuple[Frontend, str]


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read `cilium-dbg service list` or `cilium-dbg bpf lb list`, as text or with -o json.

    Raises FormatError when it is neither.
    """
    held: dict[_Key, _Held] = {}
    not_understood: list[NotUnderstood] = []
    start = text.lstrip()[:1]
    if start in ("[", "{"):
        _json(text, held, not_understood)
    else:
        _text(text, held, not_understood)
    if not held and not_understood:
        first = not_understood[0]
        raise FormatError("neither cilium-dbg service list nor bpf lb list", line=first.line)
    return ServiceTable(
        dialect=Dialect.CILIUM,
        frontends=_entries(held),
        node=node,
        node_addresses=node_addresses,
        not_understood=tuple(not_understood),
        source=source,
        families=frozenset(6 if ":" in frontend.address else 4 for frontend, _ in held) | {4},
    )


def _entries(held: dict[_Key, _Held]) -> dict[Frontend, Entry]:
    entries: dict[Frontend, Entry] = {}
    for frontend in dict.fromkeys(frontend for frontend, _ in held):
        outer = held.get((frontend, "external")) or held.get((frontend, ""))
        inner = held.get((frontend, "internal"))
        lead = outer or inner
        assert lead is not None
        by_origin = None
        if inner is not None:
            within = _outcome(inner)
            by_origin = {Origin.POD.value: within, Origin.NODE.value: within}
            by_origin[Origin.EXTERNAL.value] = _outcome(outer) if outer is not None else Outcome(verdict=Verdict.NONE)
        both = [item for item in (outer, inner) if item is not None]
        entries[frontend] = Entry(
            service=lead.service,
            target=lead.kind,
            kind=lead.kind,
            lines=tuple(line for item in both for line in item.lines),
            outcome=_outcome(lead),
            by_origin=by_origin,
            facts={
                "targets": tuple(target for item in both for target in item.targets),
                "lost": tuple(pair for item in both for pair in item.lost),
                "rev_nat": lead.rev_nat,
                "count": lead.count,
            },
        )
    return entries


def _outcome(held: _Held) -> Outcome:
    """Active backends share alike; with none, the terminating ones; a slot beyond COUNT is quarantined."""
    targets = held.targets
    if held.count is not None and any(target.slot for target in targets):
        within = [target for target in targets if target.slot <= held.count[0]]
        targets = within or targets
    taking = [target for target in targets if target.state in ("", "active")]
    if not taking:
        taking = [target for target in targets if target.state == "terminating"]
    lost = len(held.lost)
    whole = len(taking) + lost
    shares = tuple(Share(target.backend, Fraction(1, whole), target.line) for target in taking)
    if not shares:
        return Outcome(verdict=Verdict.DROP if lost else Verdict.REJECT)
    other = ((Verdict.DROP, Fraction(lost, whole)),) if lost else ()
    return Outcome(verdict=Verdict.BACKENDS, backends=shares, other=other)


# --- text -------------------------------------------------------------------------------------------------------


def _text(text: str, held: dict[_Key, _Held], not_understood: list[NotUnderstood]) -> None:
    current: _Held | None = None
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
            current, protocol, understood = _agent_line(line, number, held, current, protocol)
        else:
            current, protocol, understood = _map_line(line, number, held, current, protocol)
        if not understood:
            not_understood.append(NotUnderstood(number, stripped))


def _agent_line(
    line: str, number: int, held: dict[_Key, _Held], current: _Held | None, protocol: str
) -> tuple[_Held | None, str, bool]:
    stripped = line.strip()
    rest = stripped
    if not line[:1].isspace():
        found = _SERVICE_LINE.match(stripped)
        key = _frontend(found.group(2)) if found is not None else None
        if found is None or key is None:
            return None, "", False
        current = held.setdefault(key, _Held())
        current.kind = found.group(3)
        current.lines.append(number)
        protocol, rest = key[0].protocol, found.group(4).strip()
        if not rest:
            return current, protocol, True
    target = _TARGET.match(rest)
    backend = _address(target.group(2)) if target is not None else None
    if target is None or backend is None or current is None:
        return current, protocol, False
    state = (target.group(4) or "active").lower()
    current.targets.append(Target(backend, state, int(target.group(1)), number))
    return current, protocol, True


def _map_line(
    line: str, number: int, held: dict[_Key, _Held], current: _Held | None, protocol: str
) -> tuple[_Held | None, str, bool]:
    stripped = line.strip()
    value = stripped
    if not line[:1].isspace():
        name, _, value = stripped.partition("  ")
        value = value.strip()
        slot = _SLOT.match(name)
        key = _frontend(slot.group(1) if slot is not None else name)
        if key is None or not value:
            return None, "", False
        current = held.setdefault(key, _Held())
        protocol = key[0].protocol
    if current is None:
        return None, protocol, False
    return current, protocol, _map_value(value, number, current)


def _map_value(value: str, number: int, current: _Held) -> bool:
    """``10.0.0.5:53/UDP (4) (1)``, the head ``0.0.0.0:0 (4) (0) [flags]``, or a backend that is gone."""
    current.lines.append(number)
    gone = _LB_NOT_FOUND.match(value)
    if gone is not None:
        current.lost.append((int(gone.group(1)), number))
        return True
    head = _LB_HEAD.match(value)
    if head is not None:
        current.count = int(head.group(2)), int(head.group(3))
        current.rev_nat = int(head.group(4))
        return True
    found = _LB_ENTRY.match(value)
    backend = _address(found.group(1)) if found is not None else None
    if found is None or backend is None:
        return False
    current.rev_nat = int(found.group(3))
    slot = int(found.group(4))
    if slot == 0:
        flags = [flag.strip() for flag in (found.group(5) or "").split(",")]
        current.kind = next((flag for flag in flags if flag in _FLAG_KINDS), current.kind)
        return True
    current.targets.append(Target(backend, "", slot, number))
    return True


def _frontend(text: str) -> _Key | None:
    """``10.96.0.10:53/UDP``, ``[fd00::a]:53``, ``198.51.100.100:443/i``, ``.../TCP/i``"""
    place, *rest = text.split("/")
    protocol, scope = "TCP", ""
    for part in rest:
        if part in _SCOPES:
            scope = _SCOPES[part]
        elif part.upper() in ("TCP", "UDP", "SCTP"):
            protocol = part.upper()
        elif part.upper() not in ("ANY", "NONE"):
            return None
    backend = _address(place)
    return (Frontend(backend.address, protocol, backend.port), scope) if backend is not None else None


def _address(text: str) -> Backend | None:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").partition("%")[0]
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(canonical(host), int(port))


# --- JSON -------------------------------------------------------------------------------------------------------


def _json(text: str, held: dict[_Key, _Held], not_understood: list[NotUnderstood]) -> None:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of cilium-dbg: {error}", line=1) from error
    if isinstance(document, list):
        for number, item in enumerate(document, 1):
            if not _json_service(item, number, held):
                not_understood.append(NotUnderstood(number, msgspec.json.encode(item).decode()))
        return
    if not isinstance(document, dict):
        raise FormatError("no JSON of cilium-dbg service list or bpf lb list", line=1)
    for number, (name, values) in enumerate(document.items(), 1):
        slot = _SLOT.match(name)
        key = _frontend(slot.group(1) if slot is not None else name)
        texts = values if isinstance(values, list) else [values]
        current = held.setdefault(key, _Held()) if key is not None else None
        for value in texts:
            if current is None or not isinstance(value, str) or not _map_value(value.strip(), number, current):
                not_understood.append(NotUnderstood(number, f"{name}: {value}"))


def _json_service(item: Any, number: int, held: dict[_Key, _Held]) -> bool:
    """One service of `service list -o json`; what is realised counts, not what was asked for."""
    try:
        status = item.get("status") or {}
        spec = status.get("realized") or item["spec"]
        frontend = spec["frontend-address"]
        flags = spec.get("flags") or {}
        address = Backend(canonical(frontend["ip"]), int(frontend["port"]))
        protocol = str(frontend.get("protocol", "TCP")).upper()
        protocol = protocol if protocol in ("TCP", "UDP", "SCTP") else "TCP"
        scope = str(frontend.get("scope", "")).lower()
        key = Frontend(address.address, protocol, address.port), scope if scope == "internal" else ""
        current = held.setdefault(key, _Held())
        current.kind = str(flags.get("type", ""))
        current.lines.append(number)
        if flags.get("namespace") and flags.get("name"):
            current.service = f"{flags['namespace']}/{flags['name']}"
        for slot, backend in enumerate(spec.get("backend-addresses") or (), 1):
            place = Backend(canonical(backend["ip"]), int(backend["port"]))
            state = str(backend.get("state") or "active").lower()
            current.targets.append(Target(place, state, slot, number))
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


# --- other maps -------------------------------------------------------------------------------------------------


def backends(text: str) -> tuple[dict[int, Backend], tuple[NotUnderstood, ...]]:
    """Read `bpf lb list --backends`: backend ID to address. Raises FormatError when it is something else."""
    held: dict[int, Backend] = {}
    not_understood: list[NotUnderstood] = []
    for number, line in _backend_lines(text):
        stripped = line.strip()
        if not stripped or stripped.startswith("ID "):
            continue
        found = _BACKEND.match(stripped)
        backend = _address(found.group(3)) if found is not None else None
        if found is None or backend is None:
            not_understood.append(NotUnderstood(number, stripped))
        else:
            held[int(found.group(1))] = backend
    if not held and not_understood:
        raise FormatError("not the output of cilium-dbg bpf lb list --backends", line=not_understood[0].line)
    return held, tuple(not_understood)


def _backend_lines(text: str) -> Iterator[tuple[int, str]]:
    if text.lstrip()[:1] != "{":
        yield from enumerate(text.split("\n"), 1)
        return
    try:
        document = msgspec.json.decode(text, type=dict[str, list[str]])
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of cilium-dbg bpf lb list --backends: {error}", line=1) from error
    for number, (key, values) in enumerate(document.items(), 1):
        for value in values:
            yield number, f"{key} {value}"


_CT_LINE = re.compile(r"(TCP|UDP|SCTP|ICMP|ICMPv6) (IN|OUT|RELATED|SVC)\b\s+(\S+) -> (\S+)(.*)$", re.IGNORECASE)
_CT_FIELD = re.compile(r"(\w+)=(\S+)")


def ct_entries(text: str) -> tuple[tuple[CtEntry, ...], tuple[NotUnderstood, ...]]:
    """Read `bpf ct list`. Entries of protocols without ports are left out."""
    held: list[CtEntry] = []
    not_understood: list[NotUnderstood] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped:
            continue
        found = _CT_LINE.match(stripped)
        if found is None:
            not_understood.append(NotUnderstood(number, stripped))
            continue
        protocol, direction, left, right, rest = found.groups()
        source, destination = _address(left), _address(right)
        if protocol.upper().startswith("ICMP"):
            continue
        if source is None or destination is None:
            not_understood.append(NotUnderstood(number, stripped))
            continue
        fields = dict(_CT_FIELD.findall(rest))
        held.append(
            CtEntry(
                protocol=protocol.upper(),
                direction=direction.upper(),
                source=source.address,
                source_port=source.port,
                destination=destination.address,
                destination_port=destination.port,
                service=direction.upper() == "SVC" or " service " in f"{rest} ",
                backend_id=_number(fields.get("BackendID", "0")),
                rev_nat=_number(fields.get("RevNAT", "0")),
                text=stripped,
                line=number,
            )
        )
    if not held and not_understood:
        raise FormatError("not the output of cilium-dbg bpf ct list", line=not_understood[0].line)
    return tuple(held), tuple(not_understood)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
