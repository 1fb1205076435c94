"""A Document as JUnit XML, for CI that shows tests: a case for each layer, and for each finding that stands alone.

The shape is the one of Jenkins' xunit schema (junit-10.xsd). A layer that fails is a failure, one that could not decide
an error, one that could not be looked at skipped; a warning passes and stands in the case's output. No clock: no times.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import msgspec

from svcpath.reports.document import Document, FindingCard, Path, Statement, StatusLine
from svcpath.reports.records import Evidence
from svcpath.reports.renderers.text import printable
from svcpath.status import Status


class Case(msgspec.Struct, frozen=True):
    name: str
    group: str
    status: Status
    text: str
    kind: str
    body: str


def render(document: Document) -> str:
    cases = tuple(_cases(document))
    failures = sum(1 for case in cases if case.status is Status.FAIL)
    errors = sum(1 for case in cases if case.status is Status.INCONCLUSIVE)
    skipped = sum(1 for case in cases if case.status in (Status.NOT_LOOKED_AT, Status.SKIPPED))
    name = _attribute(f"{document.subject} {document.title}".strip() or "svcpath")
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    body = "".join(_element(case) for case in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="svcpath" {counts}>\n'
        f'  <testsuite name={name} {counts} skipped="{skipped}">\n{body}  </testsuite>\n</testsuites>\n'
    )


def _cases(document: Document) -> Iterator[Case]:
    """The lines of a path where there is one; else the statements and findings themselves."""
    paths = [section for section in document.sections if isinstance(section, Path)]
    for path in paths:
        for line in path.lines:
            yield _of_line(line, document)
    if paths:
        return
    for section in document.sections:
        if isinstance(section, Statement):
            code = section.code or section.status.value
            yield Case(section.word, document.title, section.status, section.text, code, "")
        elif isinstance(section, FindingCard):
            finding = section.finding
            name = f"{finding.code} {finding.sentence}"
            group = finding.layer or document.title
            yield Case(name, group, finding.status, finding.sentence, finding.code, _body(section))


def _of_line(line: StatusLine, document: Document) -> Case:
    cards = [detail for detail in line.details if isinstance(detail, FindingCard)]
    same = [card.finding.code for card in cards if card.finding.status is line.status]
    body = "\n\n".join(_body(card) for card in cards)
    return Case(line.name, document.title, line.status, line.sentence, same[0] if same else line.status.value, body)


def _body(card: FindingCard) -> str:
    finding = card.finding
    lines = [f"{finding.code} {finding.status.value}: {finding.sentence}"]
    lines += [_evidence(piece) for piece in finding.evidence]
    lines += [
        f"to disprove: {hypothesis.disproof} ({hypothesis.refutes})"
        for hypothesis in finding.hypotheses
        if hypothesis.disproof
    ]
    lines += [f"fix: {finding.remedy}"] if finding.remedy else []
    return "\n".join(lines)


def _evidence(piece: Evidence) -> str:
    place = f" [{piece.place}]" if piece.place else ""
    command = f"\n  {piece.command}" if piece.command else ""
    return f"- {piece.sentence}{place}{command}"


def _element(case: Case) -> str:
    head = f"    <testcase name={_attribute(case.name)} classname={_attribute(case.group)}"
    message = f"message={_attribute(case.text)}"
    body = _text(case.body)
    match case.status:
        case Status.FAIL:
            return f"{head}>\n      <failure {message} type={_attribute(case.kind)}>{body}</failure>\n    </testcase>\n"
        case Status.INCONCLUSIVE:
            return f"{head}>\n      <error {message} type={_attribute(case.kind)}>{body}</error>\n    </testcase>\n"
        case Status.NOT_LOOKED_AT | Status.SKIPPED:
            return f"{head}>\n      <skipped>{_text(case.text)}</skipped>\n    </testcase>\n"
        case _:
            output = "\n".join(part for part in (f"{case.status.value}: {case.text}", case.body) if part)
            return f"{head}>\n      <system-out>{_text(output)}</system-out>\n    </testcase>\n"


def _text(text: str) -> str:
    """XML 1.0 has no control characters: they are shown as escapes; line breaks stay."""
    return escape("\n".join(printable(line) for line in text.split("\n")))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
