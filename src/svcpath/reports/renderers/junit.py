"""A Document as JUnit XML, for CI that shows tests: a case for each layer, and for each finding that stands alone.

The shape is the one of Jenkins' xunit schema (junit-10.xsd). A layer that fails is a failure, one that could not decide
an error, one that nobody could look at skipped; a warning passes and is told in the case's output. No clock: no times.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import msgspec

from svcpath.reports.document import Claim, Document, Exhibit, Mark, Path, Statement, Station
from svcpath.reports.renderers.text import printable


class Case(msgspec.Struct, frozen=True):
    name: str
    group: str
    mark: Mark
    text: str
    kind: str
    body: str


def render(document: Document) -> str:
    cases = tuple(_cases(document))
    failures = sum(1 for one in cases if one.mark is Mark.FAIL)
    errors = sum(1 for one in cases if one.mark is Mark.INCONCLUSIVE)
    skipped = sum(1 for one in cases if one.mark in (Mark.NOT_LOOKED_AT, Mark.SKIPPED))
    name = _attribute(f"{document.subject} {document.title}".strip() or "svcpath")
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    body = "".join(_case(one) for one in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="svcpath" {counts}>\n'
        f'  <testsuite name={name} {counts} skipped="{skipped}">\n{body}  </testsuite>\n</testsuites>\n'
    )


def _cases(document: Document) -> Iterator[Case]:
    """Stations where there are some; else the statements and claims themselves."""
    paths = [one for one in document.sections if isinstance(one, Path)]
    for path in paths:
        for station in path.stations:
            yield _station(station, document)
    if paths:
        return
    for one in document.sections:
        if isinstance(one, Statement):
            yield Case(one.word, document.title, one.mark, one.text, one.code or one.mark.value, "")
        elif isinstance(one, Claim):
            yield Case(f"{one.code} {one.text}", one.about or document.title, one.mark, one.text, one.code, _told(one))


def _station(one: Station, document: Document) -> Case:
    claims = [each for each in one.details if isinstance(each, Claim)]
    same = [each for each in claims if each.mark is one.mark]
    body = "\n\n".join(_told(each) for each in claims)
    return Case(one.name, document.title, one.mark, one.sentence, same[0].code if same else one.mark.value, body)


def _told(one: Claim) -> str:
    lines = [f"{one.code} {one.mark.value}: {one.text}"]
    lines += [_exhibit(each) for each in one.exhibits]
    lines += [f"would refute it: {each.command} ({each.refutes})" for each in one.causes if each.command]
    lines += [f"mend: {one.remedy}"] if one.remedy else []
    return "\n".join(lines)


def _exhibit(one: Exhibit) -> str:
    place = f"{one.path}:{one.line}" if one.path and one.line else one.path
    return f"- {one.text}" + (f" [{place}]" if place else "") + (f"\n  {one.command}" if one.command else "")


def _case(one: Case) -> str:
    head = f"    <testcase name={_attribute(one.name)} classname={_attribute(one.group)}"
    said = f"message={_attribute(one.text)}"
    body = _text(one.body)
    match one.mark:
        case Mark.FAIL:
            return f"{head}>\n      <failure {said} type={_attribute(one.kind)}>{body}</failure>\n    </testcase>\n"
        case Mark.INCONCLUSIVE:
            return f"{head}>\n      <error {said} type={_attribute(one.kind)}>{body}</error>\n    </testcase>\n"
        case Mark.NOT_LOOKED_AT | Mark.SKIPPED:
            return f"{head}>\n      <skipped>{_text(one.text)}</skipped>\n    </testcase>\n"
        case _:
            said = "\n".join(part for part in (f"{one.mark.value}: {one.text}", one.body) if part)
            return f"{head}>\n      <system-out>{_text(said)}</system-out>\n    </testcase>\n"


def _text(text: str) -> str:
    """XML 1.0 has no control characters: they are shown as escapes; line breaks stay."""
    return escape("\n".join(printable(line) for line in text.split("\n")))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
