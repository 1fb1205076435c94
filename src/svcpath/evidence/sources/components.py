"""What the API itself says of a cluster's components: their logs and their ConfigMaps."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from typing import Any

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, absent, unreadable
from svcpath.evidence.facts.text import LogText, RawText
from svcpath.evidence.formats import corefile, logs, private, proxyconfig
from svcpath.evidence.formats.kubernetes import read_page
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_objects import ObjectReader, Selector
from svcpath.evidence.sources.kubelets import Kubelets
from svcpath.evidence.sources.node_looks import Agent

Observed = Observation[Any]
KINDS = frozenset({Kind.LOG, Kind.KUBE_PROXY_CONFIG, Kind.COREFILE})
_CLUSTER_DNS = Selector("k8s-app", ("kube-dns", "node-local-dns"))
#: Lines of a component's log.
_TAIL = 400
#: For one log, which is read through the kubelet of the Pod's node.
_SECONDS = 6.0


class ComponentReader:
    """Meets Needs for logs and configuration; each log is read once."""

    def __init__(self, client: KubeClient, objects: ObjectReader, kubelets: Kubelets) -> None:
        self._client = client
        self._objects = objects
        self._kubelets = kubelets
        self._logs: dict[str, asyncio.Task[Observed]] = {}
        self._maps: dict[str, asyncio.Task[list[Observed]]] = {}

    async def meet(self, need: Need, agents: Sequence[Agent]) -> tuple[Observed, ...]:
        """``agents`` are those of the cluster, for the log of a node's own."""
        return await self._log(need, agents) if need.kind is Kind.LOG else await self._config_maps(need)

    async def _log(self, need: Need, agents: Sequence[Agent]) -> tuple[Observed, ...]:
        """With a node: its kube-proxy's. Without: those of the cluster DNS."""
        wanted: list[tuple[str, str, str, str]] = []
        if need.node:
            wanted = [
                (agent.pod, agent.container, agent.node, "kube-proxy")
                for agent in agents
                if agent.node == need.node and agent.kind == "kube-proxy"
            ]
            if not wanted:
                return (_not_offered(need, "no kube-proxy Pod on the node"),)
        else:
            listed = await self._objects.all_of(Kind.POD, "kube-system", _CLUSTER_DNS)
            if listed.trouble:
                where = Provenance(source="kube", command="kubectl -n kube-system get pods", node=need.node)
                return (unreadable(need.kind, listed.trouble, where),)
            wanted = [
                (f"{pod.namespace}/{pod.name}", _main(pod), pod.spec.node_name or "", "coredns")
                for pod in listed.objects
                if isinstance(pod, api.Pod)
            ][:4]
            if not wanted:
                return (_not_offered(need, "no Pod of the cluster DNS in kube-system"),)
        return tuple(await asyncio.gather(*(self._one_log(*wanted_pod) for wanted_pod in wanted)))

    async def _one_log(self, pod: str, container: str, node: str, component: str) -> Observed:
        key = f"{pod} {container}"
        if key not in self._logs:
            self._logs[key] = asyncio.ensure_future(self._read_log(pod, container, node, component))
        return await self._logs[key]

    async def _read_log(self, pod: str, container: str, node: str, component: str) -> Observed:
        namespace, _, name = pod.rpartition("/")
        command = shlex.join(["kubectl", "-n", namespace, "logs", name, "-c", container, f"--tail={_TAIL}"])
        where = Provenance(source="kube", command=command, node=node, pod=pod, container=container)
        query = [("container", container), ("tailLines", str(_TAIL)), ("limitBytes", str(1 << 20))]
        self._kubelets.place(pod, node)
        seconds = self._kubelets.patience(pod, _SECONDS)
        try:
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/log"
            data = await self._client.request("GET", path, query, most=seconds)
        except ApiTrouble as error:
            self._kubelets.failed(pod, error, seconds)
            why = f"{error} (logs come from the kubelet of node {node})" if error.status == 0 else str(error)
            if error.status == 403:
                why = (
                    f"forbidden: no right to get pods/log in namespace {namespace}; the rule: "
                    '{apiGroups: [""], resources: ["pods/log"], verbs: ["get"]}'
                )
            return unreadable(Kind.LOG, Trouble(error.reason, why), where)
        body = private.log(data.decode("utf-8", "replace"))
        if not body.strip():
            return absent(Kind.LOG, Reason.NOTHING_THERE, "the log is empty", where)
        where = Provenance(
            source="kube", command=command, at=self._client.at or None, node=node, pod=pod, container=container
        )
        named = logs.component(body) or component
        return Observation(Kind.LOG, State.PRESENT, LogText(component=named, text=body), provenance=where)

    async def _config_maps(self, need: Need) -> tuple[Observed, ...]:
        names = ("coredns", "node-local-dns") if need.kind is Kind.COREFILE else ("kube-proxy",)
        answers = await asyncio.gather(*(self._held(need, name) for name in names))
        return tuple(observation for answer in answers for observation in answer) or (
            _not_offered(need, "no such ConfigMap in kube-system"),
        )

    async def _held(self, need: Need, name: str) -> list[Observed]:
        if name not in self._maps:
            self._maps[name] = asyncio.ensure_future(self._config_map(need, name))
        return await self._maps[name]

    async def _config_map(self, need: Need, name: str) -> list[Observed]:
        command = f"kubectl -n kube-system get configmap {name} -o yaml"
        where = Provenance(source="kube", command=command, at=self._client.at or None)
        path = f"/api/v1/namespaces/kube-system/configmaps/{name}"
        try:
            page = read_page(b'{"kind":"List","apiVersion":"v1","items":[' + await self._client.get(path) + b"]}")
        except ApiTrouble as error:
            if error.status == 404:
                return []
            why = str(error)
            if error.status == 403:
                rule = f'{{apiGroups: [""], resources: ["configmaps"], resourceNames: ["{name}"], verbs: ["get"]}}'
                why = f"forbidden: no right to get configmap {name} in namespace kube-system; the rule: {rule}"
            return [unreadable(need.kind, Trouble(error.reason, why), where)]
        except FormatError as error:
            return [unreadable(need.kind, Trouble(Reason.MALFORMED, str(error)), where)]
        found: list[Observed] = []
        for item in page.items:
            data = item.value.data if isinstance(item.value, api.ConfigMap) else None
            for content in (data or {}).values():
                value = _config(need.kind, content)
                if value is not None:
                    found.append(Observation(need.kind, State.PRESENT, value, provenance=where))
        return found


def _config(kind: Kind, content: str) -> Any:
    if kind is Kind.COREFILE:
        return RawText(content) if corefile.looks_like(content) else None
    try:
        return proxyconfig.from_text(content)
    except FormatError:
        return None


def _main(pod: api.Pod) -> str:
    return next((container.name for container in pod.spec.containers or ()), "")


def _not_offered(need: Need, why: str) -> Observed:
    """Nothing went wrong: there is just nothing of this kind to look at."""
    where = Provenance(source="kube", node=need.node)
    return unreadable(need.kind, Trouble(Reason.NOT_OFFERED, why), where)
