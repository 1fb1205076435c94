"""API objects that a Need asks for: which request meets it, which right it takes, and what its answer says.

A list is asked for as narrow as the Need is (namespace, the label of slices, the name of one object) and held for the run,
so that a walk sees one state of the cluster and asks once. A page that a busy server no longer continues (410) starts the
list again, once.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, absent, unreadable
from svcpath.evidence.facts.text import Damaged
from svcpath.evidence.formats import commands
from svcpath.evidence.formats.kubernetes import read_page
from svcpath.evidence.formats.private import reduced
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient

Observed = Observation[Any]

#: Objects of one page: small records by the thousand, Pods and events by the hundred.
_SMALL_PAGE = 5000
_LARGE_PAGE = 500
#: Objects of one list. Beyond it the reply says that it is not whole.
MAX_OBJECTS = 50_000
_TOO_FAST = Trouble(Reason.FAILED, "the list changes faster than it can be read (410)")


class Resource(msgspec.Struct, frozen=True):
    """One resource of the API. ``group`` is empty for core/v1."""

    plural: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    page: int = _SMALL_PAGE

    @property
    def named(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str, name: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{quote(namespace)}" if self.namespaced and namespace else ""
        return f"{root}{scope}/{self.plural}" + (f"/{quote(name)}" if name else "")

    def rule(self, verb: str) -> str:
        """The RBAC rule that allows ``verb``, as it stands in a Role."""
        return f'{{apiGroups: ["{self.group}"], resources: ["{self.plural}"], verbs: ["{verb}"]}}'


RESOURCES: dict[Kind, tuple[Resource, ...]] = {
    Kind.SERVICE: (Resource("services"),),
    Kind.ENDPOINT_SLICE: (Resource("endpointslices", "discovery.k8s.io"),),
    Kind.ENDPOINTS: (Resource("endpoints"),),
    Kind.POD: (Resource("pods", page=_LARGE_PAGE),),
    Kind.NODE: (Resource("nodes", namespaced=False, page=_LARGE_PAGE),),
    Kind.EVENT: (Resource("events", page=_LARGE_PAGE),),
    Kind.NAMESPACE: (Resource("namespaces", namespaced=False),),
    Kind.NETWORK_POLICY: (Resource("networkpolicies", "networking.k8s.io"),),
    Kind.POD_DISRUPTION_BUDGET: (Resource("poddisruptionbudgets", "policy"),),
    Kind.WORKLOAD: (
        Resource("deployments", "apps", page=_LARGE_PAGE),
        Resource("replicasets", "apps", page=_LARGE_PAGE),
        Resource("statefulsets", "apps", page=_LARGE_PAGE),
        Resource("daemonsets", "apps", page=_LARGE_PAGE),
    ),
}


class Listed(msgspec.Struct, frozen=True):
    """One list (or one object) as the API gave it. ``trouble`` says why it is not there or not whole."""

    objects: tuple[api.Object, ...]
    damaged: tuple[Damaged, ...] = ()
    trouble: Trouble | None = None
    absent: bool = False
    at: str = ""


class Selector(msgspec.Struct, frozen=True):
    """A label that must have one of these values."""

    key: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """As the API takes it."""
        return f"{self.key}={self.values[0]}" if len(self.values) == 1 else f"{self.key} in ({','.join(self.values)})"

    def matches(self, obj: api.Object) -> bool:
        return (obj.metadata.labels or {}).get(self.key) in self.values


class _Look(msgspec.Struct, frozen=True):
    """One request: all of a namespace (or of the cluster), what a label selects of it, or one object."""

    resource: Resource
    namespace: str
    selector: Selector | None = None
    name: str = ""

    @property
    def whole(self) -> _Look:
        """The list that holds what this look would find."""
        return _Look(self.resource, self.namespace)


class ObjectReader:
    """Meets Needs for API objects; every list is read once."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._looks: dict[_Look, asyncio.Task[Listed]] = {}
        self.damaged: dict[str, Damaged] = {}

    async def meet(self, need: Need) -> tuple[Observed, ...]:
        looks = [look for resource in RESOURCES[need.kind] for look in _looks(resource, need)]
        answers = await asyncio.gather(*(self._listed(look) for look in looks))
        narrowed = not need.namespace and bool(need.about) and not need.name
        found: list[Observed] = []
        bad: list[Observed] = []
        for look, answer in zip(looks, answers, strict=True):
            listing = not narrowed and not answer.trouble and not look.name
            found.extend(
                Observation(
                    need.kind,
                    State.PRESENT,
                    obj,
                    provenance=Provenance(
                        source="kube", command=commands.for_object(obj), at=answer.at or None, listing=listing
                    ),
                )
                for obj in answer.objects
                if _wanted(need, obj)
            )
            if answer.trouble:
                bad.append(_unreadable(need, look, answer.at, answer.trouble))
        if found or bad:
            return (*found, *bad)
        return (self._absent(need, looks, answers, listing=not narrowed),)

    async def all_of(self, kind: Kind, namespace: str, selector: Selector | None = None) -> Listed:
        """A list for the source's own use, e.g. the agents of a data plane."""
        (resource,) = RESOURCES[kind]
        return await self._listed(_Look(resource, namespace, selector))

    async def is_missing(self, namespace: str) -> bool:
        """Whether the list of namespaces is being read, and this one is not in it: nothing there needs to be asked for."""
        whole = _Look(RESOURCES[Kind.NAMESPACE][0], "")
        if whole not in self._looks:
            return False
        listed = await self._looks[whole]
        return not listed.trouble and all(obj.name != namespace for obj in listed.objects)

    async def one(self, kind: Kind, namespace: str, name: str) -> Listed:
        """One object: from the list that is held already, else by itself."""
        (resource,) = RESOURCES[kind]
        listed = await self._listed(_Look(resource, namespace, name=name))
        mine = tuple(obj for obj in listed.objects if obj.name == name)
        return Listed(
            mine, listed.damaged, listed.trouble if not mine else None, not mine and not listed.trouble, listed.at
        )

    def _absent(self, need: Need, looks: Sequence[_Look], answers: Sequence[Listed], *, listing: bool) -> Observed:
        place = f" in namespace {need.namespace}" if need.namespace else ""
        what = f"{need.kind.value} {need.name}".rstrip()
        service = f" of Service {need.service}" if need.service else ""
        at = next((answer.at for answer in answers if answer.at), None)
        provenance = Provenance(source="kube", command=commands.for_need(need), at=at, listing=listing)
        if not listing:
            return unreadable(need.kind, Trouble(Reason.NOT_EVERYWHERE, "not looked at everywhere"), provenance)
        return absent(need.kind, Reason.NOT_AMONG, f"there is no {what}{service}{place}", provenance)

    async def _listed(self, look: _Look) -> Listed:
        """From the list of all where that is read anyway, else by a request of its own."""
        if look not in self._looks and look.whole in self._looks:
            whole = await self._looks[look.whole]
            if not whole.trouble:
                return _narrowed(whole, look)
        if look not in self._looks:
            self._looks[look] = asyncio.ensure_future(self._read(look))
        return await self._looks[look]

    async def _read(self, look: _Look) -> Listed:
        if look.name:
            return await self._read_one(look)
        objects: list[api.Object] = []
        damaged: list[Damaged] = []
        for attempt in (1, 2):
            objects.clear()
            damaged.clear()
            following = ""
            try:
                while True:
                    query = [("limit", str(look.resource.page))]
                    if look.selector:
                        query.append(("labelSelector", look.selector.text))
                    if following:
                        query.append(("continue", following))
                    page = read_page(await self._client.get(look.resource.path(look.namespace), query))
                    for item in page.items:
                        if isinstance(item.value, Damaged):
                            damaged.append(item.value)
                        else:
                            objects.append(reduced(item.value))
                    following = page.following
                    if not following:
                        break
                    if len(objects) >= MAX_OBJECTS:
                        limit = Trouble(Reason.LIMIT, f"more than {MAX_OBJECTS}: the rest was not read")
                        return self._kept(look, objects, damaged, limit)
                return self._kept(look, objects, damaged, None)
            except ApiTrouble as error:
                if error.status == 410 and attempt == 1:
                    continue
                if error.status == 410:
                    return self._kept(look, objects, damaged, _TOO_FAST)
                return self._kept(look, objects, damaged, _trouble(error, look))
            except FormatError as error:
                no_list = Trouble(Reason.MALFORMED, f"the answer is no list of {look.resource.plural}: {error}")
                return self._kept(look, objects, damaged, no_list)
        return self._kept(look, objects, damaged, _TOO_FAST)

    async def _read_one(self, look: _Look) -> Listed:
        try:
            data = await self._client.get(look.resource.path(look.namespace, look.name))
        except ApiTrouble as error:
            if error.status == 404:
                return Listed((), absent=True, at=self._client.at)
            return Listed((), trouble=_trouble(error, look), at=self._client.at)
        try:
            # One object is a list of one, so that both are decoded alike.
            page = read_page(b'{"kind":"List","apiVersion":"v1","items":[' + data + b"]}")
        except FormatError as error:
            return Listed(
                (), trouble=Trouble(Reason.MALFORMED, f"the answer is no object: {error}"), at=self._client.at
            )
        good = [reduced(item.value) for item in page.items if not isinstance(item.value, Damaged)]
        return self._kept(look, good, [item.value for item in page.items if isinstance(item.value, Damaged)], None)

    def _kept(self, look: _Look, objects: list[api.Object], damaged: list[Damaged], trouble: Trouble | None) -> Listed:
        for damage in damaged:
            self.damaged[damage.why] = damage
        if damaged and not trouble:
            share = f"{len(damaged)} of {len(objects) + len(damaged)} {look.resource.plural}"
            trouble = Trouble(Reason.MALFORMED, f"{share} can't be read: {damaged[0].why}")
        return Listed(tuple(objects), tuple(damaged), trouble, at=self._client.at)


