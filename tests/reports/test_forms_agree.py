"""One report in all its forms: terminal, Markdown, HTML, SARIF, JUnit and JSON say the same statuses and codes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from svcpath.findings.catalogue import catalogue
from svcpath.reports.records import Report
from svcpath.reports.renderers import html, junit, markdown, sarif, terminal
from svcpath.reports.report import encode
from svcpath.reports.views.diagnosis import document
from svcpath.reports.views.diagnosis_page import page
from tests.reports import forms
from tests.reports.samples import RECORDED, every_code, recorded
from tests.walk.layers.every_input import BROKEN, SOUND


def agree(report: Report) -> None:
    pairs = forms.of_json(encode(report))
    shown = document(report, verbose=True)
    assert forms.of_text(terminal.render(shown)) == pairs
    assert forms.of_text(markdown.render(shown)) == pairs
    whole = page(report)
    assert forms.Page(html.render(whole)).pairs == pairs
    assert forms.of_sarif(sarif.render(whole)) == pairs
    # The long Document, read from top to bottom, loses none either.
    assert forms.of_text(terminal.render(whole)) == pairs
    assert forms.of_text(markdown.render(whole)) == pairs


def test_every_code_of_the_catalogue_has_one_status_in_all_forms() -> None:
    report = every_code()
    assert {finding.code for finding in report.findings} == set(catalogue())
    agree(report)


@pytest.mark.parametrize(("mode", "service"), RECORDED)
def test_recordings_read_the_same_in_all_forms(mode: str, service: str) -> None:
    agree(recorded(mode, service))


def test_every_kind_of_fault_reads_the_same_in_all_forms() -> None:
    for made in (*BROKEN, *SOUND):
        agree(made.report)


def test_layers_end_alike_in_html_terminal_and_junit() -> None:
    report = every_code()
    wanted = [(layer.name, layer.status) for layer in report.layers]
    whole = page(report)
    assert forms.Page(html.render(whole)).layers == wanted
    kinds = {"fail": "failure", "inconclusive": "error", "not-looked-at": "skipped", "skipped": "skipped"}
    cases = ElementTree.fromstring(junit.render(whole)).iter("testcase")
    assert [(case.get("name"), case[0].tag) for case in cases] == [
        (name, kinds.get(status, "system-out")) for name, status in wanted
    ]
    lines = markdown.render(document(report)).splitlines()
    table = [re.match(r"\| \S (\S+?)(?:, not decisive)? \| (\S+) \|", line) for line in lines]
    assert [(row[2], row[1]) for row in table if row] == wanted


def test_the_html_verdict_is_the_json_summary() -> None:
    for mode, service in RECORDED:
        report = recorded(mode, service)
        assert forms.Page(html.render(page(report))).summary == report.verdict.summary
