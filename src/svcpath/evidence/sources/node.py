"""State of nodes: rule tables, connection tracking, kernel settings, logs and configuration of the agents.

A node is looked at through a Pod that is already there and shares its network: kube-proxy's, or the agent of Cilium or
Calico. One exec brings everything that the agent's container can show; where its image has no shell each command is run
by itself. Nothing is changed on the node.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.connections import Attempts
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, absent, unreadable
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats import commands
from svcpath.evidence.sources import components, dials, node_looks
from svcpath.evidence.sources.execs import Execs
from svcpath.evidence.sources.inpod_scripts import Script, Section
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_exec import Executed
from svcpath.evidence.sources.kube_objects import Listed, ObjectReader, Selector
from svcpath.evidence.sources.node_looks import Agent
from svcpath.evidence.sources.node_pod import node_pod

Observed = Observation[Any]

#: Where agents live: kubeadm, most clouds and Cilium; the Calico operator; Cilium's chart elsewhere.
AGENT_NAMESPACES = ("kube-system", "calico-system", "cilium")
_AGENT_SELECTOR = Selector("k8s-app", ("kube-proxy", "cilium", "calico-node"))
_OTHER_SELECTOR = Selector("component", ("kube-proxy",))

KINDS = frozenset({*node_looks.RAW, *node_looks.PARSED, *node_looks.READ_AS_TEXT, *components.KINDS})
#: Kinds that are about something, and so have a look of their own: its name, its shell text.
_OWN_LOOKS = {Kind.CONNTRACK: ("flows", node_looks.FLOWS), Kind.HEALTH_REPLIES: ("health", node_looks.HEALTH)}
#: Nodes that are looked at when the client's is not known, without --all-nodes.
SOME_NODES = 12
_ENDED = Trouble(Reason.FAILED, "the exec ended before this was read")


class _Seen(msgspec.Struct, frozen=True, dict=True):
    """What one node showed, and through which agents."""

    sections: Mapping[str, Section]
    through: Mapping[str, Agent]
    trouble: Trouble | None = None
    #: The frontends whose flows were read with the rest.
    frontends: frozenset[str] = frozenset()

    def parsed(self, kind: Kind, node: str) -> Any:
        """As node_looks.parsed, read once: a busy node has a hundred thousand flows."""
        if kind not in self._parsed:
            self._parsed[kind] = node_looks.parsed(kind, self.sections, node)
        return self._parsed[kind]

    @cached_property
    def _parsed(self) -> dict[Kind, Any]:
        return {}


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
        self._flows_stand = True
        self._agents: asyncio.Task[tuple[Agent, ...]] | None = None
        self._components = components.ComponentReader(client, objects, execs.kubelets)
        self._troubles: list[Trouble] = []

    async def meet(self, need: Need) -> tuple[Observed, ...]:
        if need.kind in components.KINDS:
            return await self._components.meet(need, await self.agents() if need.node else ())
        if need.node == "?" or need.kind in node_looks.READ_AS_TEXT:
            return (_quiet(need, "the same is read in another form"),)
        if need.cost is Cost.READ and need.kind in node_looks.RAW and need.node and need.node not in self._seen:
            return (_quiet(need, "the node was not looked at"),)
        own = need.kind in _OWN_LOOKS
        if own and not need.about:
            return (_quiet(need, "nothing was asked about"),)
        nodes, left = await self._nodes(need.node, () if own else need.about)
        if not nodes:
            return (_unreadable(need, "", self._why_no_agent()),)
        found: list[Observed] = []
        frontends = need.about if need.node and not own else ()
        looks = [self._about(need, node) if own else self._node(node, frontends) for node in nodes]
        for node, seen in zip(nodes, await asyncio.gather(*looks), strict=True):
            found.extend(self._of_node(need, node, seen))
        if left:
            why = f"{left} more nodes were not looked at: --from pod/NAME names the node that counts, --all-nodes takes all"
            found.append(_unreadable(need, "", Trouble(Reason.LIMIT, why)))
        return tuple(found)

    # --- which nodes, through which Pods ------------------------------------------------------------------------------

    async def agents(self) -> tuple[Agent, ...]:
        if self._agents is None:
            self._agents = asyncio.ensure_future(self._find_agents())
        return await self._agents

    async def _find_agents(self) -> tuple[Agent, ...]:
        looks = [self._in_namespace(namespace) for namespace in AGENT_NAMESPACES]
        looks.append(self._objects.all_of(Kind.POD, "kube-system", _OTHER_SELECTOR))
        found: list[Agent] = []
        for listed in await asyncio.gather(*looks):
            if listed.trouble:
                self._troubles.append(listed.trouble)
            found.extend(agent for pod in listed.objects if isinstance(pod, api.Pod) and (agent := _agent(pod)))
        for observation in found:
            self._execs.kubelets.place(observation.pod, observation.node)
        return tuple(sorted(found, key=lambda observation: (observation.node, observation.kind)))

    async def _in_namespace(self, namespace: str) -> Listed:
        if await self._objects.is_missing(namespace):
            return Listed((), absent=True)
        return await self._objects.all_of(Kind.POD, namespace, _AGENT_SELECTOR)

    async def _nodes(self, asked: str, enough: tuple[str, ...]) -> tuple[list[str], int]:
        agents = await self.agents()
        if asked:
            known = self._node_image or any(agent.node == asked for agent in agents)
            return ([asked] if known else []), 0
        every = list(dict.fromkeys(agent.node for agent in agents))
        if enough and not self._every_node:
            return [agent for agent in every if agent in enough], 0
        if self._every_node or len(every) <= SOME_NODES:
            return every, 0
        return every[:SOME_NODES], len(every) - SOME_NODES

    def _why_no_agent(self) -> Trouble:
        places = ", ".join(AGENT_NAMESPACES)
        why = f"no kube-proxy, Cilium or Calico Pod on this node in {places}: --allow-node-pod looks from a Pod of its own"
        return _together(self._troubles) or Trouble(Reason.NO_WAY_IN, why)

    async def _node(self, node: str, frontends: tuple[str, ...] = ()) -> _Seen:
        """``frontends``: read their flows in the same exec, for a Need that is going to ask for them."""
        if node not in self._seen:
            self._seen[node] = asyncio.ensure_future(self._look(node, frontends))
        return await self._seen[node]

    async def _look(self, node: str, frontends: tuple[str, ...]) -> _Seen:
        mine = [agent for agent in await self.agents() if agent.node == node]
        if not mine and self._node_image:
            return await self._from_own_pod(node)
        sections: dict[str, Section] = {}
        through: dict[str, Agent] = {}
        troubles: list[Trouble] = []
        for agent, answer in zip(
            mine, await asyncio.gather(*(self._ask(agent, frontends) for agent in mine)), strict=True
        ):
            if isinstance(answer, Trouble):
                troubles.append(answer)
                continue
            for name, section in answer.items():
                if name not in sections or (not sections[name].good and section.good):
                    sections[name] = section
                    through[name] = agent
        return _Seen(sections, through, _together(troubles) if not sections else None, frozenset(frontends))

    async def _about(self, need: Need, node: str) -> _Seen:
        """A look for one Need alone, through whichever agent of the node can show it."""
        name, text = _OWN_LOOKS[need.kind]
        if node in self._seen and self._flows_stand:
            seen = await self._seen[node]
            if set(need.about) <= seen.frontends and seen.parsed(need.kind, node) is not None:
                return seen
        script = Script.of({name: text})
        troubles: list[Trouble] = []
        for agent in (agent for agent in await self.agents() if agent.node == node):
            what = f"{need.kind.value} of node {node}"
            try:
                done = await self._execs.run(agent.pod, agent.container, script.command(*need.about), what)
            except ApiTrouble as error:
                troubles.append(error.trouble)
                continue
            section = script.sections(done.out).get(name)
            seen = _Seen({name: section} if section is not None else {}, {name: agent})
            if seen.parsed(need.kind, node) is not None:
                return seen
            troubles.append(done.trouble or Trouble(Reason.NO_TOOL, f"{agent.pod} can't show it"))
        return _Seen({}, {}, _together(troubles) or self._why_no_agent())

    async def _from_own_pod(self, node: str) -> _Seen:
        try:
            async with node_pod(self._client, node, self._node_image) as own:
                self._execs.added.append(f"Pod {own.pod} on node {node}: removed again")
                agent = Agent(own.pod, own.container, node, "own")
                answer = await self._ask(agent)
        except ApiTrouble as error:
            return _Seen({}, {}, error.trouble)
        if isinstance(answer, Trouble):
            return _Seen({}, {}, answer)
        return _Seen(answer, dict.fromkeys(answer, agent))

    def forget(self) -> None:
        """Look at nodes again from now on."""
        self._seen.clear()

    def connected(self, attempts: Attempts) -> None:
        """Where a connection failed, the flows that were read before it do not show it: they are read again."""
        self._flows_stand = self._flows_stand and all(attempt.outcome == "ok" for attempt in attempts.attempts)

    async def dial(self, need: Need) -> tuple[Observed, ...]:
        """Connections from a node's own network."""
        agent = next((agent for agent in await self.agents() if agent.node == need.node), None)
        if agent is None:
            return (_unreadable(need, need.node, self._why_no_agent()),)
        script = dials.script()
        try:
            done = await self._execs.run(
                agent.pod,
                agent.container,
                script.command(*need.about),
                f"connections from node {need.node}",
                seconds=25,
            )
        except ApiTrouble as error:
            return (_unreadable(need, need.node, error.trouble),)
        section = script.sections(done.out).get("dial")
        program, attempts = dials.read(section.decoded if section else "none", f"node/{need.node}", self._client.at)
        if not attempts:
            nothing = Trouble(Reason.NO_TOOL, f"{agent.pod} has nothing to connect with")
            return (_unreadable(need, need.node, done.trouble or nothing),)
        return dials.observations(program, attempts, lambda command: self._where(need, need.node, agent, command))

    async def _ask(self, agent: Agent, frontends: tuple[str, ...] = ()) -> dict[str, Section] | Trouble:
        script = Script.of({**agent.looks, **({"flows": node_looks.FLOWS} if frontends else {})})
        what = f"tables{' and flows' if frontends else ''} of node {agent.node}"
        try:
            done = await self._execs.run(agent.pod, agent.container, script.command(*frontends), what, seconds=30)
            sections = script.sections(done.out)
            if sections:
                return sections
            if done.code not in (126, 127, None) or done.out or done.silent:
                return done.trouble or Trouble(Reason.FAILED, f"the shell in {agent.pod} ended with {done.code}")
            return await self._without_shell(agent, done)
        except ApiTrouble as error:
            return error.trouble

    async def _without_shell(self, agent: Agent, first: Executed) -> dict[str, Section] | Trouble:
        found: dict[str, Section] = {}
        for name, words in node_looks.NO_SHELL.items():
            done = await self._execs.run(agent.pod, agent.container, list(words), f"{name} of node {agent.node}")
            if done.code is not None and done.code not in (126, 127):
                found[name] = Section(done.out, done.code)
        neither = f"{agent.pod} has neither a shell nor iptables-save or nft"
        return found or first.trouble or Trouble(Reason.NO_TOOL, neither)

    # --- one node ---------------------------------------------------------------------------------------------------

    def _of_node(self, need: Need, node: str, seen: _Seen) -> list[Observed]:
        if seen.trouble:
            return [_unreadable(need, node, seen.trouble)]
        if need.kind in node_looks.RAW:
            return self._raw(need, node, seen)
        name = node_looks.PARSED[need.kind][0]
        section = seen.sections.get(name)
        if section is None or section.code is None:
            return [_unreadable(need, node, _ENDED)]
        where = self._where(need, node, seen.through[name])
        value = seen.parsed(need.kind, node)
        if value is not None:
            return [Observation(need.kind, State.PRESENT, value, provenance=where)]
        if need.kind is Kind.METRICS:
            return [_quiet(need, "kube-proxy's metrics are not reached from its Pod")]
        missing = section.code == 127 or not section.text.strip()
        if need.kind is Kind.HAIRPIN_MODE and missing:
            return [absent(need.kind, Reason.NOTHING_THERE, "no bridge on the node", where)]
        why = f"the agent's image can't show it (exit {section.code})"
        return [unreadable(need.kind, Trouble(Reason.NO_TOOL, why), where)]

    def _raw(self, need: Need, node: str, seen: _Seen) -> list[Observed]:
        names = node_looks.RAW[need.kind]
        if not any(name in agent.looks for name in names for agent in seen.through.values()):
            where = Provenance(source="kube", node=node)
            return [absent(need.kind, Reason.NOTHING_THERE, "the node runs no such agent", where)]
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
            if section.good and node_looks.holds(need.kind, body):
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
            return [absent(need.kind, Reason.NOTHING_THERE, "the node shows no rules of this kind", where)]
        return [_unreadable(need, node, _ENDED)]

    def _where(self, need: Need, node: str, agent: Agent, look: str = "") -> Provenance:
        namespace, _, name = agent.pod.rpartition("/")
        inner = (
            look
            if look.endswith("tables-save") or need.kind is Kind.ATTEMPTS
            else commands.for_state(need.kind, node, "", "")
        )
        words = ["kubectl", "-n", namespace, "exec", name, "-c", agent.container, "--"]
        return Provenance(source="kube", command=f"{shlex.join(words)} {inner}", at=self._client.at or None, node=node)


