"""What answers the client's queries, from evidence: recorded answers first, then the CoreDNS model over the objects.

The model is used only where both its Corefile and the objects it watches are in the evidence, and only for a client that
asks the cluster DNS (or a node-local cache in front of it).
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.evidence.facts.kubernetes import Namespace, ObjectMeta, Service
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.observations import Observations
from svcpath.findings.finding import Evidence
from svcpath.models.resolvers import Layered, RecordedWorld, World
from svcpath.models.resolvers.servers import corefile
from svcpath.models.resolvers.servers.coredns import CoreDns, CoreDnsWorld
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects
from svcpath.models.resolvers.servers.corefile import Corefile
from svcpath.models.resolvers.servers.corefile_lint import lint
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.names import needs

#: Lint codes of lines that change what a candidate of the search list is answered.
SHAPING = ("fallthrough-cluster-zone", "template-nodata", "template-nxdomain")


class CorefileFound(msgspec.Struct, frozen=True):
    """One Corefile of the evidence."""

    corefile: Corefile
    observation: Observation[Any]

    @property
    def serves_cluster(self) -> bool:
        return any(True for _ in self.corefile.plugins("kubernetes"))

    @property
    def bound(self) -> frozenset[str]:
        """Addresses the server binds to (NodeLocal DNSCache binds the cluster DNS address itself)."""
        return frozenset(address for _, plugin in self.corefile.plugins("bind") for address in plugin.args)


class Answering(msgspec.Struct, frozen=True):
    """The world, and what it was made of: ``evidence`` are the recorded answers, or the Corefile and those of its lines
    that shape what search candidates are answered. ``services`` are all Services of the evidence, ``damaged`` Corefiles that do not
    parse, each with why. ``model`` is what CoreDNS has to answer by its Corefile and the objects, whatever was recorded."""

    world: World | None
    model: World | None
    recorded: bool
    evidence: tuple[Evidence, ...]
    configs: tuple[CorefileFound, ...]
    damaged: tuple[tuple[Observation[Any], str], ...]
    services: tuple[Observation[Service], ...]


def gather(client_namespace: str, enough: tuple[str, ...] = ()) -> Asking[Answering]:
    """``enough`` are the namespaces that suffice to answer for the names in question."""
    answers, corefiles, services, slices, pods, namespaces = yield needs.answering(enough)
    configs, damaged = _configs(corefiles)
    rows: list[DnsAnswer] = [row for answer in answers.present for row in answer.fact.rows]
    worlds: list[World] = [RecordedWorld(rows)] if rows else []
    model: World | None = None
    cluster = next((config for config in configs if config.serves_cluster), None)
    if cluster is not None and services.present:
        objects = _cluster(services, slices, pods, namespaces)
        model = CoreDnsWorld(CoreDns(cluster.corefile, objects, client_namespace=client_namespace))
        worlds.append(model)
    return Answering(
        world=Layered(worlds) if worlds else None,
        model=model,
        recorded=bool(rows),
        evidence=tuple(Evidence("the recorded answers", answer) for answer in answers.present) or _shaping(cluster),
        configs=configs,
        damaged=damaged,
        services=services.present,
    )


def _cluster(services: Reply, slices: Reply, pods: Reply, namespaces: Reply) -> WatchedObjects:
    """What CoreDNS watches; made once for the same observations, in however many walks they are asked."""
    parts = (slices.present, pods.present, namespaces.present)
    made: tuple[tuple[Observations, ...], WatchedObjects] | None = services.present.kept.get(WatchedObjects)
    if made is None or made[0] != parts:
        cluster = WatchedObjects(
            services=services.values,
            slices=slices.values,
            pods=pods.values,
            namespaces=_namespaces(namespaces, services, pods),
        )
        made = services.present.kept[WatchedObjects] = (parts, cluster)
    return made[1]


def _shaping(config: CorefileFound | None) -> tuple[Evidence, ...]:
    """The Corefile, and its lines that may answer a search candidate otherwise than NXDOMAIN."""
    if config is None:
        return ()
    where = config.observation.provenance.path or "ConfigMap coredns"
    lines = tuple(
        Evidence(f"Corefile line {lint_finding.line}: {lint_finding.sentence}", config.observation)
        for lint_finding in lint(config.corefile)
        if lint_finding.severity in ("warning", "fault") and lint_finding.code in SHAPING
    )
    return (Evidence(f"the answers of the CoreDNS model over {where} and the objects", config.observation), *lines)


def _configs(reply: Reply) -> tuple[tuple[CorefileFound, ...], tuple[tuple[Observation[Any], str], ...]]:
    configs: dict[str, CorefileFound] = {}
    damaged = []
    for observed in reply.present:
        text = observed.fact.text
        if text in configs:
            continue
        try:
            configs[text] = CorefileFound(corefile.parse(text, path=observed.provenance.path), observed)
        except FormatError as error:
            damaged.append((observed, str(error)))
    return tuple(configs.values()), tuple(damaged)


def _namespaces(namespaces: Reply, services: Reply, pods: Reply) -> tuple[Namespace, ...]:
    """Namespaces as seen, and those in which something is."""
    listed = tuple(namespace.fact for namespace in namespaces.present)
    names = {*services.present.namespaces, *pods.present.namespaces}
    others = sorted(names - {"", *(namespace.name for namespace in listed)})
    return (*listed, *(Namespace(kind="Namespace", metadata=ObjectMeta(name=name)) for name in others))
