"""A running cluster as a Source: API objects, what containers show, what nodes show.

A batch of Needs is met side by side on an event loop of its own thread, so that the Source can be used from anywhere,
notebooks included. Every Need is answered within the time limit; what could not be looked at says why and what would
allow it. Reading only: no request but GETs and, unless execs are forbidden, execs in containers that are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import msgspec

from svcpath.errors import CertificateRefused, ClusterUnreachable, CredentialsRefused, SourceUnavailable, UnknownTarget
from svcpath.evidence.facts.connections import Attempts
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, unreadable
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Then
from svcpath.evidence.sources import inpod, node, rights
from svcpath.evidence.sources.ahead import Ahead
from svcpath.evidence.sources.execs import Done, Execs, Limits
from svcpath.evidence.sources.inpod import PodReader
from svcpath.evidence.sources.kube_client import Access, ApiTrouble, Call, KubeClient
from svcpath.evidence.sources.kube_objects import RESOURCES, ObjectReader, server_version
from svcpath.evidence.sources.node import NodeReader
from svcpath.evidence.sources.node_looks import Agent
from svcpath.evidence.sources.own_loop import LoopThread
from svcpath.evidence.sources.rights import AccessAnswer

Observed = Observation[Any]


class Options(msgspec.Struct, frozen=True):
    """What a look may do beyond reading objects."""

    execs: bool = True
    all_nodes: bool = False
    #: Images of what may be added to the cluster; "" forbids it.
    node_image: str = ""
    debug_image: str = ""
    limits: Limits = msgspec.field(default_factory=Limits)


class ClusterSource:
    """Use as a context manager. Raises SourceUnavailable on entry when the cluster can't be reached at all."""

    def __init__(self, access: Access | None = None, options: Options | None = None) -> None:
        self.access = access or Access()
        self.options = options or Options()
        self.version = ""
        self._thread = LoopThread("svcpath-cluster")
        self._open = True
        try:
            self._client = self._thread.run(self._start())
        except BaseException:
            self.close()
            raise

    async def _start(self) -> KubeClient:
        client = KubeClient(self.access)
        self._client = client
        await client.connect()
        try:
            self.version = await server_version(client)
        except ApiTrouble as error:
            if error.status in (0, 401):
                raise _unusable(error, client.context or "in-cluster") from error
        self._objects = ObjectReader(client)
        self._execs = Execs(client, self.options.execs, self.options.limits)
        self._ahead = Ahead(self._meet)
        self._pods = PodReader(client, self._objects, self._execs, debug_image=self.options.debug_image)
        self._nodes = NodeReader(
            client,
            self._objects,
            self._execs,
            every_node=self.options.all_nodes,
            node_image=self.options.node_image,
        )
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all connections; what is still under way is given up."""
        if not self._open:
            return
        self._open = False
        self._thread.close(self._shut())

    async def _shut(self) -> None:
        mine = asyncio.current_task()
        rest = [task for task in asyncio.all_tasks() if task is not mine]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        client = getattr(self, "_client", None)
        if client is not None:
            await client.close()

    # --- Source -----------------------------------------------------------------------------------------------------

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observed, ...]]:
        return self._thread.run(self._observe(needs))

    async def _observe(self, needs: Sequence[Need]) -> list[tuple[Observed, ...]]:
        return list(await asyncio.gather(*(self._meet(need) for need in needs)))

    async def _meet(self, need: Need) -> tuple[Observed, ...]:
        if need.kind in RESOURCES:
            return await self._objects.meet(need)
        if need.kind is Kind.ATTEMPTS and need.about:
            found = await (self._nodes.dial(need) if need.node else self._pods.meet(need))
            for observation in found:
                if isinstance(observation.value, Attempts):
                    self._nodes.connected(observation.value)
            return found
        if need.kind in inpod.KINDS:
            return await self._pods.meet(need)
        if need.kind in node.KINDS:
            return await self._nodes.meet(need)
        if need.kind is Kind.DAMAGED and self._objects.damaged:
            where = Provenance(source="kube", path="API server")
            return tuple(
                Observation(Kind.DAMAGED, State.PRESENT, damage, provenance=where)
                for damage in self._objects.damaged.values()
            )
        why = "nothing of this kind is read from a running cluster"
        return (unreadable(need.kind, Trouble(Reason.NOT_OFFERED, why), Provenance(source="kube")),)

    def settled(self, request: Request) -> Request:
        """In the current context's namespace where none is named."""
        if request.service and not request.namespace:
            request = msgspec.structs.replace(request, namespace=self.namespace)
        if not request.client:
            return request
        space, _, name = request.client.rpartition("/")
        return msgspec.structs.replace(request, client=f"{space or request.namespace or self.namespace}/{name}")

    def confirm(self, request: Request) -> None:
        if request.client:
            space, _, name = request.client.rpartition("/")
            self.must_have(space, name, request.container)

    def expect(self, needs: Sequence[Need], then: Then | None = None) -> None:
        self._thread.begin(self._ahead.begin(needs, then))

    def must_have(self, namespace: str, pod: str, container: str = "") -> None:
        """Raises UnknownTarget for a Pod that is not there, or that has no such container."""
        (found,) = self.observe([Need(Kind.POD, namespace=namespace, name=pod, permission="get pods")])
        if all(observation.state is State.ABSENT for observation in found):
            raise UnknownTarget(f"no Pod {pod} in namespace {namespace}: kubectl -n {namespace} get pods lists them")
        spec = next((observation.value.spec for observation in found if observation.value is not None), None)
        if container and spec is not None:
            names = [known.name for known in (*(spec.containers or ()), *(spec.init_containers or ()))]
            if container not in names:
                raise UnknownTarget(f"Pod {pod} has no container {container}; it has {', '.join(names)}")

    # --- what was done ------------------------------------------------------------------------------------------------

    def rights(self, namespace: str, client_namespace: str = "") -> tuple[AccessAnswer, ...]:
        """What the current account may do of all that a diagnosis in ``namespace`` uses."""
        return self._thread.run(rights.ask(self._client, rights.rights(namespace, client_namespace)))

    def agents(self) -> tuple[Agent, ...]:
        """The Pods through which nodes are looked at."""
        return self._thread.run(self._nodes.agents())

    def forget_nodes(self) -> None:
        """Look at nodes again from now on: a table that was read before a failure does not show it."""
        self._thread.soon(self._nodes.forget)

    @property
    def namespace(self) -> str:
        """The namespace of the current context."""
        return self._client.namespace

    @property
    def context(self) -> str:
        return self._client.context

    @property
    def at(self) -> str:
        """The API server's time of its last answer."""
        return self._client.at

    @property
    def skew(self) -> float:
        """Seconds by which this machine's clock is ahead of the API server's."""
        return self._client.skew

    @property
    def execs(self) -> tuple[Done, ...]:
        return tuple(self._execs.done)

    @property
    def added(self) -> tuple[str, ...]:
        """What was added to the cluster, with leave."""
        return tuple(self._execs.added)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(self._client.calls)


def _unusable(error: ApiTrouble, context: str) -> SourceUnavailable:
    kind = CertificateRefused if error.certificate else ClusterUnreachable
    return (CredentialsRefused if error.reason is Reason.DENIED else kind)(f"{error} (context {context})")
