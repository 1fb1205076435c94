"""Waits until a scene is served as it should be, before its fault is made.

What an earlier fault left behind (a CoreDNS whose watch was cut, a kube-proxy that thaws) must not be found as this one's. Looked
at is what both made of the scene's Service: every ready Pod behind kube-dns answers with its cluster IPs, and the table of
each node that the provider reaches into has its cluster IPs and ready endpoints.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from svcpath_lab import resources
from svcpath_lab.errors import LabError
from svcpath_lab.faults.ground import Ground
from svcpath_lab.providers.base import NotOffered

#: Seconds that an informer needs at most to see that its watch is cut, and to list again (client-go pings after 30 s of
#: silence and gives up 15 s later).
PATIENCE = 90.0
_PAUSE = 0.5
DOMAIN = "cluster.local"
_TABLES = "iptables-save; ip6tables-save; nft list table ip kube-proxy; nft list table ip6 kube-proxy; :"
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:]*:[0-9a-f.]*")

#: Taints that the node lifecycle controller sets and takes away as nodes come and go.
_NODE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")

Object = Mapping[str, Any]


def wait_for_nodes(ground: Ground, *, seconds: float = PATIENCE, sleep: Callable[[float], None] = time.sleep) -> None:
    """Return once every node of the lab's takes Pods again, so that a scene is spread as it should be; raises LabError like ``wait``."""
    names = ground.provider.nodes()
    _until(
        lambda: unready(node for node in ground.kubectl.items("nodes") if node["metadata"]["name"] in names),
        seconds,
        sleep,
    )


def unready(nodes: Iterable[Object]) -> list[str]:
    """The nodes that are not Ready, or that still carry a taint of the node controller's."""
    found = []
    for node in nodes:
        name = node["metadata"]["name"]
        conditions = {
            condition["type"]: condition["status"] for condition in node.get("status", {}).get("conditions") or ()
        }
        taints = [taint["key"] for taint in node.get("spec", {}).get("taints") or () if taint["key"] in _NODE_TAINTS]
        if conditions.get("Ready") != "True":
            found.append(f"node {name} is not ready")
        elif taints:
            found.append(f"node {name} has taint {', '.join(taints)}")
    return found


def wait(ground: Ground, *, seconds: float = PATIENCE, sleep: Callable[[float], None] = time.sleep) -> None:
    """Return once the scene's Service is served; raises LabError with what is missing when it is not within ``seconds``."""
    service = ground.service()
    if not cluster_ips(service):
        return  # headless or ExternalName: nothing is programmed, and its records follow its endpoints
    _until(lambda: [*_denied(ground, service), *_unwritten(ground, service)], seconds, sleep)


def _until(missing: Callable[[], list[str]], seconds: float, sleep: Callable[[float], None]) -> None:
    deadline = time.monotonic() + seconds
    while lines := missing():
        if time.monotonic() > deadline:
            raise LabError(f"not made: {'; '.join(lines)} after {seconds:g} s, which is no fault of this one's doing")
        sleep(_PAUSE)


def cluster_ips(service: Object) -> tuple[str, ...]:
    """The addresses that names and nodes have to give for a Service; none for a headless or an ExternalName one."""
    spec = service["spec"]
    return () if spec.get("clusterIP") in (None, "", "None") else tuple(spec.get("clusterIPs") or (spec["clusterIP"],))


# --- CoreDNS ------------------------------------------------------------------------------------------------------------


