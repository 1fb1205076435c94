"""Drift: a node's table against what the Services and slices ask of it, both ways.

A difference is named by what it does to a new connection. Where lines that could matter were not understood, or the
dump is not whole, the answer is undecided and never "no drift". What a row means by *late*, *stuck* and *altered* is
in ``times``; nothing here reads a clock.
"""

from __future__ import annotations

import enum
import ipaddress
from collections.abc import Iterable, Sequence
from fractions import Fraction

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.models.dataplanes.expected import Expectation, Expected, NodeView, expected, is_programmed
from svcpath.models.dataplanes.layout import Detector, detector_of, own_not_understood
from svcpath.models.dataplanes.quick import QuickCheck
from svcpath.models.dataplanes.ruleset import collector_paused
from svcpath.models.dataplanes.table import (
    Backend,
    Dialect,
    Entry,
    ForeignRule,
    Frontend,
    NotUnderstood,
    Origin,
    Outcome,
    ServiceTable,
    Verdict,
)
from svcpath.models.dataplanes.times import Cause, Times, cause_of, changed_at
from svcpath.models.dataplanes.trace import Packet, Tracer


class Kind(enum.Enum):
    """What differs. The first group decides where a new connection goes, the second how it is treated."""

    MISSING = "missing"
    STALE = "stale"
    WRONG_PORT = "wrong port"
    WRONG_TARGET = "wrong target"  #: the port of a named targetPort moved
    UNEXPECTED_REJECT = "unexpected reject"
    UNEXPECTED_DROP = "unexpected drop"
    REJECT_MISSING = "reject missing"
    DROP_MISSING = "drop missing"
    FRONTEND_MISSING = "frontend missing"
    FRONTEND_STALE = "frontend stale"  #: the Service is there, this address or port is not its any more
    SERVICE_UNKNOWN = "service unknown"
    LEFTOVER = "leftover"
    FOREIGN_RULE = "foreign rule"
    SHARE_LOST = "share lost"
    UNEVEN_SHARES = "uneven shares"
    SOURCE_RANGE_OPEN = "source range open"
    MASQUERADE_MISSING = "masquerade missing"
    MASQUERADE_UNEXPECTED = "masquerade unexpected"
    HAIRPIN_MISSING = "hairpin masquerade missing"
    AFFINITY_MISSING = "affinity missing"
    AFFINITY_UNEXPECTED = "affinity unexpected"
    AFFINITY_TIMEOUT = "affinity timeout"
    CLUSTER_IP_CHECK_MISSING = "cluster IP check missing"
    HEALTH_CHECK_RULE_MISSING = "health check rule missing"


#: Kinds that change no packet's fate by themselves.
WITHOUT_EFFECT = frozenset(
    {Kind.CLUSTER_IP_CHECK_MISSING, Kind.HEALTH_CHECK_RULE_MISSING, Kind.SERVICE_UNKNOWN, Kind.FRONTEND_STALE}
)


