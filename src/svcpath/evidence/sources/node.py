"""State of nodes: rule tables, connection tracking, kernel settings, logs and configuration of the agents.

A node is looked at through a Pod that is already there and shares its network: kube-proxy's, or the agent of Cilium or
Calico. One exec brings everything that the agent's container can show; where its image has no shell each command is run
by itself. Nothing is changed on the node.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.connections import Attempts
from svcpath.evidence.facts.conntrack import FlowTable
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.node import HairpinModes, Sysctls
from svcpath.evidence.facts.observation import Observation, Provenance, State
from svcpath.evidence.facts.text import LogText, RawText
from svcpath.evidence.formats import commands, conntrack, corefile, dumps, logs, private, proxyconfig
from svcpath.evidence.formats import text as texts
from svcpath.evidence.formats.kubernetes import read_page
from svcpath.evidence.formats.text import Text
from svcpath.evidence.sources import inpod_scripts as scripts
from svcpath.evidence.sources.inpod import Execs, attempt_of, dial_command
from svcpath.evidence.sources.inpod_scripts import Script, Section
from svcpath.evidence.sources.kube_client import ApiTrouble, Executed, KubeClient
from svcpath.evidence.sources.kube_objects import ObjectReader
from svcpath.evidence.sources.node_pod import node_pod

Observed = Observation[Any]

#: Where agents live: kubeadm, most clouds and Cilium; the Calico operator; Cilium's chart elsewhere.
AGENT_NAMESPACES = ("kube-system", "calico-system", "cilium")
_AGENT_SELECTOR = "k8s-app in (kube-proxy,cilium,calico-node)"
_OTHER_SELECTOR = "component=kube-proxy"

SYSCTLS = (
    "net.ipv4.ip_forward",
    "net.ipv6.conf.all.forwarding",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.conf.default.rp_filter",
    "net.ipv4.conf.all.route_localnet",
    "net.bridge.bridge-nf-call-iptables",
    "net.bridge.bridge-nf-call-ip6tables",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_tcp_be_liberal",
    "net.ipv4.vs.conntrack",
    "net.ipv4.vs.conn_reuse_mode",
    "net.ipv4.vs.expire_nodest_conn",
    "net.ipv4.vs.expire_quiescent_template",
)
_PATHS = {name: "/proc/sys/" + name.replace(".", "/") for name in SYSCTLS}
#: Look -> shell text, in the kube-proxy Pod. The first word is run directly where there is no shell.
PROXY_LOOKS: Mapping[str, str] = {
    "iptables-save": "iptables-save",
    "ip6tables-save": "ip6tables-save",
    "iptables-legacy-save": "iptables-legacy-save",
    "nft": "nft list ruleset",
    "ip_vs": "[ -s /proc/net/ip_vs ] && cat /proc/net/ip_vs",
    "ipvsadm-lcn": "[ -s /proc/net/ip_vs ] && ipvsadm -Lcn",
    "ipset": "ipset list",
    "conntrack-stats": "conntrack -S",
    # Not the shell's own read: it reads byte by byte, and a sysctl gives its first byte alone then.
    "sysctl": "for k in " + " ".join(_PATHS.values()) + '; do [ -r $k ] && echo "$k = $(cat $k)"; done; :',
    "hairpin": "grep -H . /sys/class/net/*/brif/*/hairpin_mode",
    # Last: of a full table (262144 entries and more) the output is cut, and with it all that would come after.
    "conntrack": "conntrack -L || cat /proc/net/nf_conntrack",
    "conntrack6": "conntrack -L -f ipv6",
}
CILIUM_LOOKS: Mapping[str, str] = {
    "cilium-service-list": "cilium-dbg service list -o json || cilium service list -o json",
    "cilium-lb-list": "cilium-dbg bpf lb list || cilium bpf lb list",
    "cilium-lb-backends": "cilium-dbg bpf lb list --backends || cilium bpf lb list --backends",
    "cilium-ct-list": "cilium-dbg bpf ct list global || cilium bpf ct list global",
}
CALICO_LOOKS: Mapping[str, str] = {"calico-nat": "calico-node -bpf nat dump"}
_NO_SHELL: Mapping[str, tuple[str, ...]] = {
    "iptables-save": ("iptables-save",),
    "ip6tables-save": ("ip6tables-save",),
    "nft": ("nft", "list", "ruleset"),
    "conntrack": ("conntrack", "-L"),
}
_RAW: Mapping[Kind, tuple[str, ...]] = {
    Kind.IPTABLES_SAVE: ("iptables-save", "ip6tables-save", "iptables-legacy-save"),
    Kind.NFT_LIST: ("nft",),
    Kind.PROC_IP_VS: ("ip_vs",),
    Kind.IPVSADM_LCN: ("ipvsadm-lcn",),
    Kind.IPSET: ("ipset",),
    Kind.CILIUM_SERVICE_LIST: ("cilium-service-list",),
    Kind.CILIUM_BPF_LB_LIST: ("cilium-lb-list",),
    Kind.CILIUM_BPF_LB_BACKENDS: ("cilium-lb-backends",),
    Kind.CILIUM_BPF_CT_LIST: ("cilium-ct-list",),
    Kind.CALICO_NAT_DUMP: ("calico-nat",),
}
_PARSED = frozenset({Kind.CONNTRACK, Kind.CONNTRACK_STATS, Kind.SYSCTL, Kind.HAIRPIN_MODE})
_READ_AS_TEXT = frozenset({Kind.NFT_JSON, Kind.IPVSADM_LN})
KINDS = frozenset({*_RAW, *_PARSED, *_READ_AS_TEXT, Kind.LOG, Kind.KUBE_PROXY_CONFIG, Kind.COREFILE, Kind.METRICS})
#: Lines of a component's log.
_TAIL = 400
#: Nodes that are looked at when the client's is not known, without --all-nodes.
SOME_NODES = 12


@dataclass(frozen=True, slots=True)
class Agent:
    """A Pod through which a node can be looked at."""

    pod: str
    container: str
    node: str
    kind: str  #: kube-proxy, cilium or calico

    @property
    def looks(self) -> Mapping[str, str]:
        if self.kind == "cilium":
            return {**PROXY_LOOKS, **CILIUM_LOOKS}
        return {**PROXY_LOOKS, **CALICO_LOOKS} if self.kind == "calico" else PROXY_LOOKS


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one node showed, and through which agents."""

    sections: Mapping[str, Section]
    through: Mapping[str, Agent]
    trouble: str = ""