def _denied(ground: Ground, service: Object) -> list[str]:
    """What each ready server behind kube-dns does not say as it should; nothing where a cluster has no such Service."""
    kubectl, scene = ground.kubectl, ground.scene
    system = ("-n", "kube-system")
    if not kubectl.items(*system, "services", "--field-selector=metadata.name=kube-dns"):
        return []
    servers = dns_servers(kubectl.items(*system, "endpointslices", "-l", "kubernetes.io/service-name=kube-dns"))
    if not servers:
        return ["no CoreDNS is ready"]
    name = f"{scene.service}.{scene.namespace}.svc.{DOMAIN}"
    script = (resources.folder() / "ask_dns.py").read_text(encoding="utf-8")
    done = kubectl.exec(scene.namespace, scene.client, ["python3", "-c", script, name, *servers])
    if done.code != 0:
        return [f"the client can't be asked: {(done.err or done.out).strip()[-120:]}"]
    return wrong_answers(done.out, cluster_ips(service))


def dns_servers(slices: Iterable[Object]) -> tuple[str, ...]:
    """ADDRESS:PORT of every ready endpoint that takes DNS over UDP."""
    found: dict[str, None] = {}
    for slice_ in slices:
        ports = [
            port["port"] for port in slice_.get("ports") or () if port.get("protocol") == "UDP" and port.get("port")
        ]
        for endpoint in slice_.get("endpoints") or ():
            conditions = endpoint.get("conditions") or {}
            if conditions.get("ready", True) and ports:
                found |= dict.fromkeys(f"{address}:{ports[0]}" for address in endpoint["addresses"])
    return tuple(found)


def wrong_answers(out: str, wanted: Iterable[str]) -> list[str]:
    """The lines of ask_dns.py that do not give all of ``wanted``."""
    right = {ipaddress.ip_address(address) for address in wanted}
    wrong = []
    for line in out.splitlines():
        server, code, *given = line.split()
        if code != "0" or not right <= {ipaddress.ip_address(address) for address in given}:
            wrong.append(
                f"CoreDNS at {server} says {' '.join(('rcode', code, *given)) if code != 'silent' else 'nothing'}"
            )
    return wrong


# --- kube-proxy ---------------------------------------------------------------------------------------------------------


def _unwritten(ground: Ground, service: Object) -> list[str]:
    """What is missing in the tables of the nodes that take Pods; nothing where the provider does not reach into nodes."""
    slices = ground.kubectl.items(
        *("-n", ground.scene.namespace, "endpointslices", "-l", f"kubernetes.io/service-name={ground.scene.service}")
    )
    wanted = programmed(service, slices)
    unwritten = []
    for node in ground.provider.nodes():
        try:
            done = ground.provider.run_on_node(node, ["sh", "-c", f"( {_TABLES} ) 2>/dev/null"], check=False)
        except NotOffered:
            return []
        missing = wanted - addresses_in(done.out)
        if missing:
            unwritten.append(f"kube-proxy of {node} has not written {', '.join(sorted(map(str, missing)))}")
    return unwritten


def programmed(service: Object, slices: Iterable[Object]) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """The addresses that every node's table has for a Service: its own, and those of ready endpoints where all nodes
    have all of them."""
    spec = service["spec"]
    labels = service["metadata"].get("labels") or {}
    if "service.kubernetes.io/service-proxy-name" in labels:
        return set()
    wanted = {ipaddress.ip_address(address) for address in cluster_ips(service)}
    if spec.get("internalTrafficPolicy") == "Local" or spec.get("trafficDistribution"):
        return wanted
    named = {(port.get("name") or "", port.get("protocol", "TCP")) for port in spec.get("ports") or ()}
    families = {address.version for address in wanted}
    for slice_ in slices:
        carried = {(port.get("name") or "", port.get("protocol", "TCP")) for port in slice_.get("ports") or ()}
        for endpoint in (slice_.get("endpoints") or ()) if carried & named else ():
            if (endpoint.get("conditions") or {}).get("ready", True):
                wanted |= {ipaddress.ip_address(address) for address in endpoint["addresses"]}
    return {address for address in wanted if address.version in families}


def addresses_in(text: str) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Every address in a dump of rules, as a value."""
    found = set()
    for word in set(_ADDRESS.findall(text)):
        try:
            found.add(ipaddress.ip_address(word))
        except ValueError:
            continue  # a time, a part of a name
    return found
