"""The cluster DNS itself: does a ready Pod stand behind its address, and what does it say in its log?

The DNS Service is the one whose cluster IP the client's resolv.conf names, else kube-system/kube-dns (the name that every
installer keeps for compatibility).
"""

from __future__ import annotations

import re
from typing import Any

from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.subjects.readiness import why_not_ready

LOOP = re.compile(r"\[FATAL\] plugin/loop: Loop \(([^)]*)\) detected for zone \"([^\"]*)\"")
ERROR = re.compile(r"\[ERROR\] plugin/errors: \d+ (\S+)\.? (\S+): (.*)")


def check(dns: ClusterDns, names: tuple[str, ...] = ()) -> CheckResult:
    """``names`` are what the client asks for: only errors about them count, a log holds many that are old."""
    loop = _loop(dns)
    findings: list[Finding] = [*loop, *_errors(dns, names)]
    endpoints = [endpoint for slice_ in dns.slices for endpoint in slice_.fact.endpoints or ()]
    ready = [endpoint for endpoint in endpoints if endpoint.ready]
    if dns.slices and not ready and not loop:
        findings.append(_no_endpoint(dns))
    sick = [pod for pod in dns.pods if pod.fact.ready is False and not pod.fact.deleting]
    if sick and (ready or not dns.slices) and not loop:
        findings.append(_sick(dns, sick))
    # A DNS that is up says nothing yet about the name: only its faults count as having looked.
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _loop(dns: ClusterDns) -> list[Finding]:
    """A loop that CoreDNS saw itself. An old log of a Pod that is ready now is no finding."""
    endpoints = [endpoint for slice_ in dns.slices for endpoint in slice_.fact.endpoints or ()]
    if any(endpoint.ready for endpoint in endpoints) or any(pod.fact.ready for pod in dns.pods):
        return []
    for log in dns.logs:
        match = LOOP.search(log.fact.text)
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
                    Evidence(f"CoreDNS log: Loop ({match[1]}) detected", log),
                    *(
                        Evidence(f"the node's resolv.conf: nameserver {server}, the upstream address is loopback", conf)
                        for server, conf in loopback[:1]
                    ),
                    *(Evidence(f"slice {slice_.fact.name}: no endpoint ready", slice_) for slice_ in dns.slices[:1]),
                ),
                confidence=Confidence.PROVEN,
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
    observed: list[tuple[str, str, Observation[Any]]] = []
    for log in dns.logs:
        for match in ERROR.finditer(log.fact.text):
            asked = match[1].rstrip(".").lower()
            if any(asked == name or asked.startswith(f"{name}.") for name in wanted):
                observed.append((asked, match[3].strip(), log))
    if not observed:
        return []
    asked, why, newest = observed[-1]
    return [
        finding(
            "SP115",
            Status.WARN,
            f"CoreDNS logs {count(len(observed), 'error')} about {asked}: {why[:200]}",
            evidence=(Evidence(f"log: {asked}: {why[:200]}", newest),),
            confidence=Confidence.SUPPORTED,
            names={"name": asked},
        )
    ]


def _no_endpoint(dns: ClusterDns) -> Finding:
    whys = "; ".join(f"{pod.fact.name}: {why_not_ready(pod.fact)}" for pod in dns.pods[:3])
    listed = sum(len(slice_.fact.endpoints or ()) for slice_ in dns.slices)
    return finding(
        "SP110",
        Status.FAIL,
        f"{dns.name} has no ready endpoint (0 of {listed})" + (f": {whys}" if whys else ""),
        evidence=(
            *(Evidence(f"slice {slice_.fact.name}: no endpoint ready", slice_) for slice_ in dns.slices[:2]),
            *(Evidence(f"Pod {pod.fact.name}: {why_not_ready(pod.fact)}", pod) for pod in dns.pods[:3]),
        ),
        confidence=Confidence.PROVEN,
        share="every lookup through the cluster DNS",
        dns_service=dns.name,
    )


def _sick(dns: ClusterDns, sick: list[Observation[Pod]]) -> Finding:
    whys = "; ".join(f"{pod.fact.name}: {why_not_ready(pod.fact)}" for pod in sick[:3])
    return finding(
        "SP120",
        Status.WARN,
        f"{len(sick)} of {len(dns.pods)} CoreDNS Pods are not ready ({whys})",
        evidence=tuple(Evidence(f"Pod {pod.fact.name}: {why_not_ready(pod.fact)}", pod) for pod in sick[:3]),
        confidence=Confidence.PROVEN,
        names={"zone": "."},
    )
