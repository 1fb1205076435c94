"""Headless Services: no ready endpoint, no record; and a record that exists now but may still be denied from a cache."""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.dns import TimelineEntry
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.resolvers.servers.coredns import denial_seconds
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution.corefile_checks import cluster_domain
from svcpath.walk.names.client import Client
from svcpath.walk.names.world import Answering
from svcpath.walk.scene import Scene


def check(view: Scene, client: Client, answering: Answering) -> Asking[CheckResult]:
    service = view.service
    if service is None or not service.is_headless or not view.slices:
        return CheckResult(looked=False)
    timelines = yield from ask.one(Need(Kind.TIMELINE))
    if not view.ready:
        return CheckResult(findings=(_no_record(view),))
    entries = [(entry, timeline) for timeline in timelines.present for entry in timeline.fact.entries]
    denied = [(entry, timeline) for entry, timeline in entries if entry.rcode == "NXDOMAIN" and _is_ours(view, entry)]
    if not denied:
        return CheckResult(looked=False)
    bound, where = _bound(client, answering)
    published = bool(service.spec.publish_not_ready_addresses)
    addresses = ", ".join(endpoint.address for endpoint in view.ready[:3])
    later = any(entry.rcode == "NOERROR" and (entry.start or 0) > (denied[-1][0].start or 0) for entry, _ in entries)
    finding_ = finding(
        "SP117",
        Status.WARN,
        f"the record exists in the slice ({addresses}); an earlier NXDOMAIN is negatively cached up to {bound} s"
        + ("; publishNotReadyAddresses is already set" if published else ""),
        evidence=(
            *(Evidence(f"timeline: {entry.event}", timeline) for entry, timeline in denied[:2]),
            *(Evidence(f"slice {slice_.fact.name}: {addresses}", slice_) for slice_ in view.slices[:1]),
            *((Evidence("the bound is the denial TTL of the CoreDNS cache plugin", where),) if where else ()),
        ),
        confidence=Confidence.SUPPORTED if later else Confidence.POSSIBLE,
        names={"seconds": bound},
    )
    return CheckResult(findings=(finding_,))


def _is_ours(view: Scene, entry: TimelineEntry) -> bool:
    labels = entry.name.rstrip(".").split(".")
    return not entry.name or view.named in labels[:2]


def _bound(client: Client, answering: Answering) -> tuple[int, Observation[Any] | None]:
    """The denial TTL of the Corefile's cache plugin; 30 s (the kubeadm Corefile's) when none is in the evidence."""
    for config in answering.configs:
        if config.serves_cluster:
            zone = cluster_domain(client) or next(
                (zone.name for block, _ in config.corefile.plugins("kubernetes") for zone in block.zones), "."
            )
            return denial_seconds(config.corefile, zone), config.observation
    return 30, None


def _no_record(view: Scene) -> Finding:
    total = len(view.distinct)
    return finding(
        "SP116",
        Status.FAIL,
        f"{view.named} is headless and 0 of {total} endpoints are ready: CoreDNS answers NXDOMAIN",
        evidence=tuple(Evidence(f"slice {slice_.fact.name}: no endpoint ready", slice_) for slice_ in view.slices[:3]),
        confidence=Confidence.SUPPORTED,
        cause_layer="endpoints",
        share="every lookup of the name",
        namespace=view.request.namespace,
        service=view.request.service,
    )
