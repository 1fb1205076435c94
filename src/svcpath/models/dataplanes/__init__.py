"""How a node carries a connection to a Service, whatever the data plane: one table, one trace, one notion of drift.

    tables = parse(Kind.IPTABLES_SAVE, text, node="w1", node_addresses=...)    dump -> ServiceTable (one per mode found)
    trace(table, Packet(source, Origin.POD, "TCP", address, port)) -> Outcome   where a new connection goes, rules met
    expected(service, slices, node_view(node)) -> (Expectation, ...)            what a correct node must have
    drift(table, services, slices, node_view(node), times=...) -> DriftReport   the difference, both ways

Pure: nothing here reads a file, a clock or the network. Raw dumps arrive as text, API objects as facts/kubernetes
has them. ``ruleset`` holds rules of netfilter as data, ``netfilter`` walks packets through them, ``layout`` finds
kube-proxy's frontends in them; ``iptables`` and ``nftables`` (text, JSON, commands) parse; ``names`` knows
the chain hashes.
"""

from svcpath.models.dataplanes.drift import WITHOUT_EFFECT, DriftReport, Kind, Row, SliceIndex, drift, some_pod
from svcpath.models.dataplanes.expected import (
    Categories,
    EndpointView,
    Expectation,
    Expected,
    NodeView,
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
    Entry,
    ForeignRule,
    Frontend,
    NotUnderstood,
    Origin,
    Outcome,
    RuleMet,
    ServiceTable,
    Share,
    Verdict,
)
from svcpath.models.dataplanes.times import Cause, Times, changed_at, times_of
from svcpath.models.dataplanes.trace import Packet, Tracer, policies, trace, tracer

__all__ = [
    "ANY_IPV4",
    "ANY_IPV6",
    "LOCAL_REDIRECT",
    "WITHOUT_EFFECT",
    "Backend",
    "Categories",
    "Cause",
    "Detector",
    "Dialect",
    "DriftReport",
    "EndpointView",
    "Entry",
    "Expectation",
    "Expected",
    "ForeignRule",
    "Frontend",
    "Kind",
    "NodeView",
    "NotUnderstood",
    "Origin",
    "Outcome",
    "Packet",
    "Row",
    "RuleMet",
    "ServiceTable",
    "Share",
    "SliceIndex",
    "Times",
    "Tracer",
    "Verdict",
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
    "policies",
    "some_pod",
    "times_of",
    "trace",
    "tracer",
]
