"""From seven layers to one verdict: what decides, what it names, and what a later layer still says."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import LAYERS, Gap, LayerAnswer, LayerName
from svcpath.judge.judge import Diagnosis
from svcpath.reports.report import report
from svcpath.status import Confidence, Status
from svcpath.walk.failed import FailedConnection
from tests.judge.build import found, judged, layer, looked, present

WARN, FAIL, OPEN = Status.WARN, Status.FAIL, Status.INCONCLUSIVE
UNSEEN = LayerAnswer(gaps=(Gap("endpoints", "the slices", "no right"),))


def _short(diagnosis: Diagnosis) -> tuple[str, str | None, str | None, str]:
    verdict = diagnosis.verdict
    return verdict.status, verdict.layer, verdict.cause_layer, verdict.code


# --- the order of the words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({}, ("healthy", None, None, "")),
        ({"lifecycle": looked(found("SP705", "lifecycle", WARN))}, ("warning", "lifecycle", "lifecycle", "SP705")),
        (
            {
                "endpoints": looked(found("SP305", "endpoints", WARN)),
                "dataplane": looked(found("SP601", "dataplane", OPEN)),
            },
            ("inconclusive", None, "dataplane", "SP601"),
        ),
        (
            {
                "endpoints": looked(found("SP305", "endpoints", OPEN)),
                "dataplane": looked(found("SP601", "dataplane", FAIL)),
            },
            ("fault", "dataplane", "dataplane", "SP601"),
        ),
        (
            {"ports": looked(found("SP403", "ports", FAIL)), "dataplane": looked(found("SP601", "dataplane", FAIL))},
            ("fault", "ports", "ports", "SP403"),
        ),
        (
            {"endpoints": looked(found("SP305", "endpoints", WARN)), "ports": looked(found("SP401", "ports", WARN))},
            ("warning", "endpoints", "endpoints", "SP305"),
        ),
        ({"endpoints": UNSEEN}, ("inconclusive", None, None, "")),
    ],
)
def test_a_fault_decides_before_what_is_open_and_that_before_a_warning(
    answers: dict[LayerName, LayerAnswer], verdict: tuple[str, str | None, str | None, str]
) -> None:
    assert _short(judged(answers)) == verdict


def test_a_warning_beside_endpoints_that_were_not_looked_at_says_so() -> None:
    diagnosis = judged({"endpoints": UNSEEN, "lifecycle": looked(found("SP705", "lifecycle", WARN))})
    assert diagnosis.verdict.status == "warning"
    assert diagnosis.verdict.summary.endswith("the endpoints were not looked at")


def test_a_service_asked_for_by_name_has_to_be_looked_at_or_in_a_table() -> None:
    nothing = LayerAnswer()
    assert judged({"service": nothing, "dataplane": nothing}).verdict.status == "inconclusive"
    assert judged({"service": nothing}).verdict.status == "healthy"
    assert judged({"service": nothing, "dataplane": nothing}, named=False).verdict.status == "healthy"


def test_without_a_service_something_has_to_pass() -> None:
    nothing: dict[LayerName, LayerAnswer] = dict.fromkeys(LAYERS, LayerAnswer())
    assert judged(nothing, request=Request(), named=False).verdict.status == "inconclusive"
    assert judged({**nothing, "resolution": looked()}, request=Request(), named=False).verdict.status == "healthy"


def test_a_healthy_verdict_names_what_was_not_looked_at() -> None:
    diagnosis = judged({"pod": LayerAnswer(gaps=(Gap("pod", "a direct connection", "not tried"),))})
    assert diagnosis.verdict.summary.endswith("not looked at: a direct connection")


# --- which finding of a layer decides ---------------------------------------------------------------------------------


def test_what_says_why_leads_before_what_only_says_what_was_seen() -> None:
    seen, why = (
        found("SP501", "pod", confidence=Confidence.PROVEN),
        found("SP503", "pod", confidence=Confidence.POSSIBLE),
    )
    assert judged({"pod": looked(seen, why)}).verdict.code == "SP503"


def test_a_proven_finding_leads_before_a_supported_one() -> None:
    findings = found("SP305", "endpoints"), found("SP306", "endpoints", confidence=Confidence.PROVEN)
    assert judged({"endpoints": looked(*findings)}).verdict.code == "SP306"


def test_the_cause_lies_where_the_best_hypothesis_lies() -> None:
    diagnosis = judged({"resolution": looked(found("SP109", "resolution", cause="endpoints"))})
    assert _short(diagnosis) == ("fault", "resolution", "endpoints", "SP109")


# --- one finding explains another ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("explains", "status", "verdict"),
    [
        (("SP304",), FAIL, ("fault", "dataplane", "dataplane", "SP617")),
        ((), FAIL, ("fault", "endpoints", "endpoints", "SP304")),
        (("SP304",), WARN, ("fault", "endpoints", "endpoints", "SP304")),
        (("SP305",), FAIL, ("fault", "endpoints", "endpoints", "SP304")),
    ],
)
def test_a_fault_that_another_fault_explains_is_a_warning_beside_it(
    explains: tuple[str, ...], status: Status, verdict: tuple[str, str, str, str]
) -> None:
    cause = found("SP617", "dataplane", status, explains=explains)
    diagnosis = judged({"endpoints": looked(found("SP304", "endpoints")), "dataplane": looked(cause)})
    assert _short(diagnosis) == verdict
    assert layer(diagnosis, "endpoints").status is (WARN if verdict[3] == "SP617" else FAIL)


def test_what_is_open_is_not_outranked() -> None:
    cause = found("SP617", "dataplane", explains=("SP304",))
    diagnosis = judged({"endpoints": looked(found("SP304", "endpoints", OPEN)), "dataplane": looked(cause)})
    assert layer(diagnosis, "endpoints").status is OPEN


@pytest.mark.parametrize(
    ("code", "layer_name", "cause", "cause_layer", "status", "named"),
    [
        ("SP101", "resolution", "SP617", "dataplane", FAIL, "SP617"),
        ("SP101", "resolution", "SP201", "service", FAIL, "SP201"),
        ("SP502", "pod", "SP617", "dataplane", FAIL, "SP617"),
        ("SP101", "resolution", "SP601", "dataplane", FAIL, "SP101"),
        ("SP101", "resolution", "SP617", "dataplane", WARN, "SP101"),
        ("SP102", "resolution", "SP617", "dataplane", FAIL, "SP102"),
    ],
)
def test_a_symptom_yields_to_the_cause_that_a_later_layer_shows(
    code: str, layer_name: LayerName, cause: str, cause_layer: LayerName, status: Status, named: str
) -> None:
    diagnosis = judged(
        {layer_name: looked(found(code, layer_name)), cause_layer: looked(found(cause, cause_layer, status))}
    )
    assert diagnosis.verdict.code == named
    assert diagnosis.verdict.layer == layer_name
    assert diagnosis.verdict.cause_layer == (cause_layer if named == cause else layer_name)


def test_the_verdict_points_at_its_finding_also_where_that_is_a_later_layers() -> None:
    warning = found("SP617", "dataplane", WARN, sentence="first")
    cause = found("SP617", "dataplane", FAIL, sentence="second")
    made = report(judged({"resolution": looked(found("SP101", "resolution")), "dataplane": looked(warning, cause)}))
    assert made.verdict.finding is not None
    assert made.findings[made.verdict.finding].sentence == "second"
    assert made.verdict.code == "SP617"


def test_of_findings_in_the_same_words_the_verdict_points_at_the_one_that_decides() -> None:
    first = found("SP305", "endpoints", sentence="the same")
    proven = found("SP305", "endpoints", confidence=Confidence.PROVEN, sentence="the same")
    made = report(judged({"endpoints": looked(first, proven)}))
    assert made.verdict.finding == 1
    assert report(judged({})).verdict.finding is None


# --- what still counts after the first that fails ----------------------------------------------------------------------


def test_layers_after_the_first_that_fails_do_not_decide() -> None:
    diagnosis = judged({"ports": looked(found("SP403", "ports")), "dataplane": looked(found("SP601", "dataplane"))})
    assert [result.decisive for result in diagnosis.layers] == [True] * 4 + [False] * 3
    assert layer(diagnosis, "dataplane").status is FAIL
    assert all(result.decisive for result in judged({}).layers)
    assert all(result.decisive for result in judged({"ports": looked(found("SP403", "ports", OPEN))}).layers)


# --- connections and symptoms that nothing explains --------------------------------------------------------------------


def _refused(*, direct: bool = False) -> FailedConnection:
    attempt = Attempt(client="shop/client", host="web", port=80, outcome="refused")
    return FailedConnection(attempt, present(Attempts(attempts=(attempt,)), Kind.ATTEMPTS), "", direct)


@pytest.mark.parametrize(("direct", "code"), [(False, "SP011"), (True, "SP619")])
def test_a_connection_that_failed_unexplained_is_never_healthy_and_no_fault(direct: bool, code: str) -> None:
    diagnosis = judged({}, failed=_refused(direct=direct))
    assert _short(diagnosis) == ("inconclusive", None, "dataplane", code)


@pytest.mark.parametrize("status", [FAIL, OPEN])
def test_a_connection_that_failed_adds_nothing_to_a_finding_that_is_bad(status: Status) -> None:
    diagnosis = judged({"ports": looked(found("SP403", "ports", status))}, failed=_refused())
    assert diagnosis.verdict.code == "SP403"
    assert not layer(diagnosis, "dataplane").findings


def test_a_stated_symptom_leaves_open_what_the_evidence_leaves_open() -> None:
    gap = LayerAnswer(gaps=(Gap("ports", "the sockets", "not looked at"),))
    diagnosis = judged({"ports": gap}, symptom="connection refused")
    assert (diagnosis.verdict.status, diagnosis.verdict.code) == ("inconclusive", "SP010")
    explained = judged({"ports": looked(found("SP403", "ports"))}, symptom="connection refused")
    assert (explained.verdict.status, explained.verdict.code) == ("fault", "SP403")


def test_a_symptom_that_is_not_known_is_named_and_ranks_nothing() -> None:
    diagnosis = judged({}, symptom="it feels slow")
    assert diagnosis.verdict.status == "healthy"
    assert [gap.layer for gap in diagnosis.not_looked_at] == ["evidence"]
