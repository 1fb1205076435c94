"""A Document as SARIF 2.1.0 (OASIS, errata 01), for code scanning and IDEs: a result for each finding.

``kind`` and ``level`` follow §3.27.9 and §3.27.10: only "fail" carries a level; "open" is a rule that was evaluated
without enough to decide. Locations are the paths and lines of the evidence, relative to its root, as in every other form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from svcpath.reports.document import Document, FindingCard, Path
from svcpath.reports.records import Evidence, Finding, Hypothesis
from svcpath.reports.renderers.text import printable
from svcpath.status import Status

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
KINDS = {
    Status.PASS: ("pass", "none"),
    Status.WARN: ("fail", "warning"),
    Status.FAIL: ("fail", "error"),
    Status.INCONCLUSIVE: ("open", "none"),
    Status.NOT_LOOKED_AT: ("notApplicable", "none"),
    Status.SKIPPED: ("notApplicable", "none"),
}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def render(document: Document) -> str:
    """One run; indented JSON in ASCII with a final newline."""
    cards = tuple(cards_of(document))
    rules: dict[str, dict[str, Any]] = {}
    for card in cards:
        rules.setdefault(card.finding.code, _rule(card))
    places = {code: number for number, code in enumerate(rules)}
    driver = {"name": "svcpath", "rules": list(rules.values())}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(card.finding, places[card.finding.code]) for card in cards],
        "properties": {"title": printable(document.title)},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def cards_of(document: Document) -> Iterator[FindingCard]:
    """Every finding, also those that a line opens to."""
    for section in document.sections:
        if isinstance(section, FindingCard):
            yield section
        elif isinstance(section, Path):
            for line in section.lines:
                yield from (detail for detail in line.details if isinstance(detail, FindingCard))


def _rule(card: FindingCard) -> dict[str, Any]:
    code = card.finding.code
    rule: dict[str, Any] = {"id": printable(code), "shortDescription": {"text": printable(card.title or code)}}
    if card.meaning:
        rule["fullDescription"] = {"text": printable(card.meaning)}
    if card.help:
        rule["help"] = {"text": printable(card.help)}
    if card.finding.layer:
        rule["properties"] = {"tags": [printable(card.finding.layer)]}
    return rule


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    kind, level = KINDS[finding.status]
    result: dict[str, Any] = {
        "ruleId": printable(finding.code),
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": {"text": _message(finding)},
    }
    placed = [_location(piece) for piece in finding.evidence if piece.path]
    logical = {"logicalLocations": [{"name": printable(finding.layer), "kind": "layer"}]} if finding.layer else None
    # The first location is where a viewer goes; the others are beside it (§3.27.22).
    if placed:
        result["locations"] = [{**placed[0], **(logical or {})}]
        related = [{**location, "id": number} for number, location in enumerate(placed[1:], 1)]
        if related:
            result["relatedLocations"] = related
    elif logical:
        result["locations"] = [logical]
    properties: dict[str, Any] = {"status": finding.status.value}
    if finding.share:
        properties["share"] = printable(finding.share)
    if finding.hypotheses:
        properties["hypotheses"] = [_hypothesis(hypothesis) for hypothesis in finding.hypotheses]
    result["properties"] = properties
    return result


def _message(finding: Finding) -> str:
    """The sentence, and how to fix it."""
    passes = finding.status is Status.PASS
    return _escaped(finding.sentence if passes or not finding.remedy else f"{finding.sentence}. Fix: {finding.remedy}")


def _location(piece: Evidence) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(piece.path)}}
    if piece.line > 0:
        physical["region"] = {"startLine": piece.line}
    return {"physicalLocation": physical, "message": {"text": _escaped(piece.sentence)}}


def _escaped(text: str) -> str:
    """Text of a message: braces would be placeholders (§3.11.5), brackets links (§3.11.6)."""
    return printable(text).replace("{", "{{").replace("}", "}}").replace("[", "\\[").replace("]", "\\]")


def _uri(path: str) -> str:
    """A relative reference (RFC 3986 §4.2): no first segment can be taken for a scheme, no path for an authority."""
    raw = path.encode("utf-8", "surrogatepass").lstrip(b"/")
    return "".join(chr(octet) if octet in _UNRESERVED else f"%{octet:02X}" for octet in raw) or "."


def _hypothesis(hypothesis: Hypothesis) -> dict[str, str]:
    properties = {"cause": printable(hypothesis.cause), "confidence": hypothesis.confidence.value}
    if hypothesis.disproof:
        properties |= {"disproof": printable(hypothesis.disproof), "refutes": printable(hypothesis.refutes)}
    return properties
