"""What the evidence itself is worth: damaged files are findings of the layer they belong to, unknown ones are named."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.text import Damaged, Harm
from svcpath.walk.ask import Asking
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import (
    SEVERITY,
    Evidence,
    Finding,
    Judgement,
    LayerName,
    LayerResult,
    NotTested,
    Standing,
    Status,
)
from svcpath.walk.request import Request

#: Where a damaged file of a kind may hide something. Kinds not named here: lifecycle.
HOME: dict[str, LayerName] = {
    **{kind.value: "dataplane" for kind in (*DATA_PLANE_DUMPS, Kind.CONNTRACK, Kind.CONNTRACK_STATS, Kind.SYSCTL)},
    Kind.ROUTES.value: "pod",
    Kind.SOCKETS.value: "ports",
    Kind.ATTEMPTS.value: "pod",
    **dict.fromkeys(
        (Kind.RESOLV_CONF.value, Kind.HOSTS.value, Kind.DNS_ANSWERS.value, Kind.COREFILE.value, Kind.LOOKUPS.value),
        "resolution",
    ),
    Kind.SERVICE.value: "service",
}

#: A damaged file by the name of its format: the layer that it speaks of.
FORMATS: tuple[tuple[str, LayerName], ...] = (
    ("Kubernetes", "endpoints"),
    ("watch", "endpoints"),
    ("iptables", "dataplane"),
    ("nft", "dataplane"),
    ("ipvs", "dataplane"),
    ("/proc/net/ip_vs", "dataplane"),
    ("ipset", "dataplane"),
    ("cilium", "dataplane"),
    ("calico", "dataplane"),
    ("conntrack", "dataplane"),
    ("ip route", "pod"),
    ("routes", "pod"),
    ("/proc/net", "ports"),
    ("ss", "ports"),
    ("netstat", "ports"),
    ("Corefile", "resolution"),
    ("DNS", "resolution"),
    ("resolv.conf", "resolution"),
    ("nsswitch.conf", "resolution"),
    ("hosts", "resolution"),
    ("environment", "resolution"),
)
#: What of these kinds is missing from a damaged file may be what the Service fails by.
ON_THE_PATH = frozenset({Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.POD, *DATA_PLANE_DUMPS})


#: In words, what a look at each kind is for.
WORDS = {
    Kind.SERVICE: "the Service",
    Kind.ENDPOINT_SLICE: "a slice",
    Kind.POD: "a Pod",
    Kind.NODE: "a node",
    Kind.SOCKETS: "listening sockets",
    Kind.ATTEMPTS: "recorded connections",
    Kind.NETWORK_POLICY: "NetworkPolicies",
    Kind.CONNTRACK: "connection tracking",
    Kind.ROUTES: "routes",
    Kind.EVENT: "events",
    Kind.WORKLOAD: "rollouts",
    Kind.NODE_REPORT: "reports of nodes",
}


def unread(observations: tuple[Observation[Any], ...]) -> tuple[NotTested, ...]:
    """What was there to look at and could not be read, each named. What nobody recorded is the layers' to name."""
    gaps = []
    for one in observations:
        if not one.refused:
            continue
        where = one.provenance.path or one.provenance.pod or one.provenance.node
        what = WORDS.get(one.kind, one.kind.value)
        subject = one.provenance.command or where
        home: LayerName = HOME.get(one.kind.value, "endpoints")
        gaps.append(NotTested(home, f"{what} ({subject})" if subject else what, one.why, one.provenance.command))
    return tuple(dict.fromkeys(gaps))


#: Findings that rest on what the slices lack: a slice that could not be read may hold it.
RESTS_ON_ABSENCE = frozenset(
    {
        "SP301",
        "SP302",
        "SP303",
        "SP304",
        "SP305",
        "SP308",
        "SP310",
        "SP312",
        "SP411",
        "SP602",
        "SP603",
        "SP604",
        "SP605",
    }
)


def cautious(result: LayerResult, observations: tuple[Observation[Any], ...]) -> LayerResult:
    """Where a slice could not be read, nothing is concluded from what the others lack."""
    if not any(one.kind is Kind.ENDPOINT_SLICE and one.refused for one in observations):
        return result
    if not any(one.kind is Kind.ENDPOINT_SLICE and one.state is State.PRESENT for one in observations):
        return result
    findings = tuple(
        _doubted(one, "a slice could not be read")
        if one.code in RESTS_ON_ABSENCE and one.status is Status.FAIL
        else one
        for one in result.findings
    )
    return _with(result, findings)


def weighed(results: list[LayerResult], damages: list[Damage]) -> list[LayerResult]:
    """What rests on the absence of something in a damaged file decides nothing."""
    paths = {one.path for one in damages if one.cut}
    objects = any(one.layer == "endpoints" and one.cut for one in damages)
    return [_weighed(result, paths, objects=objects) for result in results] if paths else results


