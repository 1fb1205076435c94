"""What a layer asks for. A layer yields batches of Needs and is sent, for each, the Observations that meet it."""

from __future__ import annotations

import enum

import msgspec


class Kind(enum.Enum):
    """Kinds of fact. One word per kind, shared by Needs, Observations, formats and bundles."""

    # Kubernetes objects (facts/kubernetes)
    SERVICE = "Service"
    ENDPOINT_SLICE = "EndpointSlice"
    ENDPOINTS = "Endpoints"
    POD = "Pod"
    NODE = "Node"
    EVENT = "Event"
    CONFIG_MAP = "ConfigMap"
    NAMESPACE = "Namespace"
    NETWORK_POLICY = "NetworkPolicy"
    WORKLOAD = "Workload"
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"
    OTHER_OBJECT = "OtherObject"
    # inside a container (facts/text.py, facts/sockets.py, facts/connections.py)
    RESOLV_CONF = "resolv.conf"
    HOSTS = "hosts"
    NSSWITCH_CONF = "nsswitch.conf"
    ENVIRONMENT = "environment"
    RUNTIME = "runtime"
    JVM = "jvm"
    SOCKETS = "sockets"
    ATTEMPTS = "attempts"
    DURATIONS = "durations"
    LOOKUPS = "lookups"
    QUERY = "query"
    TIMELINE = "timeline"
    # cluster DNS (facts/text.py, facts/dns.py)
    DNS_ANSWERS = "dns-answers"
    COREFILE = "Corefile"
    LOG = "log"
    # a node (facts/text.py, facts/node.py, facts/conntrack.py)
    IPTABLES_SAVE = "iptables-save"
    NFT_LIST = "nft-list"
    NFT_JSON = "nft-json"
    PROC_IP_VS = "ip_vs"
    IPVSADM_LN = "ipvsadm-Ln"
    IPVSADM_LCN = "ipvsadm-Lcn"
    IPSET = "ipset"
    CILIUM_SERVICE_LIST = "cilium-service-list"
    CILIUM_BPF_LB_LIST = "cilium-bpf-lb-list"
    CILIUM_BPF_LB_BACKENDS = "cilium-bpf-lb-backends"
    CILIUM_BPF_CT_LIST = "cilium-bpf-ct-list"
    CILIUM_MONITOR = "cilium-monitor"
    CALICO_NAT_DUMP = "calico-nat-dump"
    CONNTRACK = "conntrack"
    CONNTRACK_STATS = "conntrack-stats"
    SYSCTL = "sysctl"
    HAIRPIN_MODE = "hairpin_mode"
    ROUTES = "routes"
    NODE_REPORT = "node-report"
    KUBE_PROXY_CONFIG = "kube-proxy-config"
    METRICS = "metrics"
    # around the cluster
    HEALTH_REPLIES = "health-replies"
    LOAD_BALANCER_HEALTH = "load-balancer-health"
    # the evidence itself
    UNPLACED = "unplaced"
    DAMAGED = "damaged"
    MIXED_CLUSTERS = "mixed-clusters"


#: Kinds whose fact is a RawText of that very dialect: the model that owns the dialect parses it.
DATA_PLANE_DUMPS = (
    Kind.IPTABLES_SAVE,
    Kind.NFT_LIST,
    Kind.NFT_JSON,
    Kind.PROC_IP_VS,
    Kind.IPVSADM_LN,
    Kind.IPVSADM_LCN,
    Kind.IPSET,
    Kind.CILIUM_SERVICE_LIST,
    Kind.CILIUM_BPF_LB_LIST,
    Kind.CILIUM_BPF_LB_BACKENDS,
    Kind.CILIUM_BPF_CT_LIST,
    Kind.CILIUM_MONITOR,
    Kind.CALICO_NAT_DUMP,
)


class Cost(enum.IntEnum):
    """What a look costs the cluster, in the order in which looks are preferred."""

    READ = 0  #: an API read or a file
    EXEC = 1  #: a command in a container that is there
    PROBE = 2  #: traffic: a connection, a query


class Need(msgspec.Struct, frozen=True):
    """One question to a Source.

    The subject is given by the fields that are set: ``namespace`` and ``name`` of an object (an empty name asks for
    all of the namespace), ``node``, ``pod`` ("namespace/name") and ``container`` for state that lives there. An empty
    ``node`` or ``pod`` asks for every one that there is, pod "?" for what the evidence names no owner of. ``service``
    narrows slices and events to one Service. ``permission`` names the right a live source must have, e.g. "create
    pods/exec". ``about`` says what a live look is about and bounds it: the names to look up (LOOKUPS), what to
    connect to as URLs, one per attempt (ATTEMPTS), the frontends whose flows count, as addresses and node ports
    (CONNTRACK), health check ports (HEALTH_REPLIES), the namespaces or nodes that are enough (a kind asked for without
    one). Recorded evidence gives all it has.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    service: str = ""
    node: str = ""
    pod: str = ""
    container: str = ""
    cost: Cost = Cost.READ
    permission: str = ""
    about: tuple[str, ...] = ()
