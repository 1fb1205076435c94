"""State inside containers, through exec: resolver files, the application's runtime, lookups, sockets, connections.

Nothing is installed and nothing is written. Looks that share a container share one exec; a container without a shell is
asked with ``cat`` alone, and where that is missing too the answer says so and what would allow the look.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.dns import Lookups
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, absent, unreadable
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats import commands, procnet, resolverfiles
from svcpath.evidence.formats import text as texts
from svcpath.evidence.sources import dials, lookups
from svcpath.evidence.sources import inpod_scripts as scripts
from svcpath.evidence.sources.containers import container_of, no_shell, others, said
from svcpath.evidence.sources.debug_container import attach
from svcpath.evidence.sources.execs import Execs
from svcpath.evidence.sources.inpod_runtime import Process, application, family, jvms, libc, processes, runtime
from svcpath.evidence.sources.inpod_scripts import Script, Section
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_objects import ObjectReader

Observed = Observation[Any]
CLIENT_FILES = (Kind.RESOLV_CONF, Kind.HOSTS, Kind.NSSWITCH_CONF, Kind.ENVIRONMENT, Kind.RUNTIME, Kind.JVM)
KINDS = frozenset({*CLIENT_FILES, Kind.SOCKETS, Kind.LOOKUPS, Kind.ATTEMPTS})
_ENDED = Trouble(Reason.FAILED, "the exec ended before this was read")
_FILES = {Kind.RESOLV_CONF: "resolv.conf", Kind.HOSTS: "hosts", Kind.NSSWITCH_CONF: "nsswitch.conf"}


class _Looked(msgspec.Struct, frozen=True):
    """What the look into the client's container gave. ``trouble`` is set when nothing could be read."""

    sections: Mapping[str, Section]
    container: str
    processes: dict[int, Process]
    trouble: Trouble | None = None
    #: What was looked up in the same exec.
    names: tuple[str, ...] = ()


