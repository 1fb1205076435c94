"""What the current account may do, by the API server's own word (SelfSubjectAccessReview), and what each missing permission costs."""

from __future__ import annotations

import asyncio

import msgspec

from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient


class Right(msgspec.Struct, frozen=True):
    """One right that svcpath uses. ``namespace``: where it is asked for, "" for the whole cluster."""

    verb: str
    resource: str
    group: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    cost: str = ""
    file: str = "static"

    @property
    def words(self) -> str:
        resource = self.resource + (f".{self.group}" if self.group else "")
        resource += f"/{self.subresource}" if self.subresource else ""
        return f"{self.verb} {resource}" + (f" {self.name}" if self.name else "")


class AccessAnswer(msgspec.Struct, frozen=True):
    """``allowed`` None: the API server did not say; ``why`` then."""

    right: Right
    allowed: bool | None
    why: str = ""


def rights(namespace: str, client_namespace: str = "") -> tuple[Right, ...]:
    """Every right a full diagnosis of a Service in ``namespace`` uses, in the order of the layers."""
    client = client_namespace or namespace
    return (
        Right("list", "services", namespace=namespace, cost="nothing can be judged"),
        Right("get", "services", namespace=namespace, cost="nothing can be judged"),
        Right("list", "services", namespace="kube-system", cost="cluster DNS unknown: resolution is not modelled"),
        Right("list", "endpointslices", "discovery.k8s.io", namespace=namespace, cost="endpoints not looked at"),
        Right("get", "endpoints", namespace=namespace, cost="mirroring faults stay unseen"),
        Right("list", "pods", namespace=namespace, cost="selector, readiness and named ports not looked at"),
        Right("get", "pods", namespace=client, cost="the client's node and container are unknown"),
        Right("list", "pods", namespace="kube-system", cost="no node's table: kube-proxy's Pods can't be found"),
        Right("list", "events", namespace=namespace, cost="why a Pod is not ready is explained less well"),
        Right("list", "nodes", cost="policies by node and zone, dead nodes not looked at"),
        Right("list", "namespaces", cost="NetworkPolicies that select namespaces can't be judged"),
        Right("list", "networkpolicies", "networking.k8s.io", namespace=namespace, cost="policies not looked at"),
        Right("list", "deployments", "apps", namespace=namespace, cost="rollouts not looked at"),
        Right("list", "replicasets", "apps", namespace=namespace, cost="rollouts not looked at"),
        Right("list", "statefulsets", "apps", namespace=namespace, cost="rollouts not looked at"),
        Right("list", "daemonsets", "apps", namespace=namespace, cost="rollouts not looked at"),
        Right("list", "poddisruptionbudgets", "policy", namespace=namespace, cost="disruption budgets not looked at"),
        Right("get", "configmaps", name="coredns", namespace="kube-system", cost="Corefile not checked"),
        Right(
            "get", "configmaps", name="kube-proxy", namespace="kube-system", cost="mode is known from the tables alone"
        ),
        Right("get", "pods", subresource="log", namespace="kube-system", cost="logs of kube-proxy and CoreDNS unread"),
        *(
            Right(verb, "pods", subresource="exec", namespace=where, cost=cost, file="exec")
            for where, cost in (
                (client, "the client's own resolver and connections not looked at"),
                (namespace, "listening sockets not looked at"),
                ("kube-system", "the nodes' tables not looked at"),
            )
            for verb in ("get", "create")
        ),
        Right(
            "patch",
            "pods",
            subresource="ephemeralcontainers",
            namespace=client,
            cost="only --allow-debug-container",
            file="debug",
        ),
        Right("create", "jobs", "batch", namespace="kube-system", cost="only --allow-node-pod", file="debug"),
        Right("delete", "jobs", "batch", namespace="kube-system", cost="only --allow-node-pod", file="debug"),
    )


class _Status(msgspec.Struct):
    allowed: bool = False
    reason: str = ""


class _Review(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


async def ask(client: KubeClient, wanted: tuple[Right, ...]) -> tuple[AccessAnswer, ...]:
    distinct = tuple(dict.fromkeys(wanted))
    return tuple(await asyncio.gather(*(_one(client, right) for right in distinct)))


async def _one(client: KubeClient, right: Right) -> AccessAnswer:
    attributes = {
        "verb": right.verb,
        "resource": right.resource,
        "group": right.group,
        "subresource": right.subresource,
        "name": right.name,
        "namespace": right.namespace,
    }
    body = msgspec.json.encode(
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
        }
    )
    try:
        data = await client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=body)
        return AccessAnswer(right, msgspec.json.decode(data, type=_Review).status.allowed)
    except ApiTrouble as error:
        return AccessAnswer(right, None, str(error))
    except msgspec.MsgspecError as error:
        return AccessAnswer(right, None, f"the answer is no review: {error}")
