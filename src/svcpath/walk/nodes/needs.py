"""What is asked about a node."""

from __future__ import annotations

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.walk.scene import Scene

#: Dumps that hold a table of frontends. The others (connections, ipsets, backends) say more about one.
TABLE_DUMPS = (
    Kind.IPTABLES_SAVE,
    Kind.NFT_LIST,
    Kind.NFT_JSON,
    Kind.PROC_IP_VS,
    Kind.IPVSADM_LN,
    Kind.CILIUM_SERVICE_LIST,
    Kind.CILIUM_BPF_LB_LIST,
    Kind.CALICO_NAT_DUMP,
)
#: Endpoints whose direct connections are looked for in a node's connection tracking.
MAX_ENDPOINTS = 20


def tables(node: str, cost: Cost = Cost.EXEC) -> tuple[Need, ...]:
    """Every dump of a node, of all nodes for ""; with Cost.READ only what is there without a command on the node."""
    permission = "" if cost is Cost.READ else "create pods/exec"
    return tuple(Need(kind, node=node, cost=cost, permission=permission) for kind in TABLE_DUMPS)


def proxy(node: str) -> tuple[Need, ...]:
    """What tells the mode that kube-proxy runs in: its log, its configuration, its metrics."""
    return (Need(Kind.LOG, node=node), Need(Kind.KUBE_PROXY_CONFIG), Need(Kind.METRICS, node=node))


def flows(scene: Scene, node: str) -> Need:
    """What of a node's connection tracking is this Service's: its frontends, and direct connections to its endpoints."""
    return Need(Kind.CONNTRACK, node=node, about=_tuples(scene))


def _tuples(scene: Scene) -> tuple[str, ...]:
    service = scene.service
    if service is None or service.is_external_name:
        return ()
    balancer = service.status.load_balancer if service.status else None
    addresses = [
        *service.cluster_ips,
        *(service.spec.external_ips or ()),
        *(ingress.ip for ingress in (balancer.ingress if balancer else None) or () if ingress.ip),
        *(endpoint.address for endpoint in scene.usable[:MAX_ENDPOINTS]),
    ]
    numbers = sorted({port.node_port for port in scene.service_ports if port.node_port})
    return tuple(dict.fromkeys([*addresses, *(f"nodeport/{number}" for number in numbers)]))


def client_node(scene: Scene) -> str:
    """The node the client's connections start from; empty when it is not known: then every node is looked at."""
    request = scene.request
    if request.all_nodes:
        return ""
    if request.client_node:
        return request.client_node
    return (scene.client.fact.spec.node_name or "") if scene.client else ""
