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


async def begin(meet: Meet, namespace: str, service: str, client: str, container: str, as_name: str) -> None:
    """``client`` is "namespace/name". What much else waits for comes first."""
    home, _, name = client.rpartition("/")
    spaces = tuple(dict.fromkeys((namespace, home, "default", "kube-system")))
    needs = [
        Need(Kind.POD, namespace=home, name=name),
        Need(Kind.SERVICE, namespace=namespace, name=service),
        *(Need(kind, about=spaces) for kind in (Kind.ENDPOINT_SLICE, Kind.POD)),
        Need(Kind.NAMESPACE),
        Need(Kind.POD, namespace=namespace),
        *(Need(kind) for kind in (Kind.NODE, Kind.COREFILE, Kind.KUBE_PROXY_CONFIG)),
        Need(Kind.SERVICE, about=spaces),
        *(Need(kind, namespace=namespace) for kind in (Kind.WORKLOAD, Kind.EVENT)),
        Need(Kind.ENDPOINTS, namespace=namespace, name=service),
        Need(Kind.SERVICE),
    ]
    await asyncio.gather(
        *(meet(need) for need in needs),
        _client(meet, namespace, service, client, container, as_name),
        _backends(meet, namespace, service),
        _logs(meet, spaces),
        return_exceptions=True,
    )


async def _logs(meet: Meet, spaces: tuple[str, ...]) -> None:
    """Those of the cluster DNS, whose Pods are among all of its namespace."""
    await meet(Need(Kind.POD, about=spaces))
    await meet(Need(Kind.LOG))


async def _client(meet: Meet, namespace: str, service: str, client: str, container: str, as_name: str) -> None:
    """The client's container with the name as the client writes it, and its node with the Service's flows."""
    home, _, name = client.rpartition("/")
    pods, services, slices = await asyncio.gather(
        meet(Need(Kind.POD, namespace=home, name=name)),
        meet(Need(Kind.SERVICE, namespace=namespace, name=service)),
        _slices(meet, namespace, service),
    )
    pod = next((one.value for one in pods if isinstance(one.value, api.Pod)), None)
    if pod is None:
        return
    known = next((one.value for one in services if isinstance(one.value, api.Service)), None)
    names = (as_name or (service if home == namespace else f"{service}.{namespace}"),) if as_name or known else ()
    looks = [Need(Kind.RESOLV_CONF, pod=client, container=container, cost=Cost.EXEC, about=names)]
    if node := pod.spec.node_name or "":
        frontends = _frontends(known, slices) if known is not None else ()
        looks += [Need(Kind.IPTABLES_SAVE, node=node, cost=Cost.EXEC, about=frontends), Need(Kind.LOG, node=node)]
    await asyncio.gather(*(meet(need) for need in looks))


def _frontends(service: api.Service, slices: list[api.EndpointSlice]) -> tuple[str, ...]:
    """Whose flows count: the Service's addresses and node ports, and its endpoints."""
    if service.is_external_name:
        return ()
    balancer = service.status.load_balancer if service.status else None
    endpoints = [address for one in slices for endpoint in one.endpoints or () for address in endpoint.addresses or ()]
    addresses = [
        *service.cluster_ips,
        *(service.spec.external_ips or ()),
        *(one.ip for one in (balancer.ingress if balancer else None) or () if one.ip),
        *endpoints[:MAX_PODS],
    ]
    numbers = sorted({port.node_port for port in service.spec.ports or () if port.node_port})
    return tuple(dict.fromkeys([*addresses, *(f"nodeport/{number}" for number in numbers)]))


async def _slices(meet: Meet, namespace: str, service: str) -> list[api.EndpointSlice]:
    found = await meet(Need(Kind.ENDPOINT_SLICE, namespace=namespace, service=service))
    return [one.value for one in found if one.state is State.PRESENT and isinstance(one.value, api.EndpointSlice)]


async def _backends(meet: Meet, namespace: str, service: str) -> None:
    names = dict.fromkeys(
        reference.name
        for one in await _slices(meet, namespace, service)
        for endpoint in one.endpoints or ()
        if (reference := endpoint.target_ref) and reference.kind in ("", "Pod") and reference.name and endpoint.ready
    )
    needs = [Need(Kind.SOCKETS, pod=f"{namespace}/{name}", cost=Cost.EXEC) for name in list(names)[:MAX_PODS]]
    if names:
        # Policies are read where there is a backend that they could keep the client from.
        needs.append(Need(Kind.NETWORK_POLICY, namespace=namespace))
    await asyncio.gather(*(meet(need) for need in needs))
