"""What a walk for a Service from a client asks of every cluster, begun before the walk is there to ask.

The walk asks in the order of its questions; a cluster answers side by side. Nothing is asked here that the walk does not ask
anyway: the readers keep what they read, so that each request is still made once. No connection is tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation, State

Meet = Callable[[Need], Awaitable[tuple[Observation[Any], ...]]]
#: Backends whose sockets are looked at ahead.
MAX_PODS = 20
_OBJECTS = (
    Kind.POD,
    Kind.WORKLOAD,
    Kind.EVENT,
)


async def begin(meet: Meet, namespace: str, service: str, client: str, container: str) -> None:
    """``client`` is "namespace/name"."""
    home, _, name = client.rpartition("/")
    spaces = tuple(dict.fromkeys((namespace, home, "default", "kube-system")))
    needs = [
        Need(Kind.SERVICE, namespace=namespace, name=service),
        *(Need(kind, namespace=namespace) for kind in _OBJECTS),
        *(Need(kind, about=spaces) for kind in (Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.POD)),
        *(Need(kind) for kind in (Kind.NAMESPACE, Kind.NODE, Kind.COREFILE, Kind.KUBE_PROXY_CONFIG, Kind.LOG)),
    ]
    await asyncio.gather(
        _client(meet, home, name, container),
        _backends(meet, namespace, service),
        *(meet(need) for need in needs),
        return_exceptions=True,
    )


async def _client(meet: Meet, namespace: str, name: str, container: str) -> None:
    """The client's container, and then its node."""
    found = await meet(Need(Kind.POD, namespace=namespace, name=name))
    pod = next((one.value for one in found if isinstance(one.value, api.Pod)), None)
    if pod is None:
        return
    node = pod.spec.node_name or ""
    looks = [Need(Kind.RESOLV_CONF, pod=f"{namespace}/{name}", container=container, cost=Cost.EXEC)]
    if node:
        looks += [Need(Kind.IPTABLES_SAVE, node=node, cost=Cost.EXEC), Need(Kind.LOG, node=node)]
    await asyncio.gather(*(meet(need) for need in looks))


async def _backends(meet: Meet, namespace: str, service: str) -> None:
    found = await meet(Need(Kind.ENDPOINT_SLICE, namespace=namespace, service=service))
    slices = [one.value for one in found if one.state is State.PRESENT and isinstance(one.value, api.EndpointSlice)]
    names = dict.fromkeys(
        reference.name
        for one in slices
        for endpoint in one.endpoints or ()
        if (reference := endpoint.target_ref) and reference.kind in ("", "Pod") and reference.name and endpoint.ready
    )
    needs = [Need(Kind.SOCKETS, pod=f"{namespace}/{name}", cost=Cost.EXEC) for name in list(names)[:MAX_PODS]]
    if names:
        # Policies are read where there is a backend that they could keep the client from.
        needs.append(Need(Kind.NETWORK_POLICY, namespace=namespace))
    await asyncio.gather(*(meet(need) for need in needs))
