"""One packet's outcome against the one that is expected, in the words of ``DifferenceKind``.

Where the two go apart is looked for in the order that a packet meets it: a rule of others, a reject or drop, no rule at
all, then the backends and their shares, and last how the connection is treated (masquerade, hairpin, affinity).
"""

from __future__ import annotations

from fractions import Fraction

import msgspec

from svcpath.models.dataplanes.drift import coverage
from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind
from svcpath.models.dataplanes.drift.samples import family_of
from svcpath.models.dataplanes.drift.scope import Remarks, Scope
from svcpath.models.dataplanes.expected import Expectation, Expected
from svcpath.models.dataplanes.table import Backend, Dialect, PacketOutcome, PacketVerdict, Share, TrafficOrigin

_FATES = {
    PacketVerdict.NONE: "untranslated",
    PacketVerdict.DROP: "dropped",
    PacketVerdict.REJECT: "rejected",
    PacketVerdict.ACCEPT: "untranslated",
    PacketVerdict.BACKENDS: "to backends",
}


def compare(
    scope: Scope, item: Expectation, origin: TrafficOrigin, want: Expected, outcome: PacketOutcome, remarks: Remarks
) -> list[Difference]:
    blocked = want.verdict in (PacketVerdict.REJECT, PacketVerdict.DROP)
    certain = [rule for rule in outcome.foreign if rule.certain and (blocked or rule.effect != "let-through")]
    for rule in outcome.foreign:
        remarks.of_others(rule)
    got = outcome.verdict
    if certain and (got is not want.verdict or set(outcome.addresses) != set(want.backends)):
        if all(rule.effect == "notrack" for rule in certain):
            return []  # a node-local cache on the Service's own address takes the packet unmarked
        rule = certain[0]
        note = f"{rule.effect} in {rule.chain}"
        return [scope.row(item, DifferenceKind.FOREIGN_RULE, origin, rule=rule.line, note=note)]
    if blocked:
        return _blocked(scope, item, origin, want, outcome, remarks)
    line = _last_line(outcome)
    if got in (PacketVerdict.NONE, PacketVerdict.ACCEPT) or (
        got is not PacketVerdict.BACKENDS and _by_cluster_ip_check(outcome)
    ):
        if _met(scope, item, outcome):
            note = f"its rules translate to nothing: {_FATES[got]}"
            return [
                scope.row(item, DifferenceKind.MISSING, origin, backend, rule=line, note=note)
                for backend in want.backends
            ]
        return [scope.row(item, DifferenceKind.FRONTEND_MISSING, origin, rule=line, note=_FATES[got])]
    if got is not PacketVerdict.BACKENDS:
        kind = DifferenceKind.UNEXPECTED_REJECT if got is PacketVerdict.REJECT else DifferenceKind.UNEXPECTED_DROP
        return [scope.row(item, kind, origin, rule=line)]
    return [*_backends(scope, item, origin, want, outcome), *_treatment(scope, item, origin, want, outcome)]


def _blocked(
    scope: Scope, item: Expectation, origin: TrafficOrigin, want: Expected, outcome: PacketOutcome, remarks: Remarks
) -> list[Difference]:
    got = outcome.verdict
    if got is want.verdict:
        if scope.table.dialect is not Dialect.NFTABLES or item.source_ranges:
            return []
        if _met(scope, item, outcome) and not _by_cluster_ip_check(outcome):
            return []
        kind = DifferenceKind.REJECT_MISSING if got is PacketVerdict.REJECT else DifferenceKind.DROP_MISSING
        note = "the check of cluster IPs rejects it all the same"
        return [scope.row(item, kind, origin, rule=_last_line(outcome), note=note)]
    if got is PacketVerdict.BACKENDS:
        if want.verdict is PacketVerdict.DROP and item.source_ranges:
            return [scope.row(item, DifferenceKind.SOURCE_RANGE_OPEN, origin, rule=_last_line(outcome))]
        return [_stale(scope, item, origin, share) for share in outcome.backends]
    if got is PacketVerdict.NONE:
        if not coverage.filters(scope.table, family_of(item), remarks):
            return []
        if origin is TrafficOrigin.NODE and item.external and scope.table.dialect is Dialect.IPTABLES:
            return []  # kube-proxy's iptables mode does not filter what the node itself sends to such an address
        if not item.frontend.is_node_port and any(rule.chain == "KUBE-MARK-DROP" for rule in outcome.rules):
            return []  # up to 1.24 it marks the packet, and the kubelet's KUBE-FIREWALL drops at input and output alone
        kind = DifferenceKind.REJECT_MISSING if want.verdict is PacketVerdict.REJECT else DifferenceKind.DROP_MISSING
        return [scope.row(item, kind, origin, rule=_last_line(outcome))]
    kind = DifferenceKind.UNEXPECTED_REJECT if got is PacketVerdict.REJECT else DifferenceKind.UNEXPECTED_DROP
    return [scope.row(item, kind, origin, rule=_last_line(outcome))]


