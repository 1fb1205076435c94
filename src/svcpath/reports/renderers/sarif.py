"""A Document as SARIF 2.1.0 (OASIS, errata 01), for code scanning and IDEs: a result for each finding.

``kind`` and ``level`` follow §3.27.9 and §3.27.10: only "fail" carries a level; "open" is a rule that was evaluated
without enough to decide. Locations are the paths and lines of the evidence, relative to its root, as in every other form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from svcpath.reports.document import Cause, Claim, Document, Exhibit, Mark, Path
from svcpath.reports.renderers.text import printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
KINDS = {
    Mark.PASS: ("pass", "none"),
    Mark.WARN: ("fail", "warning"),
    Mark.FAIL: ("fail", "error"),
    Mark.INCONCLUSIVE: ("open", "none"),
    Mark.NOT_LOOKED_AT: ("notApplicable", "none"),
    Mark.SKIPPED: ("notApplicable", "none"),
}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def render(document: Document) -> str:
    """One run; indented JSON in ASCII with a final newline."""
    claims = tuple(claims_of(document))
    rules: dict[str, dict[str, Any]] = {}
    for one in claims:
        rules.setdefault(one.code, _rule(one))
    places = {code: i for i, code in enumerate(rules)}
    driver = {"name": "svcpath", "rules": list(rules.values())}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, places[one.code]) for one in claims],
        "properties": {"title": printable(document.title)},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def claims_of(document: Document) -> Iterator[Claim]:
    """Every Claim, also those that a station opens to."""
    for one in document.sections:
        if isinstance(one, Claim):
            yield one
        elif isinstance(one, Path):
            for station in one.stations:
                yield from (each for each in station.details if isinstance(each, Claim))


def _rule(one: Claim) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": printable(one.code), "shortDescription": {"text": printable(one.title or one.code)}}
    if one.meaning:
        rule["fullDescription"] = {"text": printable(one.meaning)}
    if one.help:
        rule["help"] = {"text": printable(one.help)}
    if one.about:
        rule["properties"] = {"tags": [printable(one.about)]}
    return rule


def _result(one: Claim, rule: int) -> dict[str, Any]:
    kind, level = KINDS[one.mark]
    result: dict[str, Any] = {
        "ruleId": printable(one.code),
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": {"text": _message(one)},
    }
    placed = [_location(each) for each in one.exhibits if each.path]
    logical = {"logicalLocations": [{"name": printable(one.about), "kind": "layer"}]} if one.about else None
    # The first location is where a viewer goes; the others are beside it (§3.27.22).
    if placed:
        result["locations"] = [{**placed[0], **(logical or {})}]
        related = [{**each, "id": i} for i, each in enumerate(placed[1:], 1)]
        if related:
            result["relatedLocations"] = related
    elif logical:
        result["locations"] = [logical]
    properties: dict[str, Any] = {"status": one.mark.value}
    if one.share:
        properties["share"] = printable(one.share)
    if one.causes:
        properties["hypotheses"] = [_cause(each) for each in one.causes]
    result["properties"] = properties
    return result


def _message(one: Claim) -> str:
    """The sentence, and how to mend it."""
    text = one.text if one.mark is Mark.PASS or not one.remedy else f"{one.text}. Mend: {one.remedy}"
    return _escaped(text)


def _location(one: Exhibit) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.path)}}
    if one.line > 0:
        physical["region"] = {"startLine": one.line}
    return {"physicalLocation": physical, "message": {"text": _escaped(one.text)}}


def _escaped(text: str) -> str:
    """Text of a message: braces would be placeholders (§3.11.5), brackets links (§3.11.6)."""
    return printable(text).replace("{", "{{").replace("}", "}}").replace("[", "\\[").replace("]", "\\]")


def _uri(path: str) -> str:
    """A relative reference (RFC 3986 §4.2): no first segment can be taken for a scheme, no path for an authority."""
    raw = path.encode("utf-8", "surrogatepass").lstrip(b"/")
    return "".join(chr(one) if one in _UNRESERVED else f"%{one:02X}" for one in raw) or "."


def _cause(one: Cause) -> dict[str, str]:
    held = {"cause": printable(one.text), "confidence": printable(one.confidence)}
    if one.command:
        held |= {"disproof": printable(one.command), "refutes": printable(one.refutes)}
    return held
