"""What surrounds the client's resolver: its resolv.conf, hosts, nsswitch.conf and environment, and the name it asks for.

The client is the Pod named with ``--from``, else the only Pod (or no Pod's) whose resolv.conf is in the evidence. A
resolv.conf of a node is never taken for a client's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import Evidence
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.names import needs
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.urls import asked_host


class Client(msgspec.Struct, frozen=True):
    """``names`` are the names to resolve, as the application writes them, the likeliest first. ``resolvers`` are those
    that the evidence or the user names; empty: not known. ``missing`` says why there is no resolv.conf, as ``not_seen`` did."""

    pod: Observation[Pod] | None
    resolv_conf: Observation[Any] | None
    hosts: Observation[Any] | None
    nsswitch: Observation[Any] | None
    environment: Observation[Any] | None
    names: tuple[str, ...]
    resolvers: tuple[str, ...]
    families: tuple[str, ...]
    missing: str
    not_seen: tuple[Observation[Any], ...] = ()
    derived: str | None = None

    @property
    def conf(self) -> str | None:
        """The text of resolv.conf: as found, else as the kubelet writes it for this Pod, if that is known."""
        return self.resolv_conf.fact.text if self.resolv_conf else self.derived

    @property
    def conf_evidence(self) -> tuple[Evidence, ...]:
        if self.resolv_conf is not None:
            return (Evidence(f"{self.label}'s resolv.conf", self.resolv_conf),)
        if self.derived is not None:
            return (
                Evidence(f"{self.label}'s resolv.conf as the kubelet writes it for dnsPolicy and dnsConfig", self.pod),
            )
        return ()

    @property
    def hosts_text(self) -> str:
        """The hosts file, else the lines that the kubelet writes for hostAliases."""
        if self.hosts is not None:
            text: str = self.hosts.fact.text
            return text
        aliases = self.pod.fact.spec.host_aliases if self.pod else None
        return "".join(f"{alias.ip}\t{' '.join(alias.hostnames or ())}\n" for alias in aliases or ())

    @property
    def label(self) -> str:
        return self.pod.fact.name if self.pod else "the client"


def gather(request: Request, view: Scene | None) -> Asking[Client]:
    """Collect what the evidence holds of the client. ``view`` None: no Service is meant."""
    pod = yield from ask.client_pod(request.client_namespace, request.client_name)
    replies = yield needs.in_container(request)
    chosen = [_of_container(reply) for reply in replies]
    if chosen[0] is None:
        unowned = yield tuple(Need(kind, pod="?") for kind in needs.CLIENT_KINDS)
        chosen = [mine or _of_container(reply) for mine, reply in zip(chosen, unowned, strict=True)]
    queries = yield from ask.one(Need(Kind.QUERY))
    asked = [query.fact for query in queries.present]
    named = [host for query in asked if (host := asked_host(query)) and not family_of(host)]
    resolvers = (request.resolver,) if request.resolver not in ("", "all") else ()
    runtime = chosen[4]
    if not resolvers and runtime is not None:
        resolvers = (runtime.fact.resolver,)
    if not resolvers:
        resolvers = tuple(dict.fromkeys(name for query in asked for name in query.resolvers))
    return Client(
        pod=pod,
        resolv_conf=chosen[0],
        hosts=chosen[1],
        nsswitch=chosen[2],
        environment=chosen[3],
        names=_names(request, view, named),
        resolvers=resolvers,
        families=tuple(dict.fromkeys(family for query in asked for family in query.families)),
        missing=replies[0].why,
        not_seen=replies[0].in_vain,
    )


def _of_container(reply: Reply) -> Observation[Any] | None:
    """The one observation of a container; none when several Pods' are in the evidence and none was asked for."""
    present = [observed for observed in reply.present if not observed.provenance.node]
    if not present:
        return None
    owners = {observed.provenance.pod for observed in present}
    return present[0] if len(owners) == 1 or reply.need.pod else None


def _names(request: Request, view: Scene | None, named: list[str]) -> tuple[str, ...]:
    if request.lookup:
        return (request.lookup,)
    if named:
        return tuple(dict.fromkeys(named))
    if not request.service or view is None or view.service is None:
        return ()
    return (needs.written(request),)
