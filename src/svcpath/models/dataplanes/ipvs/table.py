"""IPVS to a ServiceTable: /proc/net/ip_vs, ipvsadm's listings, ipvsadm-save.

Formats: net/netfilter/ipvs/ip_vs_ctl.c (ip_vs_info_seq_show, addresses in hex) and ipvsadm.c
(print_service_and_dests). A real server of weight 0 gets no new connection and keeps the old ones (kube-proxy's
graceful termination); a virtual server without real servers answers with port unreachable (ip_vs_leave).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ipvs.addresses import PROTOCOLS, address
from svcpath.models.dataplanes.ipvs.columns import Columns, columns_of
from svcpath.models.dataplanes.ipvs.commands import as_listed
from svcpath.models.dataplanes.table import (
    Backend,
    Dialect,
    Frontend,
    NotUnderstood,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    Share,
    TableEntry,
)

_TITLES = ("IP Virtual Server version", "Prot LocalAddress:Port", "-> RemoteAddress:Port")
_WEIGHTED = frozenset({"wrr", "wlc"})
#: IPVS holds both families in one table, and every listing shows both.
_FAMILIES = frozenset({4, 6})


class RealServer(NamedTuple):
    """``weight`` None: the listing does not tell it."""

    backend: Backend
    forward: str
    weight: int | None
    active: int
    inactive: int
    line: int


class _Virtual:
    """A virtual server as it is read: its head, its servers, and the lines of it that were not understood."""

    def __init__(self, frontend: Frontend, scheduler: str, affinity: int | None, line: int) -> None:
        self.frontend = frontend
        self.scheduler = scheduler
        self.affinity = affinity
        self.line = line
        self.servers: list[RealServer] = []
        self.unread: list[NotUnderstood] = []


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read /proc/net/ip_vs, a listing of ipvsadm or its ``-S``; which of them the words tell.

    Raises FormatError when no line is of any.
    """
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.line(number, line.strip())
    if not reader.recognised:
        raise FormatError("neither /proc/net/ip_vs nor ipvsadm -Ln: no virtual server in it", line=1)
    virtuals: dict[Frontend, _Virtual] = {virtual.frontend: virtual for virtual in reader.virtuals}
    return ServiceTable(
        dialect=Dialect.IPVS,
        frontends={frontend: _entry(virtual) for frontend, virtual in virtuals.items()},
        node=node,
        node_addresses=node_addresses,
        not_understood=tuple(reader.not_understood),
        source=source,
        families=_FAMILIES,
    )


class _Reader:
    def __init__(self) -> None:
        self.columns = Columns.PLAIN
        self.virtuals: list[_Virtual] = []
        self.not_understood: list[NotUnderstood] = []
        self.recognised = False
        self._current: _Virtual | None = None
        self._skipping = False
        self._unweighed: NotUnderstood | None = None

    def line(self, number: int, text: str) -> None:
        if not text:
            return
        if text.startswith(_TITLES):
            self._title(number, text)
            return
        words = as_listed(text) or text.split()
        if words[0] == "->":
            self._server(number, text, words)
        elif words[0] == "FWM":
            # By a mark of the packet: kube-proxy makes none of these, and no address tells who takes them.
            self._current, self._skipping, self.recognised = None, True, True
        elif words[0] in PROTOCOLS:
            self._virtual(number, text, words)
        else:
            self._unread(number, text)

    def _title(self, number: int, text: str) -> None:
        self.recognised = True
        found = columns_of(text)
        if found is None or found is self.columns:
            return
        self.columns = found
        if not found.weighs:
            what = f"ipvsadm {found.switch} leaves out the servers' weights: give the output of ipvsadm -Ln"
            self._unweighed = NotUnderstood(number, what, "weights")
            self.not_understood.append(self._unweighed)

    def _virtual(self, number: int, text: str, words: list[str]) -> None:
        self._current, self._skipping = None, False
        place = address(words[1]) if len(words) > 2 else None
        if place is None:
            self._unread(number, text)
            return
        self.recognised = True
        frontend = Frontend(place.address, words[0], place.port)
        scheduled = self.columns.schedules
        self._current = _Virtual(
            frontend, words[2] if scheduled else "", _persistence(words) if scheduled else 0, number
        )
        if self._current.affinity == _BAD:
            self._current.affinity = None
            self._unread(number, text)
        if self._unweighed is not None:
            self._current.unread.append(self._unweighed)
        self.virtuals.append(self._current)

    def _server(self, number: int, text: str, words: list[str]) -> None:
        server = _real_server(words, number, self.columns)
        if server is None:
            self._unread(number, text)
        elif self._current is not None:
            self._current.servers.append(server)
        elif not self._skipping:
            self._unread(number, text)

    def _unread(self, number: int, text: str) -> None:
        """A line below a virtual server is that server's alone."""
        current = self._current
        found = NotUnderstood(number, text, str(current.frontend) if current is not None else "")
        self.not_understood.append(found)
        if current is not None:
            current.unread.append(found)


_BAD = -2


def _persistence(words: list[str]) -> int | None:
    if "persistent" not in words:
        return None
    place = words.index("persistent") + 1
    return int(words[place]) if place < len(words) and words[place].isdecimal() else _BAD


def _entry(virtual: _Virtual) -> TableEntry:
    servers = virtual.servers
    taking = [server for server in servers if server.weight is None or server.weight > 0]
    total = sum(server.weight or 0 for server in taking)
    shares = tuple(
        Share(
            server.backend,
            Fraction(server.weight or 0, total)
            if virtual.scheduler in _WEIGHTED and total
            else Fraction(1, len(taking)),
            server.line,
        )
        for server in taking
    )
    outcome = PacketOutcome(
        verdict=PacketVerdict.BACKENDS if shares else PacketVerdict.REJECT if not servers else PacketVerdict.DROP,
        backends=shares,
        affinity=virtual.affinity,
        undecided=tuple(virtual.unread),
    )
    return TableEntry(
        target=virtual.scheduler,
        lines=(virtual.line, *(server.line for server in servers)),
        outcome=outcome,
        facts={"servers": tuple(servers)},
    )


def _real_server(words: list[str], line: int, columns: Columns) -> RealServer | None:
    """``-> address forward weight active inactive``, or what another listing has behind the address."""
    place = address(words[1]) if len(words) >= 6 else None
    if place is None:
        return None
    if not columns.schedules:
        return RealServer(place, "", None, 0, 0, line)
    if columns is Columns.PLAIN:
        forward, (weight, active, inactive) = words[2], words[3:6]
    else:
        forward, weight, (active, inactive) = "", words[2], words[4:6]
    if not (weight.isdecimal() and active.isdecimal() and inactive.isdecimal()):
        return None
    known_weight = int(weight) if columns.weighs else None
    return RealServer(place, forward, known_weight, int(active), int(inactive), line)
