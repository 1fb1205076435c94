"""Cilium's connection entries: a flow whose entry names a backend id that is gone fails alone, the maps being right."""

from __future__ import annotations

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.dataplanes.cilium import backends as read_backends
from svcpath.models.dataplanes.cilium import ct_entries
from svcpath.models.dataplanes.conntrack import lost_backends
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Asking
from svcpath.walk.nodes.tables import parsed
from svcpath.walk.scene import Scene, host_port


def check(view: Scene, node: str) -> Asking[CheckResult]:
    entries, backends, lists, monitors = yield (
        Need(Kind.CILIUM_BPF_CT_LIST, node=node),
        Need(Kind.CILIUM_BPF_LB_BACKENDS, node=node),
        Need(Kind.CILIUM_BPF_LB_LIST, node=node),
        Need(Kind.CILIUM_MONITOR, node=node),
    )
    if not entries.present or not backends.present:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    addresses = set(view.service.cluster_ips) if view.service else set()
    try:
        known = {key: value for dump in backends.present for key, value in read_backends(dump.fact.text)[0].items()}
        tables = [table for dump in lists.present for table in parsed(dump.kind, dump.fact)]
        flows = [(entry, dump) for dump in entries.present for entry in ct_entries(dump.fact.text)[0]]
    except FormatError:
        return CheckResult(looked=False)  # the recogniser's finding names the damaged file
    for entry, dump in flows:
        for lost in lost_backends([entry], known, tables[0] if tables else None):
            if addresses and entry.destination not in addresses:
                continue
            tuple_text = f"{host_port(entry.source, entry.source_port)} -> {host_port(entry.destination, entry.destination_port)}"
            remaining = ", ".join(str(backend) for backend in lost.remaining)
            drops = [
                events for events in monitors.present if host_port(entry.source, entry.source_port) in events.fact.text
            ]
            findings.append(
                finding(
                    "SP612",
                    Status.FAIL,
                    f"CT entry for source port {entry.source_port} ({tuple_text}) refers to BackendID {lost.backend_id}, not in the "
                    f"backend map; the Service has {count(len(lost.remaining), 'backend')} ({remaining}): stale CT, not a missing endpoint; "
                    "only that tuple fails",
                    evidence=(
                        Evidence(f"bpf ct list: {tuple_text} BackendID={lost.backend_id}", dump),
                        *(
                            Evidence(f"backend map: {', '.join(str(key) for key in sorted(known))}", dump)
                            for dump in backends.present[:1]
                        ),
                        *(Evidence("monitor: Service backend not found", events) for events in drops[:1]),
                    ),
                    confidence=Confidence.PROVEN if drops else Confidence.SUPPORTED,
                    share=f"the flow from {host_port(entry.source, entry.source_port)}",
                    id=lost.backend_id,
                )
            )
    return CheckResult(findings=tuple(findings))
