"""Reports to render: every shipped recording and Service, one with every code, and one in which every text is hostile."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import msgspec

from svcpath import api
from svcpath.drain.grid.cells import CELLS
from svcpath.drain.grid.compare import compare, record
from svcpath.drain.grid.measure import End, Measured
from svcpath.evidence.sources.recordings import recording
from svcpath.findings.catalogue import catalogue
from svcpath.findings.finding import LAYERS
from svcpath.reports import records
from svcpath.reports.drain import SCHEMA as DRAIN
from svcpath.reports.drain import DrainContract, LoadRecord, ScenarioRecord
from svcpath.reports.records import Report
from svcpath.reports.score import Diagnosed, ScoreContract
from svcpath.status import SEVERITY, Confidence
from svcpath_lab.faults.fault import shipped
from svcpath_lab.score import row as scored

RECORDED = [
    (mode, service) for mode in ("iptables", "nftables") for service in ("echo-server", "empty-service", "wrong-port")
]

#: Texts that break out of HTML, attributes, styles, scripts, XML or a terminal, if anything lets them.
HOSTILE = (
    "<script>window.hacked=1</script>",
    "\"><img src=x onerror='window.hacked=1'>",
    "</style></script><script>window.hacked=1</script>",
    "' onmouseover='window.hacked=1' x='",
    "javascript:window.hacked=1",
    "\u202egnp.exe\u2066\u200f\ufeff",
    "\x1b]8;;http://example.test\x07\x00\x08",
    "]]> --> <!-- &lt;script&gt; &#x3c;script&#x3e;",
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1}",
    "\ud800 lone surrogate",
    "x" * 300_000,
)


@functools.cache
def recorded(mode: str, service: str) -> Report:
    return api.diagnose(recording(mode), f"svc/{service}", namespace="service-ops", client="pod/client")


def every_code() -> Report:
    """A report in which each code of the catalogue stands once, statuses taking turns, every layer with findings."""
    base = recorded("iptables", "wrong-port")
    statuses = itertools.cycle(SEVERITY)
    findings = []
    for code, known in catalogue().items():
        layer = known.layer if known.layer in LAYERS else "resolution"
        evidence = records.Evidence(sentence=f"seen for {code}", command=f"kubectl get {code}", observation=None)
        hypothesis = records.Hypothesis(
            cause=f"cause of {code}",
            layer=layer,
            confidence=Confidence.SUPPORTED,
            supports=(evidence,),
            against=(),
            disproof=f"check {code}",
            refutes="printing nothing",
        )
        findings.append(
            records.Finding(
                code=code,
                layer=layer,
                status=next(statuses),
                sentence=f"sentence of {code}",
                share="1 of 2 backends",
                details=(f"detail of {code}",),
                remedy=f"fix {code}",
                evidence=(evidence,),
                hypotheses=(hypothesis,),
            )
        )
    layers = tuple(
        records.Layer(
            name=name,
            status=SEVERITY[i % len(SEVERITY)],
            decisive=i < 2,
            sentence=f"what {name} says",
            findings=tuple(n for n, finding in enumerate(findings) if finding.layer == name),
        )
        for i, name in enumerate(LAYERS)
    )
    return msgspec.structs.replace(base, findings=tuple(findings), layers=layers)


def hostile() -> Report:
    """The fault's report with every free text replaced: names, sentences, commands, paths, times."""
    payloads = itertools.cycle(HOSTILE)
    kept = {"schema", "status", "confidence", "layer", "cause_layer", "observation", "id", "state", "kind", "socket"}

    def spoilt(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if key == "frontends":
                return {next(payloads): next(payloads) for _ in value}
            return {name: spoilt(inner, name) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return (
                value
                if key in ("layers", "listens_on") and value and isinstance(value[0], str | int)
                else [spoilt(inner, key) for inner in value]
            )
        if isinstance(value, str) and key not in kept:
            return next(payloads)
        return value

    base = msgspec.to_builtins(recorded("nftables", "wrong-port"))
    return msgspec.convert(spoilt(base), Report)


def score() -> ScoreContract:
    """As the lab writes it: right, undecided, missed, and a false accusation."""
    rows = [
        scored.row(
            fault, "iptables", Diagnosed(status=status, layer="ports", code="SP403", summary="nothing listens"), 1.5
        )
        for fault in shipped()[:2]
        for status in ("fault", "inconclusive", "healthy")
    ]
    return scored.results(rows, {"svcpath": "0", "kernel": "6.1"})


def drain() -> DrainContract:
    """Three variants of a scenario, of which one could not be played, and two cells of the grid, of which one differs."""
    played = tuple(
        ScenarioRecord(
            number=2,
            title="longest request",
            does="deletes a Pod during a slow request",
            measures="whether it gets its answer",
            passes_when="it does",
            variant=variant,
            why=why,
            passed=passed,
            as_it_should=None if passed is None else True,
            sentence=text,
            measured={"answered": 6.1, "lost": None},
        )
        for variant, why, passed, text in (
            ("long", "the grace period is long enough", True, "6.0 s asked, 6.1 s answered"),
            ("short", "it is too short", False, "6.0 s asked, cut after 3.2 s"),
            ("outside", "needs a place outside", None, "no node port is reachable here"),
        )
    )
    seen = [
        Measured(refused=lost, cut=False, killed=False, signal=at, ends=ends, tried=9, requests=6, codes=(("app", 0),))
        for lost, at, ends in (
            (True, None, (End("app", 6.0, 1.0, "status"),)),
            (False, 6.1, (End("app", 6.2, 0.0, "connection"),)),
        )
    ]
    cells = tuple(record(compare(CELLS[0], end, "image")) for end in seen)
    load = LoadRecord(
        rate=2.0,
        seconds=2.0,
        took=2.0,
        pods=1,
        announced=4,
        recorded=4,
        duplicated=0,
        lost=0,
        unlogged=0,
        logged=3,
        failed=1,
        late=0,
        latest=0.0,
        sampler_used=0.1,
        sampler_waited=0.2,
        replaced=1,
        lost_pods=0,
        cores=0.1,
        outcomes={"ok": 3, "refused": 1},
    )
    return DrainContract(schema=DRAIN, facts={"svcpath": "0"}, scenarios=played, cells=cells, loads=(load,))