class NodeReader:
    """Meets Needs for the state of nodes."""

    def __init__(
        self,
        client: KubeClient,
        objects: ObjectReader,
        execs: Execs,
        *,
        every_node: bool = False,
        node_image: str = "",
    ) -> None:
        """``node_image``: the image of a Pod of one's own where a node has no agent; "" forbids it."""
        self._client = client
        self._objects = objects
        self._execs = execs
        self._every_node = every_node
        self._node_image = node_image
        self._seen: dict[str, asyncio.Task[_Seen]] = {}
        self._agents: asyncio.Task[tuple[Agent, ...]] | None = None
        self._logs: dict[str, asyncio.Task[Observed]] = {}
        self.troubles: list[str] = []

    async def meet(self, need: Need) -> tuple[Observed, ...]:
        if need.kind is Kind.LOG:
            return await self._log(need)
        if need.kind in (Kind.COREFILE, Kind.KUBE_PROXY_CONFIG):
            return await self._config_maps(need)
        if need.node == "?" or need.kind in _READ_AS_TEXT:
            return (_quiet(need, "the same is read in another form"),)
        nodes, left = await self._nodes(need.node, need.about)
        if not nodes:
            return (_unreadable(need, "", self._why_no_agent()),)
        found: list[Observed] = []
        for node, seen in zip(nodes, await asyncio.gather(*(self._node(node) for node in nodes)), strict=True):
            found.extend(self._of_node(need, node, seen))
        if left:
            why = f"{left} more nodes were not looked at: --from pod/NAME names the node that counts, --all-nodes takes all"
            found.append(_unreadable(need, "", why))
        return tuple(found)

    # --- which nodes, through which Pods ------------------------------------------------------------------------------

    async def agents(self) -> tuple[Agent, ...]:
        if self._agents is None:
            self._agents = asyncio.ensure_future(self._find_agents())
        return await self._agents

    async def _find_agents(self) -> tuple[Agent, ...]:
        looks = [self._objects.all_of(Kind.POD, namespace, _AGENT_SELECTOR) for namespace in AGENT_NAMESPACES]
        looks.append(self._objects.all_of(Kind.POD, "kube-system", _OTHER_SELECTOR))
        found: list[Agent] = []
        for listed in await asyncio.gather(*looks):
            if listed.trouble:
                self.troubles.append(listed.trouble)
            found.extend(agent for pod in listed.objects if isinstance(pod, api.Pod) and (agent := _agent(pod)))
        return tuple(sorted(found, key=lambda one: (one.node, one.kind)))

    async def _nodes(self, asked: str, enough: tuple[str, ...]) -> tuple[list[str], int]:
        agents = await self.agents()
        if asked:
            known = self._node_image or any(one.node == asked for one in agents)
            return ([asked] if known else []), 0
        every = list(dict.fromkeys(one.node for one in agents))
        if enough and not self._every_node:
            return [one for one in every if one in enough], 0
        if self._every_node or len(every) <= SOME_NODES:
            return every, 0
        return every[:SOME_NODES], len(every) - SOME_NODES

    def _why_no_agent(self) -> str:
        if self.troubles:
            return "; ".join(dict.fromkeys(self.troubles))
        places = ", ".join(AGENT_NAMESPACES)
        return f"no kube-proxy, Cilium or Calico Pod on this node in {places}: --allow-node-pod looks from a Pod of its own"

    async def _node(self, node: str) -> _Seen:
        if node not in self._seen:
            self._seen[node] = asyncio.ensure_future(self._look(node))
        return await self._seen[node]

    async def _look(self, node: str) -> _Seen:
        mine = [one for one in await self.agents() if one.node == node]
        if not mine and self._node_image:
            return await self._from_own_pod(node)
        sections: dict[str, Section] = {}
        through: dict[str, Agent] = {}
        troubles: list[str] = []
        for agent, answer in zip(mine, await asyncio.gather(*(self._ask(one) for one in mine)), strict=True):
            if isinstance(answer, str):
                troubles.append(answer)
                continue
            for name, section in answer.items():
                if name not in sections or (not sections[name].good and section.good):
                    sections[name] = section
                    through[name] = agent
        return _Seen(sections, through, "; ".join(troubles) if not sections else "")

    async def _from_own_pod(self, node: str) -> _Seen:
        try:
            async with node_pod(self._client, node, self._node_image) as own:
                self._execs.added.append(f"Pod {own.pod} on node {node}: removed again")
                agent = Agent(own.pod, own.container, node, "own")
                answer = await self._ask(agent)
        except ApiTrouble as error:
            return _Seen({}, {}, str(error))
        if isinstance(answer, str):
            return _Seen({}, {}, answer)
        return _Seen(answer, dict.fromkeys(answer, agent))

    def forget(self) -> None:
        """Look at nodes anew from now on."""
        self._seen.clear()

    async def dial(self, need: Need) -> tuple[Observed, ...]:
        """Connections from a node's own network."""
        agent = next((one for one in await self.agents() if one.node == need.node), None)
        if agent is None:
            return (_unreadable(need, need.node, self._why_no_agent()),)
        script = Script.of({"dial": scripts.available(tuple(scripts.DIALS), scripts.DIALS)})
        try:
            done = await self._execs.run(
                agent.pod,
                agent.container,
                script.command(*need.about),
                f"connections from node {need.node}",
                seconds=25,
            )
        except ApiTrouble as error:
            return (_unreadable(need, need.node, str(error)),)
        section = script.sections(done.out).get("dial")
        program, _, rows = section.decoded.partition("\n") if section else ("none", "", "")
        attempts = tuple(
            found
            for row in rows.split("\n")
            if (found := attempt_of(row, program, f"node/{need.node}", self._client.at)) is not None
        )
        if not attempts:
            return (_unreadable(need, need.node, done.trouble or f"{agent.pod} has nothing to connect with"),)
        where = self._where(need, need.node, agent, dial_command(program, need.about[0]))
        value = Attempts(attempts=attempts, repeated=True)
        return (Observation(need.kind, State.PRESENT, value, provenance=where),)

    async def _ask(self, agent: Agent) -> dict[str, Section] | str:
        script = Script.of(agent.looks)
        try:
            done = await self._execs.run(
                agent.pod, agent.container, script.command(), f"tables of node {agent.node}", seconds=30
            )
            sections = script.sections(done.out)
            if sections:
                return sections
            if done.code not in (126, 127, None) or done.out:
                return done.trouble or f"the shell in {agent.pod} ended with {done.code}"
            return await self._without_shell(agent, done)
        except ApiTrouble as error:
            return str(error)

    async def _without_shell(self, agent: Agent, first: Executed) -> dict[str, Section] | str:
        found: dict[str, Section] = {}
        for name, words in _NO_SHELL.items():
            done = await self._execs.run(agent.pod, agent.container, list(words), f"{name} of node {agent.node}")
            if done.code is not None and done.code not in (126, 127):
                found[name] = Section(done.out, done.code)
        return found or first.trouble or f"{agent.pod} has neither a shell nor iptables-save or nft"

    # --- one node ---------------------------------------------------------------------------------------------------

    def _of_node(self, need: Need, node: str, seen: _Seen) -> list[Observed]:
        if seen.trouble:
            return [_unreadable(need, node, seen.trouble)]
        if need.kind in _RAW:
            return self._raw(need, node, seen)
        if need.kind is Kind.METRICS:
            return [_quiet(need, "kube-proxy's metrics are not read live")]
        name = {
            Kind.CONNTRACK: "conntrack",
            Kind.CONNTRACK_STATS: "conntrack-stats",
            Kind.SYSCTL: "sysctl",
            Kind.HAIRPIN_MODE: "hairpin",
        }[need.kind]
        section = seen.sections.get(name)
        if section is None or section.code is None:
            return [_unreadable(need, node, "the exec ended before this was read")]
        where = self._where(need, node, seen.through[name])
        value = _parsed(need.kind, section, seen.sections.get("conntrack6"))
        if value is None:
            missing = section.code == 127 or not section.text.strip()
            state = State.ABSENT if need.kind is Kind.HAIRPIN_MODE and missing else State.UNREADABLE
            reason = (
                "no bridge on the node"
                if state is State.ABSENT
                else f"the agent's image can't show it (exit {section.code})"
            )
            return [Observation(need.kind, state, reason=reason, provenance=where)]
        return [Observation(need.kind, State.PRESENT, value, provenance=where)]

    def _raw(self, need: Need, node: str, seen: _Seen) -> list[Observed]:
        names = _RAW[need.kind]
        if not any(name in agent.looks for name in names for agent in seen.through.values()):
            where = Provenance(source="kube", node=node)
            return [Observation(need.kind, State.ABSENT, reason="the node runs no such agent", provenance=where)]
        found: list[Observed] = []
        empty = broken = False
        for name in names:
            section = seen.sections.get(name)
            if section is None:
                continue
            if section.code is None:
                broken = True
                continue
            body = section.decoded.strip("\n")
            if section.good and _holds(need.kind, body):
                where = self._where(need, node, seen.through[name], name)
                found.append(Observation(need.kind, State.PRESENT, RawText(body + "\n"), provenance=where))
            elif section.good or section.code in (1, 127):
                empty = True
            else:
                broken = True
        if found:
            return found
        agent = next(iter(seen.through.values()))
        where = self._where(need, node, agent, names[0])
        if empty and not broken:
            return [
                Observation(need.kind, State.ABSENT, reason="the node shows no rules of this kind", provenance=where)
            ]
        return [_unreadable(need, node, "the exec ended before this was read")]

    def _where(self, need: Need, node: str, agent: Agent, look: str = "") -> Provenance:
        namespace, _, name = agent.pod.rpartition("/")
        inner = (
            look
            if look.endswith("tables-save") or need.kind is Kind.ATTEMPTS
            else commands.for_state(need.kind, node, "", "")
        )
        words = ["kubectl", "-n", namespace, "exec", name, "-c", agent.container, "--"]
        return Provenance(source="kube", command=f"{shlex.join(words)} {inner}", at=self._client.at or None, node=node)

    # --- logs and configuration ---------------------------------------------------------------------------------------

    async def _log(self, need: Need) -> tuple[Observed, ...]:
        """With a node: its kube-proxy's. Without: those of the cluster DNS."""
        wanted: list[tuple[str, str, str, str]] = []
        if need.node:
            wanted = [
                (one.pod, one.container, one.node, "kube-proxy")
                for one in await self.agents()
                if one.node == need.node and one.kind == "kube-proxy"
            ]
            if not wanted:
                return (_quiet(need, "no kube-proxy Pod on the node"),)
        else:
            listed = await self._objects.all_of(Kind.POD, "kube-system", "k8s-app in (kube-dns,node-local-dns)")
            if listed.trouble:
                return (_unreadable(need, "", listed.trouble),)
            wanted = [
                (f"{pod.namespace}/{pod.name}", _main(pod), pod.spec.node_name or "", "coredns")
                for pod in listed.objects
                if isinstance(pod, api.Pod)
            ][:4]
            if not wanted:
                return (_quiet(need, "no Pod of the cluster DNS in kube-system"),)
        return tuple(await asyncio.gather(*(self._one_log(*one) for one in wanted)))

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
        try:
            data = await self._client.get(f"/api/v1/namespaces/{namespace}/pods/{name}/log", query)
        except ApiTrouble as error:
            reason = str(error)
            if error.status == 403:
                reason = (
                    f"forbidden: no right to get pods/log in namespace {namespace}; the rule: "
                    '{apiGroups: [""], resources: ["pods/log"], verbs: ["get"]}'
                )
            return Observation(Kind.LOG, State.UNREADABLE, reason=reason, provenance=where)
        body = private.log(data.decode("utf-8", "replace"))
        if not body.strip():
            return Observation(Kind.LOG, State.ABSENT, reason="the log is empty", provenance=where)
        where = Provenance(
            source="kube", command=command, at=self._client.at or None, node=node, pod=pod, container=container
        )
        told = logs.component(body) or component
        return Observation(Kind.LOG, State.PRESENT, LogText(component=told, text=body), provenance=where)

    async def _config_maps(self, need: Need) -> tuple[Observed, ...]:
        names = ("coredns", "node-local-dns") if need.kind is Kind.COREFILE else ("kube-proxy",)
        answers = await asyncio.gather(*(self._config_map(need, name) for name in names))
        return tuple(one for held in answers for one in held) or (_quiet(need, "no such ConfigMap in kube-system"),)

    async def _config_map(self, need: Need, name: str) -> list[Observed]:
        command = f"kubectl -n kube-system get configmap {name} -o yaml"
        where = Provenance(source="kube", command=command, at=self._client.at or None)
        path = f"/api/v1/namespaces/kube-system/configmaps/{name}"
        try:
            page = read_page(b'{"kind":"List","apiVersion":"v1","items":[' + await self._client.get(path) + b"]}")
        except ApiTrouble as error:
            if error.status == 404:
                return []
            reason = str(error)
            if error.status == 403:
                rule = f'{{apiGroups: [""], resources: ["configmaps"], resourceNames: ["{name}"], verbs: ["get"]}}'
                reason = f"forbidden: no right to get configmap {name} in namespace kube-system; the rule: {rule}"
            return [Observation(need.kind, State.UNREADABLE, reason=reason, provenance=where)]
        except FormatError as error:
            return [Observation(need.kind, State.UNREADABLE, reason=str(error), provenance=where)]
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