_AFFINITY = frozenset({Kind.AFFINITY_MISSING, Kind.AFFINITY_UNEXPECTED, Kind.AFFINITY_TIMEOUT})
_FATES = {
    Verdict.NONE: "untranslated",
    Verdict.DROP: "dropped",
    Verdict.REJECT: "rejected",
    Verdict.ACCEPT: "untranslated",
    Verdict.BACKENDS: "to backends",
}
#: Entries of Cilium that no Service asks for.
_NOT_OF_SERVICES = frozenset({"HostPort", "LocalRedirect"})


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One difference on one node.

    ``backend`` None where the frontend as a whole differs; ``wanted`` the backend that should stand there (wrong port).
    ``rule`` is the line in the dump, 0 if there is none; ``origins`` whose connections differ; ``share`` of new
    connections; ``age`` seconds since the slice changed, None if not known; ``slice`` the one that changed;
    ``verdict`` what a leftover does to a packet that it catches.
    """

    node: str
    frontend: Frontend | None
    service: str
    kind: Kind
    backend: Backend | None = None
    wanted: Backend | None = None
    rule: int = 0
    text: str = ""
    origins: tuple[Origin, ...] = ()
    share: Fraction | None = None
    age: float | None = None
    cause: Cause = Cause.UNKNOWN
    slice: str = ""
    verdict: Verdict | None = None
    note: str = ""


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """``undecided`` non-empty: what was compared may differ from what the rows say. ``not_covered`` says what the dump
    does not show at all (a family, a table). ``foreign`` are rules of others on the way, certain and possible."""

    node: str
    dialect: Dialect
    rows: tuple[Row, ...]
    frontends: int
    backends: int
    undecided: tuple[NotUnderstood, ...] = ()
    foreign: tuple[ForeignRule, ...] = ()
    not_covered: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        return not self.undecided

    @property
    def clean(self) -> bool:
        """No drift, and nothing that would keep one from saying so."""
        return not self.rows and not self.undecided


class SliceIndex:
    """Slices by the Service they belong to, built once for all nodes."""

    def __init__(self, slices: Iterable[EndpointSlice]) -> None:
        self._held: dict[tuple[str, str], list[EndpointSlice]] = {}
        for item in slices:
            name = item.service_name
            if name is not None:
                self._held.setdefault((item.metadata.namespace, name), []).append(item)

    def of(self, service: Service) -> Sequence[EndpointSlice]:
        return self.named(service.metadata.namespace, service.metadata.name)

    def named(self, namespace: str, service: str) -> Sequence[EndpointSlice]:
        return self._held.get((namespace, service), ())


def drift(
    table: ServiceTable,
    services: Iterable[Service],
    slices: Iterable[EndpointSlice] | SliceIndex,
    node: NodeView,
    *,
    times: Times | None = None,
    leftovers: Sequence[ServiceTable] = (),
    complete: bool = True,
) -> DriftReport:
    """Compare one node's table with what it should hold.

    ``leftovers`` are tables of modes that are not in use on the node. ``complete``: ``services`` are all there are;
    only then is a frontend without a Service a difference.
    """
    with collector_paused():
        return _Comparison(table, list(services), slices, node, times or Times(), complete).run(leftovers)


class _Comparison:
    def __init__(
        self,
        table: ServiceTable,
        services: list[Service],
        slices: Iterable[EndpointSlice] | SliceIndex,
        node: NodeView,
        times: Times,
        complete: bool,
    ) -> None:
        self.table = table
        self.services = services
        self.slices = slices if isinstance(slices, SliceIndex) else SliceIndex(slices)
        self.node = node
        self.times = times
        self.complete = complete
        self.tracer = Tracer(table)
        self.rows: list[Row] = []
        self.undecided: dict[tuple[int, str], NotUnderstood] = {}
        self.foreign: dict[tuple[int, str], ForeignRule] = {}
        self.not_covered: dict[str, None] = {}
        self.netfilter = table.ruleset is not None
        self.detectors = {family: detector_of(table, family) if self.netfilter else None for family in (4, 6)}
        self.sources: dict[int, dict[Origin, str]] = {}
        self.backends = 0

    def run(self, leftovers: Sequence[ServiceTable]) -> DriftReport:
        for unread in (*own_not_understood(self.table), *self.table.damaged):
            self.undecided.setdefault((unread.line, unread.chain), unread)
        wanted: dict[Frontend, Expectation] = {}
        names: set[str] = set()
        for service in self.services:
            names.add(f"{service.namespace}/{service.name}")
            for item in expected(service, self.slices.of(service), self.node):
                wanted.setdefault(item.frontend, item)
        self._prepare_sources(wanted)
        taken = {view.backend.address for item in wanted.values() for view in item.endpoints}
        quick = {family: QuickCheck(self.table, family, self.detectors[family], taken) for family in (4, 6)}
        sampled: set[int] = set()
        for item in wanted.values():
            family = 6 if ":" in item.frontend.address else 4
            check = quick[family]
            if check.usable and check.holds(item):
                if family in sampled:
                    self.backends += len(item.cluster)
                    continue
                # The first is walked all the same: that the shared chains are right is shown by packets.
                before = len(self.rows) + len(self.undecided)
                self._frontend(item)
                if len(self.rows) + len(self.undecided) == before:
                    sampled.add(family)
                continue
            self._frontend(item)
        self._health_checks(names)
        self._unknown(wanted, names)
        self._cluster_ip_check(wanted)
        for table in leftovers:
            self._leftover(table)
        return DriftReport(
            node=self.node.name or self.table.node,
            dialect=self.table.dialect,
            rows=tuple(self.rows),
            frontends=len(self.table.frontends),
            backends=self.backends,
            undecided=tuple(self.undecided.values()),
            foreign=tuple(self.foreign.values()),
            not_covered=tuple(self.not_covered),
        )

    # --- sample packets -----------------------------------------------------------------------------------------

    def _prepare_sources(self, wanted: dict[Frontend, Expectation]) -> None:
        taken = {view.backend.address for item in wanted.values() for view in item.endpoints}
        here = {view.backend.address for item in wanted.values() for view in item.endpoints if view.local}
        for family in (4, 6):
            detector = self.detectors[family]
            self.sources[family] = {
                Origin.POD: sample_pod(detector, taken, here, family),
                Origin.NODE: sample_node(self.table.node_addresses | self.node.addresses, family),
                Origin.EXTERNAL: "2001:db8:ffff::77" if family == 6 else "198.51.100.77",
            }

    def _packets(self, item: Expectation) -> Iterable[tuple[Origin, str]]:
        """One packet per origin, and for source ranges one from within."""
        family = 6 if ":" in item.frontend.address else 4
        yield from self.sources[family].items()
        if item.source_ranges:
            yield Origin.EXTERNAL, item.source_ranges[0].partition("/")[0]

    # --- one frontend -------------------------------------------------------------------------------------------

    def _frontend(self, item: Expectation) -> None:
        family = 6 if ":" in item.frontend.address else 4
        if family not in self.table.families:
            self.not_covered[f"IPv{family}"] = None
            return
        if not self._translates(family):
            return
        self.backends += len(item.cluster)
        found: dict[tuple[Kind, Backend | None], Row] = {}
        if not self.netfilter:
            self.rows.extend(self._dated(row, item) for row in self._plain(item).values())
            return
        detector = self.detectors[family]
        pods_told = detector is not None and detector.kind != "all"
        for origin, source in self._packets(item):
            outcome = self._trace(item, origin, source)
            want = item.for_packet(origin, source, pods_told=pods_told)
            if detector is not None and detector.kind == "all" and want.verdict is Verdict.BACKENDS:
                want = want._replace(masquerade=True)
            dropped = outcome.verdict is Verdict.DROP and self.table.dialect is Dialect.NFTABLES
            if dropped and want.verdict is Verdict.REJECT and not item.admits(source):
                # The nftables mode asks the source ranges before it asks for endpoints (firewall-check at dstnat - 10,
                # pkg/proxy/nftables/proxier.go, 1.35); the iptables mode has them behind the endpoints.
                want = want._replace(verdict=Verdict.DROP)
            for line in outcome.undecided:
                self.undecided.setdefault((line.line, line.chain), line)
            differing = self._compare(item, origin, want, outcome)
            if outcome.undecided and differing:
                continue
            for row in differing:
                key = row.kind, row.backend
                before = found.get(key)
                if before is None:
                    found[key] = row
                elif origin not in before.origins:
                    found[key] = msgspec.structs.replace(before, origins=(*before.origins, origin))
        self.rows.extend(self._dated(row, item) for row in found.values())

    def _plain(self, item: Expectation) -> dict[tuple[Kind, Backend | None], Row]:
        """IPVS and the eBPF maps: backends per frontend, without the rules around them."""
        found: dict[tuple[Kind, Backend | None], Row] = {}
        family = 6 if ":" in item.frontend.address else 4
        for origin, source in self.sources[family].items():
            outcome = self._trace(item, origin, source)
            choices = plain_choices(item, origin, self.table.dialect)
            want = Expected(Verdict.BACKENDS, choices[0]) if choices[0] else Expected(Verdict.REJECT)
            if outcome.verdict is Verdict.BACKENDS and set(outcome.addresses) in [set(choice) for choice in choices]:
                want = want._replace(backends=outcome.addresses)
            elif want.verdict is Verdict.REJECT and outcome.verdict is not Verdict.BACKENDS:
                continue
            rows = self._compare(item, origin, want, outcome)
            if self.table.dialect is not Dialect.IPVS:
                rows = [row for row in rows if row.kind not in _AFFINITY]
            for row in rows:
                before = found.get((row.kind, row.backend))
                if before is not None:
                    row = msgspec.structs.replace(before, origins=(*before.origins, origin))
                found[row.kind, row.backend] = row
        return found

    def _trace(self, item: Expectation, origin: Origin, source: str) -> Outcome:
        frontend = item.frontend
        packet = Packet(source, origin, frontend.protocol, frontend.address, frontend.port)
        outcome = self.tracer.trace(packet)
        if origin is Origin.NODE and item.external and outcome.verdict is Verdict.DROP and self.netfilter:
            # Before 1.32 the nftables mode filtered the node's own packets ahead of translating them.
            arriving = self.tracer.trace(packet._replace(arriving=True))
            if arriving.verdict is Verdict.BACKENDS:
                return arriving
        return outcome

    def _compare(self, item: Expectation, origin: Origin, want: Expected, outcome: Outcome) -> list[Row]:
        blocked = want.verdict in (Verdict.REJECT, Verdict.DROP)
        certain = [rule for rule in outcome.foreign if rule.certain and (blocked or rule.effect != "let-through")]
        for rule in outcome.foreign:
            self.foreign.setdefault((rule.line, rule.chain), rule)
        got = outcome.verdict
        if certain and (got is not want.verdict or set(outcome.addresses) != set(want.backends)):
            if all(rule.effect == "notrack" for rule in certain):
                return []  # a node-local cache on the Service's own address takes the packet unmarked
            rule = certain[0]
            note = f"{rule.effect} in {rule.chain}"
            return [self._row(item, Kind.FOREIGN_RULE, origin, rule=rule.line, note=note)]
        if blocked:
            return self._blocked(item, origin, want, outcome)
        line = _last_line(outcome)
        if got in (Verdict.NONE, Verdict.ACCEPT) or (got is not Verdict.BACKENDS and _by_cluster_ip_check(outcome)):
            if self._met(item, outcome):
                note = f"its rules translate to nothing: {_FATES[got]}"
                return [self._row(item, Kind.MISSING, origin, one, rule=line, note=note) for one in want.backends]
            return [self._row(item, Kind.FRONTEND_MISSING, origin, rule=line, note=_FATES[got])]
        if got is not Verdict.BACKENDS:
            kind = Kind.UNEXPECTED_REJECT if got is Verdict.REJECT else Kind.UNEXPECTED_DROP
            return [self._row(item, kind, origin, rule=line)]
        return [*self._backends(item, origin, want, outcome), *self._treatment(item, origin, want, outcome)]

    def _blocked(self, item: Expectation, origin: Origin, want: Expected, outcome: Outcome) -> list[Row]:
        got = outcome.verdict
        if got is want.verdict:
            if self.table.dialect is not Dialect.NFTABLES or item.source_ranges:
                return []
            if self._met(item, outcome) and not _by_cluster_ip_check(outcome):
                return []
            kind = Kind.REJECT_MISSING if got is Verdict.REJECT else Kind.DROP_MISSING
            note = "the check of cluster IPs rejects it all the same"
            return [self._row(item, kind, origin, rule=_last_line(outcome), note=note)]
        if got is Verdict.BACKENDS:
            if want.verdict is Verdict.DROP and item.source_ranges:
                return [self._row(item, Kind.SOURCE_RANGE_OPEN, origin, rule=_last_line(outcome))]
            return [
                self._row(item, Kind.STALE, origin, share.backend, rule=share.line, share=share.share)
                for share in outcome.backends
            ]
        if got is Verdict.NONE:
            if not self._filters(item):
                return []
            if origin is Origin.NODE and item.external and self.table.dialect is Dialect.IPTABLES:
                return []  # kube-proxy's iptables mode does not filter what the node itself sends to such an address
            kind = Kind.REJECT_MISSING if want.verdict is Verdict.REJECT else Kind.DROP_MISSING
            return [self._row(item, kind, origin, rule=_last_line(outcome))]
        kind = Kind.UNEXPECTED_REJECT if got is Verdict.REJECT else Kind.UNEXPECTED_DROP
        return [self._row(item, kind, origin, rule=_last_line(outcome))]

    def _met(self, item: Expectation, outcome: Outcome) -> bool:
        """Did the packet come by the rule that names this frontend?"""
        entry = self.table.frontends.get(item.frontend)
        return entry is not None and any(rule.line in entry.lines for rule in outcome.rules)

    def _filters(self, item: Expectation) -> bool:
        """Does the dump hold the table that rejects and drops? `iptables-save -t nat` does not."""
        if self.table.dialect is not Dialect.IPTABLES or self.table.ruleset is None:
            return self.table.dialect is not Dialect.IPVS
        return self._holds(f"{'ip6' if ':' in item.frontend.address else 'ip'} filter")

    def _translates(self, family: int) -> bool:
        """Does the dump hold the table that translates? kube-proxy fills nat wherever it fills filter, so a dump with
        its filter chains alone was cut between two tables, or asked for one."""
        rules, prefix = self.table.ruleset, "ip6" if family == 6 else "ip"
        if self.table.dialect is not Dialect.IPTABLES or rules is None:
            return True
        filters = rules.tables.get(f"{prefix} filter")
        if filters is None or "KUBE-SERVICES" not in filters.chains:
            return True
        return self._holds(f"{prefix} nat")

    def _holds(self, name: str) -> bool:
        if self.table.ruleset is None or name in self.table.ruleset.tables:
            return True
        text = f"the dump has no table {name}"
        self.undecided.setdefault((0, text), NotUnderstood(0, text))
        return False

    def _backends(self, item: Expectation, origin: Origin, want: Expected, outcome: Outcome) -> list[Row]:
        rows = []
        got = {share.backend: share for share in outcome.backends}
        missing = [backend for backend in want.backends if backend not in got]
        stale = [share for backend, share in got.items() if backend not in set(want.backends)]
        by_address = {backend.address: backend for backend in missing}
        for share in stale:
            other = by_address.pop(share.backend.address, None)
            if other is not None:
                missing.remove(other)
                kind = Kind.WRONG_TARGET if item.named_port else Kind.WRONG_PORT
                row = self._row(item, kind, origin, share.backend, rule=share.line, share=share.share)
                rows.append(msgspec.structs.replace(row, wanted=other))
            else:
                rows.append(self._row(item, Kind.STALE, origin, share.backend, rule=share.line, share=share.share))
        lost = sum((part for _, part in outcome.other), Fraction(0))
        note = ", ".join(f"{part} {_FATES[verdict]}" for verdict, part in outcome.other)
        part_lost = lost / len(missing) if missing and lost else None
        line = _last_line(outcome)
        rows += [self._row(item, Kind.MISSING, origin, one, rule=line, share=part_lost, note=note) for one in missing]
        if missing:
            return rows
        if lost:
            rows.append(self._row(item, Kind.SHARE_LOST, origin, rule=_last_line(outcome), share=lost, note=note))
        elif outcome.uneven:
            note = ", ".join(f"{share.share} {share.backend}" for share in outcome.backends)
            rows.append(self._row(item, Kind.UNEVEN_SHARES, origin, rule=_last_line(outcome), note=note))
        return rows

    def _treatment(self, item: Expectation, origin: Origin, want: Expected, outcome: Outcome) -> list[Row]:
        rows = []
        line = _last_line(outcome)
        if self.netfilter and want.masquerade is not None:
            if want.masquerade and not all(share.masquerade for share in outcome.backends):
                rows.append(self._row(item, Kind.MASQUERADE_MISSING, origin, rule=line))
            elif not want.masquerade and outcome.masquerade:
                rows.append(self._row(item, Kind.MASQUERADE_UNEXPECTED, origin, rule=line))
        rows += [
            self._row(item, Kind.HAIRPIN_MISSING, origin, share.backend, rule=share.line)
            for share in outcome.backends
            if share.hairpin is False
        ]
        kind = _affinity_kind(item.affinity, outcome)
        if kind is not None:
            rows.append(self._row(item, kind, origin, rule=line, note=f"{outcome.affinity} s"))
        return rows

    # --- the other way, and what belongs to no frontend ---------------------------------------------------------

    def _health_checks(self, names: set[str]) -> None:
        """The iptables mode lets the load balancer's health checks in by a rule of their own."""
        if self.table.dialect is not Dialect.IPTABLES or self.table.ruleset is None:
            return
        for service in self.services:
            number = service.spec.health_check_node_port
            if not number or service.spec.external_traffic_policy != "Local" or not is_programmed(service):
                continue
            family = 6 if ":" in service.cluster_ips[0] else 4
            if family not in self.table.families or not self._has_filter(family):
                continue
            frontend = Frontend("::" if family == 6 else "0.0.0.0", "TCP", number)
            outcome = self.tracer.trace(
                Packet(self.sources[family][Origin.EXTERNAL], Origin.EXTERNAL, "TCP", frontend.address, number)
            )
            if outcome.verdict is not Verdict.ACCEPT:
                self.rows.append(
                    Row(
                        node=self._name(),
                        frontend=frontend,
                        service=f"{service.namespace}/{service.name}",
                        kind=Kind.HEALTH_CHECK_RULE_MISSING,
                        origins=(Origin.EXTERNAL,),
                    )
                )

    def _has_filter(self, family: int) -> bool:
        rules = self.table.ruleset
        return rules is not None and f"{'ip6' if family == 6 else 'ip'} filter" in rules.tables

    def _unknown(self, wanted: dict[Frontend, Expectation], names: set[str]) -> None:
        health = {service.spec.health_check_node_port for service in self.services}
        for frontend, entry in self.table.frontends.items():
            if frontend in wanted or (entry.kind == "health-check" and frontend.port in health):
                continue
            owner = (entry.service or "").partition(":")[0]
            if owner in names:
                kind = Kind.FRONTEND_STALE
            elif self.complete:
                kind = Kind.SERVICE_UNKNOWN
            else:
                continue
            if _shared(frontend, wanted, self.netfilter) or entry.kind in _NOT_OF_SERVICES:
                continue
            line = entry.lines[0] if entry.lines else 0
            self.rows.append(
                Row(
                    node=self._name(),
                    frontend=frontend,
                    service=entry.service or "",
                    kind=kind,
                    rule=line,
                    text=self._text(line),
                )
            )

    def _cluster_ip_check(self, wanted: dict[Frontend, Expectation]) -> None:
        """The nftables mode rejects a wrong port of a cluster IP; without it such a client waits for its timeout."""
        rules = self.table.ruleset
        if self.table.dialect is not Dialect.NFTABLES or rules is None:
            return
        for family, prefix in ((4, "ip"), (6, "ip6")):
            proxy = rules.tables.get(f"{prefix} kube-proxy")
            if proxy is None or "cluster-ips-check" not in proxy.chains:
                continue
            ports: dict[str, set[int]] = {}
            owner: dict[str, Expectation] = {}
            for item in wanted.values():
                if item.kind == "cluster-ip" and (":" in item.frontend.address) == (family == 6):
                    ports.setdefault(item.frontend.address, set()).add(item.frontend.port)
                    owner.setdefault(item.frontend.address, item)
            members = proxy.sets.get("cluster-ips")
            for address, used in ports.items():
                if members is not None and (address,) not in members.elements:
                    self.rows.append(self._row(owner[address], Kind.CLUSTER_IP_CHECK_MISSING, Origin.POD))
                    continue
                if members is not None and address != next(iter(ports)):
                    continue
                free = next(port for port in range(1, 65536) if port not in used)
                for origin in (Origin.POD, Origin.NODE):
                    packet = Packet(self.sources[family][origin], origin, "TCP", address, free)
                    if self.tracer.trace(packet).verdict is not Verdict.REJECT:
                        self.rows.append(self._row(owner[address], Kind.CLUSTER_IP_CHECK_MISSING, origin))

    def _leftover(self, table: ServiceTable) -> None:
        tracer = Tracer(table)
        for frontend, entry in table.frontends.items():
            line = entry.lines[0] if entry.lines else 0
            source = self.sources[6 if ":" in frontend.address else 4][Origin.POD]
            packet = Packet(source, Origin.POD, frontend.protocol, frontend.address, frontend.port)
            self.rows.append(
                Row(
                    node=self._name(),
                    frontend=frontend,
                    service=entry.service or "",
                    kind=Kind.LEFTOVER,
                    verdict=tracer.trace(packet).verdict,
                    rule=line,
                    text=table.ruleset.line(line) if table.ruleset is not None else "",
                    note=_leftover_note(table, entry),
                )
            )

    # --- rows ---------------------------------------------------------------------------------------------------

    def _name(self) -> str:
        return self.node.name or self.table.node

    def _text(self, line: int) -> str:
        return self.table.ruleset.line(line) if self.table.ruleset is not None and line else ""

    def _row(
        self,
        item: Expectation,
        kind: Kind,
        origin: Origin,
        backend: Backend | None = None,
        *,
        rule: int = 0,
        share: Fraction | None = None,
        note: str = "",
    ) -> Row:
        return Row(
            node=self._name(),
            frontend=item.frontend,
            service=item.service,
            kind=kind,
            backend=backend,
            rule=rule,
            text=self._text(rule),
            origins=(origin,),
            share=share,
            note=note,
        )

    def _dated(self, row: Row, item: Expectation) -> Row:
        """Which slice changed, how long ago, and what that says."""
        namespace, _, rest = item.service.partition("/")
        names = {
            view.slice for view in item.endpoints if row.backend is None or view.backend.address == row.backend.address
        }
        candidates = [
            piece
            for piece in self.slices.named(namespace, rest.partition(":")[0])
            if not names or piece.metadata.name in names
        ]
        changes = [(changed_at(piece), piece.metadata.name) for piece in candidates]
        known = [(at, name) for at, name in changes if at is not None]
        if not known:
            return row
        at, name = max(known)
        return msgspec.structs.replace(row, age=self.times.age(at), cause=cause_of(at, self.times), slice=name)


