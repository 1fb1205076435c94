"""The cluster DNS itself: does a ready Pod stand behind its address, and what does it say in its log?

The DNS Service is the one whose cluster IP the client's resolv.conf names, else kube-system/kube-dns (the name that every
installer keeps for compatibility).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Pod, Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, Judgement, Standing, Status
from svcpath.walk.layers.endpoints.readiness import why_not_ready
from svcpath.walk.scene import canonical

LOOP = re.compile(r"\[FATAL\] plugin/loop: Loop \(([^)]*)\) detected for zone \"([^\"]*)\"")
ERROR = re.compile(r"\[ERROR\] plugin/errors: \d+ (\S+)\.? (\S+): (.*)")
COMPONENTS = ("coredns", "node-local-dns")


class ClusterDns(msgspec.Struct, frozen=True):
    """What the evidence holds of the cluster DNS. ``node_cache``: a NodeLocal DNSCache runs beside it."""

    service: Observation[Service] | None
    slices: tuple[Observation[EndpointSlice], ...]
    pods: tuple[Observation[Pod], ...]
    logs: tuple[Observation[Any], ...]
    corefiles: tuple[Observation[Any], ...]
    node_resolv_confs: tuple[Observation[Any], ...]
    node_cache: bool = False

    @property
    def name(self) -> str:
        return self.service.fact.name if self.service else "kube-dns"


def gather(nameservers: tuple[str, ...], namespaces: tuple[str, ...] = ()) -> Asking[ClusterDns]:
    services = yield from ask.one(Need(Kind.SERVICE, about=namespaces))
    wanted = {canonical(one) for one in nameservers}
    found = next(
        (one for one in services.present if wanted & {canonical(ip) for ip in one.fact.cluster_ips}), None
    ) or next(
        (one for one in services.present if (one.fact.namespace, one.fact.name) == ("kube-system", "kube-dns")), None
    )
    namespace = found.fact.namespace if found else "kube-system"
    name = found.fact.name if found else "kube-dns"
    slices, pods, logs, corefiles, confs = yield (
        Need(Kind.ENDPOINT_SLICE, namespace=namespace, service=name),
        Need(Kind.POD, namespace=namespace),
        Need(Kind.LOG),
        Need(Kind.COREFILE),
        Need(Kind.RESOLV_CONF),
    )
    return ClusterDns(
        service=found,
        slices=slices.present,
        pods=tuple(one for one in pods.present if _is_dns(one.fact, found.fact if found else None)),
        logs=tuple(one for one in logs.present if one.fact.component in COMPONENTS),
        corefiles=_distinct(corefiles),
        node_resolv_confs=tuple(one for one in confs.present if one.provenance.node),
        node_cache=any(one.fact.labels.get("k8s-app") == "node-local-dns" for one in pods.present),
    )


def _distinct(reply: Reply) -> tuple[Observation[Any], ...]:
    seen: dict[str, Observation[Any]] = {}
    for one in reply.present:
        seen.setdefault(one.fact.text, one)
    return tuple(seen.values())


def _is_dns(pod: Pod, service: Service | None) -> bool:
    selector = (service.spec.selector if service else None) or {"k8s-app": "kube-dns"}
    return not pod.finished and all(pod.labels.get(key) == value for key, value in selector.items())


def check(dns: ClusterDns, names: tuple[str, ...] = ()) -> Judgement:
    """``names`` are what the client asks for: only errors about them count, a log holds many that are old."""
    loop = _loop(dns)
    findings: list[Finding] = [*loop, *_errors(dns, names)]
    endpoints = [endpoint for one in dns.slices for endpoint in one.fact.endpoints or ()]
    ready = [endpoint for endpoint in endpoints if endpoint.ready]
    if dns.slices and not ready and not loop:
        findings.append(_no_endpoint(dns))
    sick = [one for one in dns.pods if one.fact.ready is False and not one.fact.deleting]
    if sick and (ready or not dns.slices) and not loop:
        findings.append(_sick(dns, sick))
    # A DNS that is up says nothing yet about the name: only its faults count as having looked.
    return Judgement(findings=tuple(findings), looked=bool(findings))


def _loop(dns: ClusterDns) -> list[Finding]:
    """A loop that CoreDNS saw itself. An old log of a Pod that is ready now is no finding."""
    endpoints = [endpoint for one in dns.slices for endpoint in one.fact.endpoints or ()]
    if any(endpoint.ready for endpoint in endpoints) or any(one.fact.ready for one in dns.pods):
        return []
    for one in dns.logs:
        match = LOOP.search(one.fact.text)
        if match is None:
            continue
        loopback = [
            (server, conf)
            for conf in dns.node_resolv_confs
            for server in re.findall(r"(?m)^\s*nameserver\s+(\S+)", conf.fact.text)
            if server.startswith("127.") or server == "::1"
        ]
        stub = f" a loopback stub ({loopback[0][0]})" if loopback else " itself"
        gone = f"; {dns.name} has no ready endpoint" if dns.slices and endpoints else ""
        return [
            finding(
                "SP111",
                Status.FAIL,
                f"CoreDNS forwards to{stub} and exits: forwarding loop ({match[1]}) for zone {match[2]!r}{gone}",
                evidence=(
                    Evidence(f"CoreDNS log: Loop ({match[1]}) detected", one),
                    *(
                        Evidence(f"the node's resolv.conf: nameserver {server}, the upstream address is loopback", conf)
                        for server, conf in loopback[:1]
                    ),
                    *(Evidence(f"slice {each.fact.name}: no endpoint ready", each) for each in dns.slices[:1]),
                ),
                standing=Standing.PROVEN,
                remedy="fix the kubelet's resolvConf (/run/systemd/resolve/resolv.conf) and restart the CoreDNS Pods; "
                "deleting the loop plugin only hides it",
                share="every lookup through the cluster DNS",
                names={"zone": "."},
            )
        ]
    return []


def _errors(dns: ClusterDns, names: tuple[str, ...]) -> list[Finding]:
    """Error lines of plugin/errors about a name that the client asks for, in any of its search forms."""
    wanted = tuple(name.rstrip(".").lower() for name in names)
    held: list[tuple[str, str, Observation[Any]]] = []
    for one in dns.logs:
        for match in ERROR.finditer(one.fact.text):
            asked = match[1].rstrip(".").lower()
            if any(asked == name or asked.startswith(f"{name}.") for name in wanted):
                held.append((asked, match[3].strip(), one))
    if not held:
        return []
    asked, why, one = held[-1]
    return [
        finding(
            "SP115",
            Status.WARN,
            f"CoreDNS logs {len(held)} errors about {asked}: {why[:200]}",
            evidence=(Evidence(f"log: {asked}: {why[:200]}", one),),
            standing=Standing.SUPPORTED,
            names={"name": asked},
        )
    ]


def _no_endpoint(dns: ClusterDns) -> Finding:
    whys = "; ".join(f"{one.fact.name}: {why_not_ready(one.fact)}" for one in dns.pods[:3])
    count = sum(len(one.fact.endpoints or ()) for one in dns.slices)
    return finding(
        "SP110",
        Status.FAIL,
        f"{dns.name} has no ready endpoint (0 of {count})" + (f": {whys}" if whys else ""),
        evidence=(
            *(Evidence(f"slice {one.fact.name}: no endpoint ready", one) for one in dns.slices[:2]),
            *(Evidence(f"Pod {one.fact.name}: {why_not_ready(one.fact)}", one) for one in dns.pods[:3]),
        ),
        standing=Standing.PROVEN,
        share="every lookup through the cluster DNS",
        dns_service=dns.name,
    )


def _sick(dns: ClusterDns, sick: list[Observation[Pod]]) -> Finding:
    whys = "; ".join(f"{one.fact.name}: {why_not_ready(one.fact)}" for one in sick[:3])
    return finding(
        "SP120",
        Status.WARN,
        f"{len(sick)} of {len(dns.pods)} CoreDNS Pods are not ready ({whys})",
        evidence=tuple(Evidence(f"Pod {one.fact.name}: {why_not_ready(one.fact)}", one) for one in sick[:3]),
        standing=Standing.PROVEN,
        names={"zone": "."},
    )