def _agent(pod: api.Pod) -> Agent | None:
    label = pod.labels.get("k8s-app") or pod.labels.get("component") or ""
    kind = {"kube-proxy": "kube-proxy", "cilium": "cilium", "calico-node": "calico"}.get(label)
    if kind is None or pod.status.phase != "Running" or not pod.spec.node_name:
        return None
    names = [one.name for one in pod.spec.containers or ()]
    wanted = {"kube-proxy": "kube-proxy", "cilium": "cilium-agent", "calico": "calico-node"}[kind]
    container = wanted if wanted in names else next(iter(names), "")
    return Agent(f"{pod.namespace}/{pod.name}", container, pod.spec.node_name, kind)


def _main(pod: api.Pod) -> str:
    return next((one.name for one in pod.spec.containers or ()), "")


def _holds(kind: Kind, body: str) -> bool:
    """Whether a dump shows anything: a table without rules of Services is still a table that was looked at."""
    if not body.strip():
        return False
    known = {
        Kind.IPTABLES_SAVE: dumps.is_iptables,
        Kind.NFT_LIST: lambda text: bool(re.search(r"(?m)^table ", text.text)),
        Kind.PROC_IP_VS: dumps.is_proc_ip_vs,
        Kind.IPVSADM_LCN: dumps.is_ipvsadm_lcn,
        Kind.IPSET: dumps.is_ipset,
        Kind.CILIUM_BPF_LB_LIST: dumps.is_cilium_lb_list,
        Kind.CILIUM_BPF_LB_BACKENDS: dumps.is_cilium_lb_backends,
        Kind.CILIUM_BPF_CT_LIST: dumps.is_cilium_ct_list,
        Kind.CALICO_NAT_DUMP: dumps.is_calico_nat,
    }.get(kind)
    return known is None or known(texts.of(body))


