"""What the evidence itself is worth: damaged files are findings of the layer they belong to, unknown ones are named."""

from __future__ import annotations

import dataclasses
from typing import Any

from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.walk.ask import Asking
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import (
    SEVERITY,
    Evidence,
    Judgement,
    LayerName,
    LayerResult,
    NotTested,
    Standing,
    Status,
)

#: Where a damaged file of a kind may hide something. Kinds not named here: lifecycle.
HOME: dict[str, LayerName] = {
    **{kind.value: "dataplane" for kind in (*DATA_PLANE_DUMPS, Kind.CONNTRACK, Kind.CONNTRACK_STATS, Kind.SYSCTL)},
    Kind.SOCKETS.value: "ports",
    Kind.ATTEMPTS.value: "pod",
    **dict.fromkeys(
        (Kind.RESOLV_CONF.value, Kind.HOSTS.value, Kind.DNS_ANSWERS.value, Kind.COREFILE.value, Kind.LOOKUPS.value),
        "resolution",
    ),
    Kind.SERVICE.value: "service",
}

#: A damaged file of these kinds leaves the layer undecided; of others it is a warning.
DECIDES = frozenset({kind.value for kind in DATA_PLANE_DUMPS} | {Kind.SOCKETS.value, "objects", "kubernetes"})


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
    Kind.EVENT: "events",
    Kind.WORKLOAD: "rollouts",
    Kind.NODE_REPORT: "reports of nodes",
}


def unread(observations: tuple[Observation[Any], ...]) -> tuple[NotTested, ...]:
    """What was there to look at and could not be read, each named. What nobody recorded is the layers' to name."""
    gaps = []
    for one in observations:
        if not _could_not(one):
            continue
        where = one.provenance.path or one.provenance.pod or one.provenance.node
        what = WORDS.get(one.kind, one.kind.value)
        subject = one.provenance.command or where
        home: LayerName = HOME.get(one.kind.value, "endpoints")
        gaps.append(NotTested(home, f"{what} ({subject})" if subject else what, one.reason, one.provenance.command))
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
    if not any(one.kind is Kind.ENDPOINT_SLICE and _could_not(one) for one in observations):
        return result
    if not any(one.kind is Kind.ENDPOINT_SLICE and one.state is State.PRESENT for one in observations):
        return result
    findings = tuple(
        dataclasses.replace(
            one,
            status=Status.INCONCLUSIVE,
            sentence=f"{one.sentence}; a slice could not be read",
            hypotheses=tuple(
                dataclasses.replace(each, standing=Standing.POSSIBLE) if each.standing is not Standing.REFUTED else each
                for each in one.hypotheses
            ),
        )
        if one.code in RESTS_ON_ABSENCE and one.status is Status.FAIL
        else one
        for one in result.findings
    )
    if findings == result.findings:
        return result
    first = min(findings, key=lambda one: SEVERITY.index(one.status))
    return dataclasses.replace(result, findings=findings, status=first.status, sentence=first.sentence)


def _could_not(one: Observation[Any]) -> bool:
    """It was there and could not be read; a source of files says "no KIND ..." for what nobody recorded."""
    return one.state is State.UNREADABLE and not one.reason.startswith("no ")


def check() -> Asking[Judgement]:
    damaged, unplaced = yield (Need(Kind.DAMAGED), Need(Kind.UNPLACED))
    findings = []
    for one in damaged.present:
        kind = one.fact.kind
        path = one.provenance.path
        at = f" at line {one.fact.line}" if one.fact.line else ""
        read = f" ({one.fact.read} read)" if one.fact.read else ""
        home: LayerName = HOME.get(kind, "endpoints" if kind in DECIDES else "lifecycle")
        findings.append(
            finding(
                "SP001",
                Status.INCONCLUSIVE if kind in DECIDES else Status.WARN,
                f"{path}: damaged {kind}{at}: {one.fact.why}{read}",
                evidence=(Evidence(f"{path} is damaged: {one.fact.why}", one),),
                standing=None,
                layer=home,
            )
        )
    gaps = tuple(
        NotTested("evidence", one.provenance.path, f"of no known kind: {one.fact.why}") for one in unplaced.present
    )
    return Judgement(findings=tuple(findings), not_tested=gaps)