def _met(scope: Scope, item: Expectation, outcome: PacketOutcome) -> bool:
    """Did the packet come by the rule that names this frontend?"""
    entry = scope.table.frontends.get(item.frontend)
    return entry is not None and any(rule.line in entry.lines for rule in outcome.rules)


def _backends(
    scope: Scope, item: Expectation, origin: TrafficOrigin, want: Expected, outcome: PacketOutcome
) -> list[Difference]:
    rows = []
    got = {share.backend: share for share in outcome.backends}
    missing = [backend for backend in want.backends if backend not in got]
    stale = [share for backend, share in got.items() if backend not in set(want.backends)]
    by_address = {backend.address: backend for backend in missing}
    for share in stale:
        other = by_address.pop(share.backend.address, None)
        if other is not None:
            missing.remove(other)
            kind = DifferenceKind.WRONG_TARGET if item.named_port else DifferenceKind.WRONG_PORT
            row = scope.row(item, kind, origin, share.backend, rule=share.line, share=share.share)
            rows.append(msgspec.structs.replace(row, wanted=other))
        else:
            rows.append(_stale(scope, item, origin, share))
    lost = sum((part for _, part in outcome.other), Fraction(0))
    note = ", ".join(f"{part} {_FATES[verdict]}" for verdict, part in outcome.other)
    part_lost = lost / len(missing) if missing and lost else None
    line = _last_line(outcome)
    rows += [
        scope.row(item, DifferenceKind.MISSING, origin, backend, rule=line, share=part_lost, note=note)
        for backend in missing
    ]
    if missing:
        return rows
    if lost:
        rows.append(scope.row(item, DifferenceKind.SHARE_LOST, origin, rule=_last_line(outcome), share=lost, note=note))
    elif outcome.uneven:
        note = ", ".join(f"{share.share} {share.backend}" for share in outcome.backends)
        rows.append(scope.row(item, DifferenceKind.UNEVEN_SHARES, origin, rule=_last_line(outcome), note=note))
    return rows


def _stale(scope: Scope, item: Expectation, origin: TrafficOrigin, share: Share) -> Difference:
    note = "; ".join(part for part in (confidence(item, share.backend), _other_owner(scope, item)) if part)
    return scope.row(item, DifferenceKind.STALE, origin, share.backend, rule=share.line, share=share.share, note=note)


def confidence(item: Expectation, backend: Backend) -> str:
    """What a backend is that stands in a slice and yet should get nothing; "" for one that stands in none."""
    view = next((endpoint for endpoint in item.endpoints if endpoint.backend == backend), None)
    if view is None:
        return ""
    if not view.ready:
        state = "terminating" if view.terminating else "not ready"
        return f"{state} in slice {view.slice}"
    if item.local_only and not view.local:
        return f"in slice {view.slice}, but not on this node, as the traffic policy Local asks"
    return f"in slice {view.slice}, but not for this node by its topology hints"


def _other_owner(scope: Scope, item: Expectation) -> str:
    """Rules that name another Service at this address are of another time, or of another cluster."""
    entry = scope.table.frontends.get(item.frontend)
    if entry is None or not entry.service or entry.service.partition(":")[0] == item.service.partition(":")[0]:
        return ""
    return f"its rules name {entry.service}: of another cluster, or of a Service that had this address before"


def _treatment(
    scope: Scope, item: Expectation, origin: TrafficOrigin, want: Expected, outcome: PacketOutcome
) -> list[Difference]:
    rows = []
    line = _last_line(outcome)
    if scope.netfilter and want.masquerade is not None:
        if want.masquerade and not all(share.masquerade for share in outcome.backends):
            rows.append(scope.row(item, DifferenceKind.MASQUERADE_MISSING, origin, rule=line))
        elif not want.masquerade and outcome.masquerade:
            rows.append(scope.row(item, DifferenceKind.MASQUERADE_UNEXPECTED, origin, rule=line))
    rows += [
        scope.row(item, DifferenceKind.HAIRPIN_MISSING, origin, share.backend, rule=share.line)
        for share in outcome.backends
        if share.hairpin is False
    ]
    kind = _affinity_kind(item.affinity, outcome)
    if kind is not None:
        rows.append(scope.row(item, kind, origin, rule=line, note=f"{outcome.affinity} s" if outcome.affinity else ""))
    return rows


def _affinity_kind(wanted: int | None, outcome: PacketOutcome) -> DifferenceKind | None:
    got = outcome.affinity
    if wanted is None:
        return DifferenceKind.AFFINITY_UNEXPECTED if got is not None else None
    if got is None or not outcome.affinity_complete:
        return DifferenceKind.AFFINITY_MISSING
    return DifferenceKind.AFFINITY_TIMEOUT if got not in (0, wanted) else None


def _last_line(outcome: PacketOutcome) -> int:
    """The rule that settled it, or came nearest."""
    return outcome.rules[-1].line if outcome.rules else 0


def _by_cluster_ip_check(outcome: PacketOutcome) -> bool:
    """Rejected or dropped only because no rule of a frontend took it (chain of the nftables mode)."""
    return bool(outcome.rules) and outcome.rules[-1].chain == "cluster-ips-check"