def _parsed(kind: Kind, section: Section, more: Section | None) -> Any:
    """The fact of a section; None when it holds none."""
    text = texts.of(section.decoded.strip("\n"))
    if not section.good or (not text.text.strip() and kind is not Kind.CONNTRACK):
        return None
    if kind is Kind.SYSCTL:
        return _sysctls(text)
    if kind is Kind.HAIRPIN_MODE:
        return _hairpins(text)
    if kind is Kind.CONNTRACK_STATS:
        return conntrack.read_stats(text)[0].value if conntrack.is_stats(text) else None
    flows: list[Any] = []
    for one in (section, more):
        if one is not None and one.good:
            for item in conntrack.read_flows(texts.of(one.decoded)):
                if isinstance(item.value, FlowTable):
                    flows.extend(item.value.flows)
    return FlowTable(flows=tuple(flows))


def _sysctls(text: Text) -> Sysctls | None:
    paths = {path: name for name, path in _PATHS.items()}
    values: dict[str, str] = {}
    for line in text.lines:
        path, equals, value = line.partition(" = ")
        if equals and path in paths:
            values[paths[path]] = value.strip()
    return Sysctls(values) if values else None


_HAIRPIN = re.compile(r"/sys/class/net/[^/]+/brif/([^/]+)/hairpin_mode:([01])\s*")


def _hairpins(text: Text) -> HairpinModes | None:
    ports = {match[1]: match[2] == "1" for line in text.lines if (match := _HAIRPIN.fullmatch(line))}
    return HairpinModes(ports) if ports else None


def _quiet(need: Need, reason: str) -> Observed:
    """Unreadable without a command: nothing went wrong, there is just nothing of this kind to look at."""
    return Observation(need.kind, State.UNREADABLE, reason=reason, provenance=Provenance(source="kube", node=need.node))


def _unreadable(need: Need, node: str, reason: str) -> Observed:
    command = commands.for_state(need.kind, node or need.node, "", "")
    where = Provenance(source="kube", command=command, node=node or need.node)
    return Observation(need.kind, State.UNREADABLE, reason=reason, provenance=where)