def plain_choices(item: Expectation, origin: Origin, dialect: Dialect) -> list[tuple[Backend, ...]]:
    """The sets of backends that are right for a dialect that knows no rules: the first is what kube-proxy would say."""
    ready = tuple(view.backend for view in item.endpoints if view.ready)
    if dialect is Dialect.IPVS:
        if not item.local_only:
            return [item.cluster]
        if item.local or not item.external:
            return [item.local]
        # kube-proxy lets Pods of the node in although nothing runs here (kubernetes pull 97081).
        return [() if item.internal_local else item.cluster]
    if not item.local_only:
        return [item.cluster, ready]
    if item.external and origin is not Origin.EXTERNAL:
        return [item.cluster, item.local, ready]
    return [item.local]


def sample_pod(detector: Detector | None, taken: set[str], here: set[str], family: int) -> str:
    """An address that counts as a Pod's of this node and is no backend's: beside a Pod of the node, if one is known."""
    if detector is None or detector.kind != "cidr":
        return "2001:db8:fffe::2" if family == 6 else "192.0.2.2"
    network = ipaddress.ip_network(detector.value, strict=False)
    length = 64 if family == 6 else 24
    for text in sorted(here):
        if (":" in text) == (family == 6) and ipaddress.ip_address(text) in network and network.prefixlen < length:
            network = ipaddress.ip_network(f"{text}/{length}", strict=False)
            break
    for offset in range(2, min(network.num_addresses, 1 << 16)):
        address = str(network[offset])
        if address not in taken:
            return address
    return str(network[0])


