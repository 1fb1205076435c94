"""`svcpath explain`: every code has its page, every symptom its causes in order, and a symptom never decides alone."""

from __future__ import annotations

import pytest

from svcpath.findings.catalogue import catalogue
from svcpath.findings.symptoms import recognise, symptoms
from svcpath.reports.views.explanation import fields, in_capitals
from svcpath.status import Confidence
from tests.cli.running import svcpath
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import port


@pytest.mark.parametrize("code", catalogue())
def test_every_code_has_a_page_with_its_meaning_and_what_would_disprove_it(code: str) -> None:
    known = catalogue()[code]
    ran = svcpath("explain", code.lower())
    assert ran.code == 0
    confidences = " ".join(ran.out.split())
    for part in (code, known.title, known.meaning, in_capitals(known.remedy)):
        assert " ".join(part.split()) in confidences
    if known.disproof:
        assert "To disprove" in ran.out
        assert " ".join(in_capitals(known.disproof.refutes).split()) in confidences


@pytest.mark.parametrize("code", catalogue())
def test_a_placeholder_is_printed_in_capitals_without_braces(code: str) -> None:
    known, printed = catalogue()[code], svcpath("explain", code).out
    disproof = (known.disproof.command, known.disproof.refutes) if known.disproof else ()
    templates = (known.remedy, *disproof)
    # The braces that are left are jsonpath's, curl's and the Corefile's own, which a template writes twice.
    assert printed.count("{") == sum(template.count("{{") for template in templates)
    assert printed.count("}") == sum(template.count("}}") for template in templates)
    for name in {name for template in templates for name in fields(template)}:
        assert name.upper().replace("_", "-") in printed


def test_the_list_names_every_code_with_its_layer() -> None:
    ran = svcpath("explain", "--list")
    assert ran.code == 0
    for code, known in catalogue().items():
        assert any(
            line.startswith(code) and known.layer in line and known.title in line for line in ran.out.splitlines()
        )


@pytest.mark.parametrize(
    ("text", "name", "first"),
    [
        ("Connection refused", "connection refused", "the slices hold no usable endpoint"),
        ("dial tcp 10.96.0.9:80: connect: connection refused", "connection refused", "the slices hold no usable"),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "connection refused", "the slices hold no usable"),
        ("curl: (28) Connection timed out after 2001 ms", "timeout", "packets to the Pod are dropped"),
        ("context deadline exceeded", "timeout", "packets to the Pod are dropped"),
        ("dial tcp: lookup web: no such host", "no such host", "the name, its namespace"),
        ("java.net.UnknownHostException: web", "no such host", "the name, its namespace"),
        ("getaddrinfo ENOTFOUND web", "no such host", "the name, its namespace"),
        ("Name has no usable address", "no such host", "the name, its namespace"),
        (
            "Temporary failure in name resolution",
            "temporary failure in name resolution",
            "the cluster DNS has no ready",
        ),
        ("getaddrinfo EAI_AGAIN web", "temporary failure in name resolution", "the cluster DNS has no ready"),
        ("read: connection reset by peer", "connection reset", "the Pod ended"),
        ("unexpected EOF", "connection reset", "the Pod ended"),
        (
            "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
            "connection refused",
            "the slices hold no usable endpoint",
        ),
        ("connect: no route to host", "no route to host", "the endpoint's address"),
    ],
)
def test_an_error_text_gives_its_causes_in_order_with_the_command_that_splits_them(
    text: str, name: str, first: str
) -> None:
    ran = svcpath("explain", text)
    assert ran.code == 0
    symptom = recognise(text)
    assert symptom is not None
    assert symptom.name == name
    lines = ran.out.splitlines()
    numbered = [line for line in lines if line.startswith("  ") and line.strip()[:1].isdigit()]
    assert first in numbered[0]
    assert len(numbered) == len(symptom.causes)
    for cause, line in zip(symptom.causes, numbered, strict=True):
        assert cause.text in line
        assert cause.layer in line


def test_every_code_of_a_symptom_is_in_the_catalogue() -> None:
    for symptom in symptoms():
        for cause in symptom.causes:
            assert set(cause.codes) <= set(catalogue()), symptom.name
            assert {catalogue()[code].layer for code in cause.codes} <= {cause.layer, "evidence"}, cause.text


# --- --symptom ------------------------------------------------------------------------------------------------------

REJECT = "a REJECT rule on the node that should not be there"
UNBOUND = "nothing listens on the target port in the Pod"


def _confidences(made: Cluster) -> tuple[str, dict[str, Confidence]]:
    report = made.diagnose(symptom="Connection refused")
    confidences = {
        hypothesis.cause: hypothesis.confidence
        for finding in report.findings
        if finding.code == "SP010"
        for hypothesis in finding.hypotheses
    }
    return report.verdict.status, confidences


def test_refused_leaves_the_reject_and_the_unbound_port_open_if_nobody_looked() -> None:
    status, confidences = _confidences(cluster(sockets=False).settle())
    assert status == "inconclusive"
    assert confidences[REJECT] == "possible"
    assert confidences[UNBOUND] == "possible"


def test_socket_lists_close_the_unbound_port_and_leave_the_reject_open() -> None:
    status, confidences = _confidences(cluster().settle())
    assert status == "inconclusive"
    assert confidences[UNBOUND] == "refuted"
    assert confidences[REJECT] == "possible"


def test_rule_dumps_close_the_reject_and_leave_the_unbound_port_open() -> None:
    made = cluster(sockets=False).settle()
    made.dumps = True
    status, confidences = _confidences(made)
    assert status == "inconclusive"
    assert confidences[UNBOUND] == "possible"
    assert confidences[REJECT] == "refuted"


def test_both_looked_at_leave_nothing_open_and_the_symptom_changes_nothing() -> None:
    made = cluster().settle()
    made.dumps = True
    status, confidences = _confidences(made)
    assert set(confidences.values()) <= {"refuted"}
    assert status == "healthy"


def test_a_fault_that_the_evidence_shows_decides_with_or_without_the_symptom() -> None:
    made = cluster(ports=[port(80, 18080)]).settle()
    with_text, without = made.diagnose(symptom="Connection refused"), made.diagnose()
    assert with_text.verdict == without.verdict
    assert with_text.verdict.code == "SP403"


def test_a_symptom_alone_never_makes_a_fault() -> None:
    for symptom in symptoms():
        for word in symptom.words:
            assert cluster().settle().diagnose(symptom=word).verdict.status in ("healthy", "inconclusive"), word
