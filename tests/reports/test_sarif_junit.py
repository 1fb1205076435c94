"""SARIF against the schema of OASIS, JUnit against Jenkins' schema, also with hostile evidence."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from svcpath.reports.document import Document, FindingCard, Statement
from svcpath.reports.records import Evidence, Finding, Report
from svcpath.reports.renderers import junit, sarif
from svcpath.reports.views.diagnosis_page import page
from svcpath.status import Status
from tests.reports.samples import HOSTILE, RECORDED, every_code, hostile, recorded
from tests.reports.test_html import timeline

DATA = Path(__file__).parent.parent / "data" / "reports"


@pytest.fixture(scope="module")
def oasis() -> jsonschema.Draft4Validator:
    schema = json.loads(gzip.decompress((DATA / "sarif-schema-2.1.0.json.gz").read_bytes()))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


@pytest.fixture(scope="module")
def jenkins() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(DATA / "junit-10.xsd"))


def reports() -> list[Report]:
    return [*(recorded(mode, service) for mode, service in RECORDED), every_code(), hostile()]


def documents() -> list[Document]:
    piece = Evidence(sentence=HOSTILE[2], command=HOSTILE[3], path="//évil:1/../a b\ud800", line=3)
    sections = (
        Statement(Status.FAIL, "DRIFT", HOSTILE[1]),
        FindingCard(Finding(code="SP603", layer="", status=Status.FAIL, sentence=HOSTILE[0], evidence=(piece,))),
        FindingCard(
            Finding(code="SP604", layer="", status=Status.INCONCLUSIVE, sentence="{0} [a](http://example.test)")
        ),
    )
    return [*(page(report) for report in reports()), Document(HOSTILE[1], sections), timeline(), Document("", ())]


def test_sarif_is_valid(oasis: jsonschema.Draft4Validator) -> None:
    for document in documents():
        log = json.loads(sarif.render(document))
        assert [error.message for error in oasis.iter_errors(log)] == []


def test_the_schema_would_catch_a_wrong_level(oasis: jsonschema.Draft4Validator) -> None:
    log = json.loads(sarif.render(page(every_code())))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(oasis.iter_errors(log))


def test_sarif_results_name_their_rule_level_and_line() -> None:
    log: dict[str, Any] = json.loads(sarif.render(page(recorded("nftables", "wrong-port"))))
    run = log["runs"][0]
    found = next(result for result in run["results"] if result["ruleId"] == "SP403")
    rule = run["tool"]["driver"]["rules"][found["ruleIndex"]]
    assert (rule["id"], found["kind"], found["level"]) == ("SP403", "fail", "error")
    assert "listening" in rule["shortDescription"]["text"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "objects.json.gz"
    for result in run["results"]:
        assert result["level"] == "none" or result["kind"] == "fail"


def test_sarif_paths_are_relative_references_and_messages_hold_no_placeholder() -> None:
    log = json.loads(sarif.render(documents()[-3]))
    first, second = log["runs"][0]["results"]
    place = first["locations"][0]["physicalLocation"]
    assert re.fullmatch(r"[A-Za-z0-9._~%-][A-Za-z0-9._~%/-]*", place["artifactLocation"]["uri"])
    assert place["region"] == {"startLine": 3}
    assert second["message"]["text"] == "{{0}} \\[a\\](http://example.test)"


def test_junit_is_valid(jenkins: xmlschema.XMLSchema) -> None:
    for document in documents():
        text = junit.render(document)
        assert [error.reason for error in jenkins.iter_errors(text)] == []


def test_the_schema_would_catch_a_stray_element(jenkins: xmlschema.XMLSchema) -> None:
    text = junit.render(page(every_code())).replace("<failure ", "<mistake ").replace("</failure>", "</mistake>")
    assert list(jenkins.iter_errors(text))
