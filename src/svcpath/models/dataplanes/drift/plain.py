"""What is right for a dialect that keeps backends per frontend and no rules around them: IPVS and the eBPF maps.

Each has its own mind about endpoints that are local or not ready: kube-proxy's IPVS mode (pkg/proxy/ipvs/proxier.go),
Cilium and Calico, which list more than kube-proxy would choose from inside the cluster.
"""

from __future__ import annotations

from svcpath.models.dataplanes.expected import Expectation, Expected
from svcpath.models.dataplanes.table import Backend, Dialect, PacketOutcome, PacketVerdict, TrafficOrigin


def wanted_of(
    item: Expectation, origin: TrafficOrigin, source: str, dialect: Dialect, got: PacketOutcome
) -> Expected | None:
    """What should have come out, given what did; None where it is right and needs no further look."""
    if not item.admits(source):
        # Calico has the source ranges in its frontend map; IPVS and Cilium have them in maps of their own.
        shut = dialect is Dialect.CALICO and got.verdict is PacketVerdict.BACKENDS
        return Expected(PacketVerdict.DROP) if shut else None
    choices = _choices(item, origin, dialect)
    want = Expected(PacketVerdict.BACKENDS, choices[0]) if choices[0] else Expected(PacketVerdict.REJECT)
    if got.verdict is PacketVerdict.BACKENDS and _is_right(item, dialect, set(got.addresses), choices):
        return Expected(PacketVerdict.BACKENDS, got.addresses)
    if want.verdict is PacketVerdict.REJECT and got.verdict is not PacketVerdict.BACKENDS:
        return None
    return want


def _is_right(item: Expectation, dialect: Dialect, got: set[Backend], choices: list[tuple[Backend, ...]]) -> bool:
    """A global Service of a cluster mesh has backends of other clusters too, which no slice here names."""
    if dialect is Dialect.CILIUM and item.global_service:
        return item.remote_preferred or any(set(choice) <= got for choice in choices)
    return got in [set(choice) for choice in choices]


def _choices(item: Expectation, origin: TrafficOrigin, dialect: Dialect) -> list[tuple[Backend, ...]]:
    """The sets of backends that are right: the first is what kube-proxy would say."""
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
    if item.external and origin is not TrafficOrigin.EXTERNAL:
        return [item.cluster, item.local, ready]
    if dialect is Dialect.CALICO and origin is TrafficOrigin.EXTERNAL and not item.external:
        return [item.local, ready]  # Calico's internal-local flag is asked for traffic from inside alone
    return [item.local]
