"""How a node carries a connection to a Service, whatever the data plane: one table, one trace, one notion of drift.

    tables = parse(DifferenceKind.IPTABLES_SAVE, text, node="w1", node_addresses=...)    dump -> ServiceTable (one per mode found)
    trace(table, Packet(source, TrafficOrigin.POD, "TCP", address, port)) -> PacketOutcome   where a new connection goes, rules met
    expected(service, slices, node_view(node)) -> (Expectation, ...)            what a correct node must have
    drift(table, services, slices, node_view(node), times=...) -> DriftReport   the difference, both ways

Pure: nothing here reads a file, a clock or the network. Raw dumps arrive as text, API objects as facts/kubernetes
has them. ``ruleset`` holds rules of netfilter as data, ``netfilter`` walks packets through them, ``layout`` finds
kube-proxy's frontends in them; ``iptables`` and ``nftables`` (text, JSON, commands) parse; ``names`` knows
the chain hashes.
"""

from svcpath.models.dataplanes.drift import (
    Difference,
    DifferenceKind,
    DriftReport,
    SliceIndex,
    drift,
    some_pod,
)
from svcpath.models.dataplanes.expected import (
    Categories,
    Expectation,
    Expected,
    NodeView,
    ProxyEndpoint,
    categorize,
    endpoints_of,
    expected,
    health_check,
    is_programmed,
    node_view,
)
from svcpath.models.dataplanes.layout import Detector, detector_of
from svcpath.models.dataplanes.netfilter import own_not_understood
from svcpath.models.dataplanes.parse import parse
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    LOCAL_REDIRECT,
    Backend,
    Dialect,
    ForeignRule,
    Frontend,
    NotUnderstood,
    PacketOutcome,
    PacketVerdict,
    RuleMet,
    ServiceTable,
    Share,
    TableEntry,
    TrafficOrigin,
)
from svcpath.models.dataplanes.times import StaleCause, Times, changed_at, times_of
from svcpath.models.dataplanes.trace import Packet, Tracer, trace, tracer

__all__ = [
    "ANY_IPV4",
    "ANY_IPV6",
    "LOCAL_REDIRECT",
    "Backend",
    "Categories",
    "Detector",
    "Dialect",
    "Difference",
    "DifferenceKind",
    "DriftReport",
    "Expectation",
    "Expected",
    "ForeignRule",
    "Frontend",
    "NodeView",
    "NotUnderstood",
    "Packet",
    "PacketOutcome",
    "PacketVerdict",
    "ProxyEndpoint",
    "RuleMet",
    "ServiceTable",
    "Share",
    "SliceIndex",
    "StaleCause",
    "TableEntry",
    "Times",
    "Tracer",
    "TrafficOrigin",
    "categorize",
    "changed_at",
    "detector_of",
    "drift",
    "endpoints_of",
    "expected",
    "health_check",
    "is_programmed",
    "node_view",
    "own_not_understood",
    "parse",
    "some_pod",
    "times_of",
    "trace",
    "tracer",
]
