"""One frontend against what its Service asks: a packet of every origin, and one row per difference for all of them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from svcpath.models.dataplanes.drift import coverage
from svcpath.models.dataplanes.drift.dating import dated
from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind, NotCovered
from svcpath.models.dataplanes.drift.outcome import compare
from svcpath.models.dataplanes.drift.plain import wanted_of
from svcpath.models.dataplanes.drift.samples import admitted_by, family_of, packets_to
from svcpath.models.dataplanes.drift.scope import Remarks, Scope
from svcpath.models.dataplanes.expected import Expectation, Expected
from svcpath.models.dataplanes.table import (
    LOCAL_REDIRECT,
    Backend,
    Dialect,
    ForeignRule,
    PacketOutcome,
    PacketVerdict,
    TrafficOrigin,
)
from svcpath.models.dataplanes.trace import Packet

_AFFINITY = frozenset(
    {DifferenceKind.AFFINITY_MISSING, DifferenceKind.AFFINITY_UNEXPECTED, DifferenceKind.AFFINITY_TIMEOUT}
)

#: Differences of one frontend, found from several origins, by what they are.
_Found = dict[tuple[DifferenceKind, Backend | None], Difference]


def frontend_rows(scope: Scope, item: Expectation, remarks: Remarks) -> list[Difference] | None:
    """The differences of one frontend; None where the dump doesn't show what it takes to tell."""
    if not coverage.shows(scope.table, family_of(item), remarks):
        return None
    found = _by_rules(scope, item, remarks) if scope.netfilter else _by_map(scope, item, remarks)
    return [dated(row, item, scope.slices, scope.times) for row in found.values()]


def _by_rules(scope: Scope, item: Expectation, remarks: Remarks) -> _Found:
    found: _Found = {}
    outside_alone = item.kind == "external-ip" and _for_outside_alone(scope, item)
    for origin, source in packets_to(item, scope.sources, admitted_by(scope.table, item.frontend)):
        if outside_alone and origin is not TrafficOrigin.EXTERNAL:
            continue
        outcome = _trace(scope, item, origin, source)
        want = _wanted(scope, item, origin, source, outcome)
        for line in outcome.undecided:
            remarks.unread(line)
        differing = compare(scope, item, origin, want, outcome, remarks)
        if not (outcome.undecided and differing):
            _join(found, differing, origin)
    return found


def _for_outside_alone(scope: Scope, item: Expectation) -> bool:
    """Up to 1.21 kube-proxy translated what is sent to an external IP only if it comes in from outside (``-m physdev
    ! --physdev-is-in -m addrtype ! --src-type LOCAL``, pkg/proxy/iptables/proxier.go)."""
    entry, rules = scope.table.frontends.get(item.frontend), scope.table.ruleset
    nat = rules.tables.get(f"{'ip6' if ':' in item.frontend.address else 'ip'} nat") if rules is not None else None
    services = nat.chains.get("KUBE-SERVICES") if nat is not None else None
    if entry is None or services is None:
        return False
    return any(match.kind == "bridged" for rule in services.rules if rule.line in entry.lines for match in rule.matches)


def _wanted(scope: Scope, item: Expectation, origin: TrafficOrigin, source: str, outcome: PacketOutcome) -> Expected:
    detector = scope.detectors[family_of(item)]
    for_all = detector is not None and detector.kind == "all"
    want = item.for_packet(origin, source, pods_told=detector is not None and not for_all)
    if for_all and want.verdict is PacketVerdict.BACKENDS:
        want = want._replace(masquerade=True)
    dropped = outcome.verdict is PacketVerdict.DROP and scope.table.dialect is Dialect.NFTABLES
    if dropped and want.verdict is PacketVerdict.REJECT and not item.admits(source):
        # The nftables mode asks the source ranges before it asks for endpoints (firewall-check at dstnat - 10,
        # pkg/proxy/nftables/proxier.go, 1.35); the iptables mode has them behind the endpoints.
        want = want._replace(verdict=PacketVerdict.DROP)
    return want


def _by_map(scope: Scope, item: Expectation, remarks: Remarks) -> _Found:
    """IPVS and the eBPF maps: backends per frontend, without the rules around them."""
    found: _Found = {}
    dialect = scope.table.dialect
    redirected = _redirected(scope, item)
    if redirected is not None:
        remarks.of_others(redirected)
        remarks.not_covered[NotCovered(redirected.text, frontend=item.frontend)] = None
        return found
    for origin, source in packets_to(item, scope.sources, admitted_by(scope.table, item.frontend)):
        outcome = _trace(scope, item, origin, source)
        want = wanted_of(item, origin, source, dialect, outcome)
        if want is None:
            continue
        rows = compare(scope, item, origin, want, outcome, remarks)
        if dialect is not Dialect.IPVS:
            rows = [row for row in rows if row.kind not in _AFFINITY]
        if outcome.undecided and rows:
            for line in outcome.undecided:
                remarks.unread(line)
        else:
            _join(found, rows, origin)
    return found


def _redirected(scope: Scope, item: Expectation) -> ForeignRule | None:
    """A CiliumLocalRedirectPolicy gives the Service's own address to a Pod of the node, whatever the slices say."""
    entry = scope.table.frontends.get(item.frontend)
    if entry is None or entry.kind != LOCAL_REDIRECT:
        return None
    backends = ", ".join(str(address) for address in entry.outcome.addresses) if entry.outcome is not None else ""
    text = f"{item.frontend} goes to {backends or 'no backend'} by a CiliumLocalRedirectPolicy"
    return ForeignRule(entry.lines[0] if entry.lines else 0, LOCAL_REDIRECT, "redirect", text, frontend=item.frontend)


def _join(found: _Found, rows: Iterable[Difference], origin: TrafficOrigin) -> None:
    for row in rows:
        key = row.kind, row.backend
        before = found.get(key)
        if before is None:
            found[key] = row
        elif origin not in before.origins:
            found[key] = msgspec.structs.replace(before, origins=(*before.origins, origin))


def _trace(scope: Scope, item: Expectation, origin: TrafficOrigin, source: str) -> PacketOutcome:
    frontend = item.frontend
    packet = Packet(source, origin, frontend.protocol, frontend.address, frontend.port)
    outcome = scope.tracer.trace(packet)
    if origin is TrafficOrigin.NODE and item.external and outcome.verdict is PacketVerdict.DROP and scope.netfilter:
        # Before 1.32 the nftables mode filtered the node's own packets ahead of translating them.
        arriving = scope.tracer.trace(packet._replace(arriving=True))
        if arriving.verdict is PacketVerdict.BACKENDS:
            return arriving
    return outcome
