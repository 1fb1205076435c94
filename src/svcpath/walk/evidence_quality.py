"""What the evidence itself is worth: damaged files are findings of the layer they belong to, unknown ones are named."""

from __future__ import annotations

from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind, Need
from svcpath.walk.ask import Asking
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Judgement, LayerName, NotTested, Status

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
