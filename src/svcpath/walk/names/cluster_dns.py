"""The cluster DNS as the evidence holds it: its Service, slices, Pods, logs and configuration.

The DNS Service is the one whose cluster IP the client's resolv.conf names, else kube-system/kube-dns (the name that every
installer keeps for compatibility).
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import EndpointSlice, Pod, Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply

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
    wanted = {canonical(address) for address in nameservers}
    found = next(
        (service for service in services.present if wanted & {canonical(ip) for ip in service.fact.cluster_ips}), None
    ) or next(
        (
            service
            for service in services.present
            if (service.fact.namespace, service.fact.name) == ("kube-system", "kube-dns")
        ),
        None,
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
        pods=tuple(pod for pod in pods.present if _is_dns(pod.fact, found.fact if found else None)),
        logs=tuple(log for log in logs.present if log.fact.component in COMPONENTS),
        corefiles=_distinct(corefiles),
        node_resolv_confs=tuple(config for config in confs.present if config.provenance.node),
        node_cache=any(pod.fact.labels.get("k8s-app") == "node-local-dns" for pod in pods.present),
    )


def _distinct(reply: Reply) -> tuple[Observation[Any], ...]:
    seen: dict[str, Observation[Any]] = {}
    for observed in reply.present:
        seen.setdefault(observed.fact.text, observed)
    return tuple(seen.values())


def _is_dns(pod: Pod, service: Service | None) -> bool:
    selector = (service.spec.selector if service else None) or {"k8s-app": "kube-dns"}
    return not pod.finished and all(pod.labels.get(key) == value for key, value in selector.items())
