"""Facts of a node that are neither API objects nor rule dumps."""

from __future__ import annotations

import msgspec


class Sysctls(msgspec.Struct, frozen=True):
    """Keys with dots (net.ipv4.ip_forward), values as printed."""

    values: dict[str, str]


class HairpinModes(msgspec.Struct, frozen=True):
    """Bridge port name -> hairpin_mode (true = 1), from /sys/class/net/BRIDGE/brif/PORT/hairpin_mode."""

    ports: dict[str, bool]


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One route as `ip route show table all` prints it. ``destination`` is a prefix (0.0.0.0/0 for default); ``kind`` unicast,
    local, blackhole, unreachable, prohibit, throw, broadcast, ...; ``device`` "" where several hops share the route."""

    destination: str
    kind: str = "unicast"
    table: str = "main"
    device: str = ""
    via: str = ""
    metric: int = 0
    mtu: int = 0


class RoutingRule(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `ip rule`. ``source`` and ``destination`` are prefixes, "" for all; ``action`` lookup, blackhole, ...;
    ``other`` are the selectors that are not addresses (fwmark, iif, ...) as printed."""

    priority: int
    family: int
    table: str = ""
    action: str = "lookup"
    source: str = ""
    destination: str = ""
    other: str = ""


class RoutingTables(msgspec.Struct, frozen=True, kw_only=True):
    """A node's routes, the rules that choose a table, and the MTU of each interface. Without rules the kernel's three
    stand (local, main, default). ``unread``: lines that were not understood."""

    routes: tuple[Route, ...] = ()
    rules: tuple[RoutingRule, ...] = ()
    mtus: dict[str, int] = {}
    unread: int = 0


class NodeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A line or two about a node: its name, the STATUS column of `kubectl get nodes` (Ready, NotReady, Unknown, ...),
    its kernel release, its kube-proxy version ("1.28"); what is not given is empty. ``note`` is the rest of the line.
    One node can have several reports, e.g. one per kube-proxy version it ran."""

    name: str = ""
    status: str = ""
    kernel: str = ""
    kube_proxy: str = ""
    note: str = ""


class NodeReports(msgspec.Struct, frozen=True):
    nodes: tuple[NodeReport, ...]


class KubeProxyConfig(msgspec.Struct, frozen=True, kw_only=True):
    """KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1); "" where not set."""

    mode: str = ""


class MetricSample(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of a Prometheus text exposition."""

    name: str
    value: float
    labels: dict[str, str] = {}


class Metrics(msgspec.Struct, frozen=True):
    samples: tuple[MetricSample, ...]


class HealthReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's healthCheckNodePort answered."""

    node: str
    port: int
    status: int
    namespace: str = ""
    name: str = ""
    local_endpoints: int | None = None


class HealthReplies(msgspec.Struct, frozen=True):
    replies: tuple[HealthReply, ...]


class LoadBalancerTarget(msgspec.Struct, frozen=True, kw_only=True):
    id: str = ""
    port: int = 0
    state: str = ""
    reason: str = ""


class LoadBalancerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Target group settings and target states, seconds where a duration; None where not given."""

    health_check_interval: float | None = None
    unhealthy_threshold: int | None = None
    healthy_threshold: int | None = None
    deregistration_delay: float | None = None
    targets: tuple[LoadBalancerTarget, ...] = ()


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """Which resolver a container's application goes through, and how that is known."""

    resolver: str
    evidence: str


class JvmSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What decides a JVM's name cache: command line flags as given (-Dsun.net.inetaddr.ttl=30), whether a
    SecurityManager is installed (None: not known), and the properties set in the java.security file."""

    flags: tuple[str, ...] = ()
    security_manager: bool | None = None
    security_properties: dict[str, str] = {}


class JvmRuns(msgspec.Struct, frozen=True):
    """One entry per JVM (or per variant of its settings) that the evidence describes, in recorded order."""

    settings: tuple[JvmSettings, ...]