def sample_node(addresses: frozenset[str], family: int) -> str:
    for address in sorted(addresses):
        if (":" in address) == (family == 6):
            return address
    return "::1" if family == 6 else "127.0.0.1"


def _affinity_kind(wanted: int | None, outcome: Outcome) -> Kind | None:
    got = outcome.affinity
    if wanted is None:
        return Kind.AFFINITY_UNEXPECTED if got is not None else None
    if got is None or not outcome.affinity_complete:
        return Kind.AFFINITY_MISSING
    return Kind.AFFINITY_TIMEOUT if got not in (0, wanted) else None


def _last_line(outcome: Outcome) -> int:
    """The rule that settled it, or came nearest."""
    return outcome.rules[-1].line if outcome.rules else 0


def _by_cluster_ip_check(outcome: Outcome) -> bool:
    """Rejected or dropped only because no rule of a frontend took it (chain of the nftables mode)."""
    return bool(outcome.rules) and outcome.rules[-1].chain == "cluster-ips-check"


def _shared(frontend: Frontend, wanted: dict[Frontend, Expectation], netfilter: bool) -> bool:
    """A node port that is listed per address of the node is the wildcard's."""
    wildcard = Frontend("::" if ":" in frontend.address else "0.0.0.0", frontend.protocol, frontend.port)
    return not netfilter and wildcard in wanted


def _leftover_note(table: ServiceTable, entry: Entry) -> str:
    name = f"{table.dialect.value} {table.variant}".strip()
    return f"{name}: {entry.target}" if entry.target else name