def _narrowed(whole: Listed, look: _Look) -> Listed:
    selector = look.selector
    found = tuple(
        obj
        for obj in whole.objects
        if obj.name == (look.name or obj.name) and (selector is None or selector.matches(obj))
    )
    return Listed(found, absent=bool(look.name) and not found, at=whole.at)


def _looks(resource: Resource, need: Need) -> tuple[_Look, ...]:
    if not resource.namespaced:
        return (_Look(resource, "", name=need.name),)
    if need.kind is Kind.ENDPOINT_SLICE and need.service and need.namespace:
        return (_Look(resource, need.namespace, Selector("kubernetes.io/service-name", (need.service,))),)
    if need.kind is Kind.POD and need.pod and not need.name:
        namespace, _, name = need.pod.rpartition("/")
        return (_Look(resource, namespace, name=name),) if namespace else (_Look(resource, need.namespace),)
    single = need.name and need.namespace and need.kind not in (Kind.EVENT, Kind.WORKLOAD)
    if single:
        return (_Look(resource, need.namespace, name=need.name),)
    if not need.namespace and need.about:
        return tuple(_Look(resource, namespace) for namespace in dict.fromkeys(need.about) if namespace)
    return (_Look(resource, need.namespace),)


def _wanted(need: Need, obj: api.Object) -> bool:
    if need.kind is Kind.EVENT:
        subject = obj.subject.name if isinstance(obj, api.Event) else ""
        return not need.name or need.name == subject
    if need.name and obj.name != need.name:
        return False
    if isinstance(obj, api.EndpointSlice) and need.service and obj.service_name != need.service:
        return False
    return not (isinstance(obj, api.Pod) and need.node and obj.spec.node_name != need.node)