#: Findings that say that something is not there, by where it would be.
NOT_IN_OBJECTS = frozenset({"SP201", "SP301", "SP302", "SP303", "SP304", "SP306", "SP308", "SP310", "SP311"})
NOT_IN_TABLE = frozenset({"SP601", "SP604", "SP605", "SP616", "SP618"})


def _weighed(result: LayerResult, paths: set[str], *, objects: bool) -> LayerResult:
    def doubtful(one: Finding) -> bool:
        if one.status is not Status.FAIL:
            return False
        if one.code in NOT_IN_OBJECTS:
            return objects and not _shown_empty(one)
        held = {each.observation.provenance.path for each in one.evidence if each.observation}
        return one.code in NOT_IN_TABLE and bool(held & paths)

    findings = tuple(
        _doubted(one, "a file of the evidence is damaged") if doubtful(one) else one for one in result.findings
    )
    return _with(result, findings)


def _shown_empty(one: Finding) -> bool:
    """An empty slice is the controller's own word that nothing is selected, whatever else was lost."""
    slices = [each.observation.value for each in one.evidence if each.observation is not None]
    held = [each for each in slices if isinstance(each, EndpointSlice)]
    return one.code in ("SP301", "SP304") and bool(held) and not any(each.endpoints for each in held)


def doubted(result: LayerResult, why: str) -> LayerResult:
    """The layer with every fault of it in doubt."""
    return _with(result, tuple(_doubted(one, why) if one.status is Status.FAIL else one for one in result.findings))


def _doubted(one: Finding, why: str) -> Finding:
    return msgspec.structs.replace(
        one,
        status=Status.INCONCLUSIVE,
        sentence=f"{one.sentence}; {why}",
        hypotheses=tuple(
            msgspec.structs.replace(each, standing=Standing.POSSIBLE) if each.standing is not Standing.REFUTED else each
            for each in one.hypotheses
        ),
    )


def _with(result: LayerResult, findings: tuple[Finding, ...]) -> LayerResult:
    """The layer with other findings; its status and sentence follow the worst."""
    if findings == result.findings:
        return result
    first = min(findings, key=lambda one: SEVERITY.index(one.status))
    return msgspec.structs.replace(result, findings=findings, status=first.status, sentence=first.sentence)


class Damage(msgspec.Struct, frozen=True):
    """One damaged file: whose layer it is, and whether what it lost may matter to the path (``cut``)."""

    observation: Observation[Damaged]
    layer: LayerName
    cut: bool

    @property
    def path(self) -> str:
        return self.observation.provenance.path


def damages(observations: tuple[Observation[Any], ...], request: Request) -> Asking[list[Damage]]:
    """Every damaged file. ``observations`` are what the walk looked at: they tell which files hold parts of the path. No
    node's table is on the path of a headless Service or an ExternalName."""
    services = [one.value for one in observations if one.kind is Kind.SERVICE and isinstance(one.value, Service)]
    mine = [one for one in services if (one.namespace, one.name) == (request.namespace, request.service)]
    untranslated = any(one.is_headless or one.is_external_name for one in mine)
    on_path = ON_THE_PATH - set(DATA_PLANE_DUMPS) if untranslated else ON_THE_PATH
    kinds: dict[str, set[Kind]] = {}
    for one in observations:
        if one.state is State.PRESENT and one.kind is not Kind.DAMAGED:
            kinds.setdefault(one.provenance.path, set()).add(one.kind)
    (reply,) = yield (Need(Kind.DAMAGED),)
    return [_damage(one, kinds.get(one.provenance.path, set()), on_path) for one in reply.present]


def _damage(one: Observation[Damaged], held: set[Kind], parts: frozenset[Kind]) -> Damage:
    name = one.fact.kind
    layer: LayerName = HOME.get(name, "lifecycle")
    layer = next((home for start, home in FORMATS if name.startswith(start)), layer)
    if layer == "endpoints" and held and not held & parts:
        layer = "pod" if Kind.NODE in held else "resolution" if Kind.CONFIG_MAP in held else "lifecycle"
    on_path = bool(held & parts) or (layer == "endpoints" and not held)
    return Damage(one, layer, cut=on_path and one.fact.harm is Harm.LOST)


def check(found: list[Damage]) -> Asking[Judgement]:
    (unplaced,) = yield (Need(Kind.UNPLACED),)
    findings = []
    for damage in found:
        one, path = damage.observation, damage.path
        at = f" at line {one.fact.line}" if one.fact.line else ""
        read = f" ({one.fact.read} read)" if one.fact.read else ""
        findings.append(
            finding(
                "SP001",
                Status.INCONCLUSIVE if damage.cut else Status.WARN,
                f"{path}: damaged {one.fact.kind}{at}: {one.fact.why}{read}",
                evidence=(Evidence(f"{path} is damaged: {one.fact.why}", one),),
                standing=None,
                layer=damage.layer,
            )
        )
    gaps = tuple(
        NotTested("evidence", one.provenance.path, f"of no known kind: {one.fact.why}") for one in unplaced.present
    )
    return Judgement(findings=tuple(findings), not_tested=gaps)