def _agent(pod: api.Pod) -> Agent | None:
    label = pod.labels.get("k8s-app") or pod.labels.get("component") or ""
    kind = {"kube-proxy": "kube-proxy", "cilium": "cilium", "calico-node": "calico"}.get(label)
    if kind is None or pod.status.phase != "Running" or not pod.spec.node_name:
        return None
    names = [container.name for container in pod.spec.containers or ()]
    wanted = {"kube-proxy": "kube-proxy", "cilium": "cilium-agent", "calico": "calico-node"}[kind]
    container = wanted if wanted in names else next(iter(names), "")
    return Agent(f"{pod.namespace}/{pod.name}", container, pod.spec.node_name, kind)


def _together(troubles: Sequence[Trouble]) -> Trouble | None:
    """Several troubles of one node as one: that no command got there, where that is among them, else the first."""
    if not troubles:
        return None
    reason = Reason.UNREACHED if any(trouble.reason is Reason.UNREACHED for trouble in troubles) else troubles[0].reason
    return Trouble(reason, "; ".join(dict.fromkeys(trouble.why for trouble in troubles)))


def _quiet(need: Need, why: str) -> Observed:
    """Nothing went wrong, there is just nothing of this kind to look at."""
    where = Provenance(source="kube", node=need.node)
    return unreadable(need.kind, Trouble(Reason.NOT_OFFERED, why), where)


def _unreadable(need: Need, node: str, trouble: Trouble) -> Observed:
    command = commands.for_state(need.kind, node or need.node, "", "")
    where = Provenance(source="kube", command=command, node=node or need.node)
    return unreadable(need.kind, trouble, where)