class PodReader:
    """Meets Needs for state inside Pods."""

    def __init__(self, client: KubeClient, objects: ObjectReader, execs: Execs, *, debug_image: str = "") -> None:
        """``debug_image``: the image of an ephemeral container where a container has no shell; "" forbids it."""
        self._client = client
        self._debug_image = debug_image
        self._beside: dict[str, asyncio.Task[str]] = {}
        self._objects = objects
        self._execs = execs
        self._looks: dict[tuple[str, str], asyncio.Task[_Looked]] = {}
        self._held_sockets: dict[tuple[str, str], asyncio.Task[Observed]] = {}
        self._probes = 0

    async def meet(self, need: Need) -> tuple[Observed, ...]:
        if not need.pod or need.pod == "?":
            return (_not_offered(need, "a running cluster is asked by Pod: name the client with --from pod/NAME"),)
        if need.kind in (Kind.LOOKUPS, Kind.ATTEMPTS) and not need.about:
            return (_not_offered(need, "nothing was tried"),)
        found = await self._objects.one(Kind.POD, *_split(need.pod))
        if found.trouble:
            return (self._unreadable(need, found.trouble),)
        pod = next((obj for obj in found.objects if isinstance(obj, api.Pod)), None)
        if pod is None:
            return (self._unreadable(need, Trouble(Reason.NOT_RUNNING, f"there is no Pod {need.pod}")),)
        self._execs.kubelets.place(need.pod, pod.spec.node_name)
        if (pod.status.phase or "") != "Running":
            why = f"Pod {need.pod} is {pod.status.phase or 'not running'}"
            return (self._unreadable(need, Trouble(Reason.NOT_RUNNING, why)),)
        try:
            if need.kind is Kind.SOCKETS:
                return (await self._sockets_once(need, pod),)
            container = container_of(pod, need.container)
            if need.kind is Kind.LOOKUPS:
                return (await self._lookups(need, container),)
            if need.kind is Kind.ATTEMPTS:
                return await self._attempts(need, container)
            return (await self._file(need, pod, container),)
        except (ApiTrouble, FormatError) as error:
            return (self._unreadable(need, _trouble(error)),)

    # --- resolver files and runtime ---------------------------------------------------------------------------------

    async def _look(self, pod: str, container: str, names: tuple[str, ...] = ()) -> _Looked:
        """``names``: look them up in the same exec, for a Need that is going to ask for them."""
        key = (pod, container)
        if key not in self._looks:
            self._looks[key] = asyncio.ensure_future(self._look_into(pod, container, names))
        return await self._looks[key]

    async def _look_into(self, pod: str, container: str, names: tuple[str, ...]) -> _Looked:
        script = scripts.client_look(lookups=bool(names))
        what, seconds = "resolver files and runtime", 15.0
        if names:
            what, seconds = f"{what}, lookups", lookups.SECONDS
        try:
            done = await self._execs.run(pod, container, script.command(*names), what, seconds=seconds)
        except ApiTrouble as error:
            return _Looked({}, container, {}, error.trouble)
        sections = script.sections(done.out)
        if sections:
            listed = sections.get("processes")
            found_processes = processes(listed.decoded) if listed else {}
            return _Looked(sections, container, found_processes, names=names if "lookup" in sections else ())
        if not no_shell(done):
            ended = Trouble(Reason.FAILED, f"the shell ended with {done.code}: {said(done)}")
            return _Looked({}, container, {}, done.trouble or ended)
        if self._debug_image:
            return await self._look_from_beside(pod, container)
        return await self._without_shell(pod, container)

    async def _debug(self, pod: str, target: str) -> str:
        """The debug container beside ``target``, added once."""
        if pod not in self._beside:
            self._beside[pod] = asyncio.ensure_future(attach(self._client, pod, target, self._debug_image))
        name = await self._beside[pod]
        sentence = f"debug container {name} in Pod {pod}: it stays in the Pod's spec as long as the Pod lives"
        if sentence not in self._execs.added:
            self._execs.added.append(sentence)
        return name

    async def _look_from_beside(self, pod: str, container: str) -> _Looked:
        """The kubelet's files are those of the Pod; processes are the target's; its libc is known by what they map."""
        try:
            beside = await self._debug(pod, container)
            script = scripts.beside_look()
            done = await self._execs.run(pod, beside, script.command(), "resolver files and runtime from beside")
        except (ApiTrouble, FormatError) as error:
            return _Looked({}, container, {}, _trouble(error))
        sections = script.sections(done.out)
        listed = sections.get("processes")
        return _Looked(
            sections, beside, processes(listed.decoded) if listed else {}, None if sections else done.trouble
        )

    async def _without_shell(self, pod: str, container: str) -> _Looked:
        sections: dict[str, Section] = {}
        for name in _FILES.values():
            try:
                done = await self._execs.run(pod, container, ["cat", f"/etc/{name}"], name)
            except ApiTrouble as error:
                return _Looked(sections, container, {}, error.trouble)
            if done.code is None and no_shell(done):
                break
            sections[name] = Section(done.out, done.code)
        why = f"container {container} has no shell: --allow-debug-container looks from beside it"
        return _Looked(sections, container, {}, Trouble(Reason.NO_TOOL, why))

    async def _file(self, need: Need, pod: api.Pod, container: str) -> Observed:
        looked = await self._look(need.pod, container, need.about)
        if need.kind in (Kind.RESOLV_CONF, Kind.HOSTS) and looked.trouble and not looked.sections:
            # These two the kubelet writes once for all containers of a Pod.
            for other in others(pod, container):
                again = await self._look(need.pod, other)
                if again.sections:
                    looked = again
                    break
        where = self._provenance(need, looked.container)
        if need.kind is Kind.RUNTIME:
            return self._runtime(need, looked, where)
        if need.kind is Kind.JVM:
            return self._jvm(need, looked, where)
        section = looked.sections.get(_FILES.get(need.kind, "environment"))
        if section is None or section.code is None:
            return self._unreadable(need, looked.trouble or _ENDED, where)
        if need.kind is Kind.NSSWITCH_CONF and section.code == 3:
            return absent(need.kind, Reason.NOTHING_THERE, "the container has no /etc/nsswitch.conf", where)
        if need.kind is Kind.ENVIRONMENT and not section.good:
            why = "another container's environment can't be read"
            return self._unreadable(need, Trouble(Reason.FAILED, why), where)
        if need.kind is Kind.ENVIRONMENT:
            (item,) = resolverfiles.read_environment(texts.of(section.decoded))
            return Observation(need.kind, State.PRESENT, item.value, provenance=where)
        if not section.good:
            why = f"/etc/{_FILES[need.kind]} can't be read (exit {section.code})"
            return self._unreadable(need, Trouble(Reason.FAILED, why), where)
        return Observation(need.kind, State.PRESENT, RawText(section.decoded), provenance=where)

    def _runtime(self, need: Need, looked: _Looked, where: Provenance) -> Observed:
        libcs = looked.sections.get("libc")
        if not looked.processes:
            unseen = Trouble(Reason.NO_WAY_IN, "no process of the container can be seen")
            return self._unreadable(need, looked.trouble or unseen, where)
        found = runtime(looked.processes, libc(libcs.decoded if libcs else ""))
        if isinstance(found, str):
            return self._unreadable(need, Trouble(Reason.FAILED, found), where)
        return Observation(need.kind, State.PRESENT, found, provenance=where)

    def _jvm(self, need: Need, looked: _Looked, where: Provenance) -> Observed:
        section = looked.sections.get("jvm")
        if section is None or section.code is None:
            return self._unreadable(need, looked.trouble or _ENDED, where)
        found = jvms(section.decoded)
        if found is None:
            return absent(need.kind, Reason.NOTHING_THERE, "no JVM runs in the container", where)
        return Observation(need.kind, State.PRESENT, found, provenance=where)

    # --- lookups ----------------------------------------------------------------------------------------------------

    async def _lookups(self, need: Need, container: str) -> Observed:
        looked = await self._look(need.pod, container)
        if looked.trouble:
            return self._unreadable(need, looked.trouble)
        if looked.container != container:
            why = f"container {container} has no shell, and another image's resolver is not its own"
            return self._unreadable(need, Trouble(Reason.NO_TOOL, why))
        mine = scripts.OF_RUNTIME.get(family(application(looked.processes)), ())
        section, trouble = looked.sections.get("lookup") if looked.names == need.about else None, None
        if section is None or (mine and section.decoded.partition("\n")[0] not in mine):
            # Another program than the first that there is: the application's own.
            script = Script.of({"lookup": scripts.resolving(mine)})
            done = await self._execs.run(
                need.pod, container, script.command(*need.about), "lookups", seconds=lookups.SECONDS
            )
            section, trouble = script.sections(done.out).get("lookup"), done.trouble
            if section is None:
                return self._unreadable(need, trouble or Trouble(Reason.FAILED, said(done)))
        program, _, rows = section.decoded.partition("\n")
        if program == "none":
            why = f"container {container} has no program that resolves as an application does"
            return self._unreadable(need, Trouble(Reason.NO_TOOL, why))
        libcs = looked.sections.get("libc")
        libc_name = libc(libcs.decoded if libcs else "")
        whose = lookups.label(program, rows, libc_name.only)
        resolved = tuple(found for row in rows.split("\n") if (found := lookups.lookup(row, whose, self._client.at)))
        where = self._provenance(need, container, lookups.command(program, need.about[0]))
        if not resolved:
            return self._unreadable(need, trouble or _no_result(program), where)
        return Observation(need.kind, State.PRESENT, Lookups(lookups=resolved), provenance=where)

    # --- sockets ----------------------------------------------------------------------------------------------------

    async def _sockets_once(self, need: Need, pod: api.Pod) -> Observed:
        key = (need.pod, need.container)
        if key not in self._held_sockets:
            self._held_sockets[key] = asyncio.ensure_future(self._sockets(need, pod))
        return await self._held_sockets[key]

    async def _sockets(self, need: Need, pod: api.Pod) -> Observed:
        """All containers of a Pod share one network namespace: the first that can be asked tells."""
        first = container_of(pod, need.container)
        trouble = ""
        for container in (first, *others(pod, first)):
            script = scripts.sockets_look()
            done = await self._execs.run(need.pod, container, script.command(), "sockets")
            sections = script.sections(done.out)
            if not sections and no_shell(done):
                again = await self._execs.run(
                    need.pod, container, ["cat", *(f"/proc/net/{name}" for name in ("tcp", "tcp6"))], "sockets"
                )
                if again.code == 0:
                    sections = {"both": Section(again.out, 0)}
                elif self._debug_image:
                    container = await self._debug(need.pod, container)
                    done = await self._execs.run(need.pod, container, script.command(), "sockets from beside")
                    sections = script.sections(done.out)
                else:
                    trouble = trouble or f"container {container} has neither a shell nor cat"
                    continue
            table = _socket_table(sections)
            where = self._provenance(need, container)
            if table is None:
                unread = Trouble(Reason.FAILED, f"/proc/net can't be read: {said(done)}")
                return self._unreadable(need, done.trouble or unread, where)
            return Observation(need.kind, State.PRESENT, table, provenance=where)
        why = f"{trouble}: --allow-debug-container looks from beside it"
        return self._unreadable(need, Trouble(Reason.NO_TOOL, why))

    # --- connections ------------------------------------------------------------------------------------------------

    async def _attempts(self, need: Need, container: str) -> tuple[Observed, ...]:
        """An observation for each place, with the command that connects there again."""
        left = self._execs.limits.probes - self._probes
        urls = need.about[: max(left, 0)]
        if not urls:
            why = f"the cap of {self._execs.limits.probes} probes is reached"
            return (self._unreadable(need, Trouble(Reason.LIMIT, why)),)
        self._probes += len(urls)
        script = dials.script()
        seconds = 10 + 5 * (len(urls) / 16)
        done = await self._execs.run(need.pod, container, script.command(*urls), "connections", seconds=seconds)
        section = script.sections(done.out).get("dial")
        if section is None:
            if no_shell(done) and self._debug_image:
                beside = await self._debug(need.pod, container)
                self._probes -= len(urls)
                return await self._attempts(need, beside)
            if no_shell(done):
                why = f"container {container} has no shell: --allow-debug-container connects from beside it"
                raise ApiTrouble(why, Reason.NO_TOOL)
            return (self._unreadable(need, done.trouble or Trouble(Reason.FAILED, said(done))),)
        program, attempts = dials.read(section.decoded, need.pod, self._client.at)
        if program == "none":
            wanted = ", ".join(dials.DIALS)
            why = f"container {container} has nothing to connect with ({wanted})"
            return (self._unreadable(need, Trouble(Reason.NO_TOOL, why)),)
        if not attempts:
            datagrams = all(url.startswith("udp") for url in urls)
            without = Trouble(Reason.NO_TOOL, f"container {container} has no python3, and {program} sends no datagrams")
            trouble = without if datagrams else done.trouble or _no_result(program)
            where = self._provenance(need, container, dials.dial_command(program, urls[0]))
            return (self._unreadable(need, trouble, where),)
        return dials.observations(program, attempts, lambda command: self._provenance(need, container, command))

    # --- provenance -------------------------------------------------------------------------------------------------

    def _provenance(self, need: Need, container: str, inner: str = "") -> Provenance:
        command = commands.for_state(need.kind, "", need.pod, container)
        if inner:
            namespace, name = _split(need.pod)
            words = ["kubectl", "-n", namespace, "exec", name, "-c", container, "--"]
            command = f"{shlex.join(words)} {inner}"
        elif need.kind in (Kind.RUNTIME, Kind.JVM):
            command = commands.for_state(Kind.RESOLV_CONF, "", need.pod, container).replace(
                "cat /etc/resolv.conf", "ls -l /proc/1/exe"
            )
        return Provenance(source="kube", command=command, at=self._client.at or None, pod=need.pod, container=container)

    def _unreadable(self, need: Need, trouble: Trouble, where: Provenance | None = None) -> Observed:
        return unreadable(need.kind, trouble, where or self._provenance(need, need.container))


def _split(pod: str) -> tuple[str, str]:
    namespace, _, name = pod.rpartition("/")
    return namespace, name


def _not_offered(need: Need, why: str) -> Observed:
    return unreadable(need.kind, Trouble(Reason.NOT_OFFERED, why), Provenance(source="kube"))


def _trouble(error: ApiTrouble | FormatError) -> Trouble:
    return error.trouble if isinstance(error, ApiTrouble) else Trouble(Reason.MALFORMED, str(error))


def _no_result(program: str) -> Trouble:
    return Trouble(Reason.FAILED, f"{program} printed no result")


def _socket_table(sections: Mapping[str, Section]) -> SocketTable | None:
    sockets: list[Socket] = []
    covers: set[str] = set()
    for name, section in sections.items():
        if not section.good or not section.text.strip():
            continue
        for item in procnet.read_procnet(texts.of(section.decoded)):
            if isinstance(item.value, SocketTable):
                # A table with a header alone says nothing of its protocol: the file's name does.
                sockets.extend(item.value.sockets)
                covers |= {name} if name != "both" else item.value.covers
    return SocketTable(sockets=tuple(sockets), covers=frozenset(covers)) if covers else None