def _trouble(error: ApiTrouble, look: _Look) -> Trouble:
    if error.status != 403:
        return error.trouble
    verb = "get" if look.name else "list"
    scope = f" in namespace {look.namespace}" if look.namespace else ""
    why = f"forbidden: no right to {verb} {look.resource.named}{scope}; the rule: {look.resource.rule(verb)}"
    return Trouble(Reason.DENIED, why)


def _unreadable(need: Need, look: _Look, at: str, trouble: Trouble) -> Observed:
    words = ["kubectl"]
    if look.namespace:
        words += ["-n", look.namespace]
    elif look.resource.namespaced:
        words.append("-A")
    words += ["get", look.resource.named, *([look.name] if look.name else [])]
    if look.selector:
        words += ["-l", look.selector.text]
    command = " ".join(shlex.quote(word) for word in [*words, "-o", "yaml"])
    provenance = Provenance(source="kube", command=command, at=at or None)
    return unreadable(need.kind, trouble, provenance)


class _Version(msgspec.Struct, rename={"git_version": "gitVersion"}):
    git_version: str = ""


async def server_version(client: KubeClient) -> str:
    """The API server's version ("v1.35.4"); raises ApiTrouble when it does not answer at all."""
    data = await client.get("/version")
    try:
        return msgspec.json.decode(data, type=_Version).git_version
    except msgspec.MsgspecError:
        return ""
