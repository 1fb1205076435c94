"""A diagnosis as a Document: the path, the verdict, why, what is ruled out, what would prove it wrong, how to mend it."""

from __future__ import annotations

from svcpath.reports.document import Document, Mark, Note, Path, Point, Points, Section, Statement, Station
from svcpath.reports.report import EvidenceRecord, FindingRecord, LayerRecord, Report

MARKS = {mark.value: mark for mark in Mark}
VERDICT_MARKS = {
    "healthy": Mark.PASS,
    "warning": Mark.WARN,
    "fault": Mark.FAIL,
    "inconclusive": Mark.INCONCLUSIVE,
}


def document(report: Report, *, verbose: bool = False) -> Document:
    """``verbose`` adds every finding of every layer with its evidence, and all that was not looked at."""
    chief = deciding(report)
    sections: list[Section] = [Path(tuple(_station(one) for one in report.layers)), statement(report)]
    if chief is not None:
        sections.extend(_why(report, chief))
    elif report.verdict.status == "inconclusive":
        sections.extend(undecided(report))
    others = _others(report, chief)
    if others:
        sections.append(Points("Also", others))
    if report.changes and (chief is not None or verbose):
        recent = tuple(
            Point(f"{one.at}  {one.what}" + (f" ({one.who})" if one.who else ""))
            for one in report.changes[: None if verbose else 3]
        )
        sections.append(Points("Changed lately", recent))
    gaps = _gaps(report, verbose=verbose)
    if gaps:
        sections.append(Points("Not looked at", gaps))
    if verbose:
        sections.extend(_every_finding(report))
    return Document(title(report), tuple(sections))


def title(report: Report) -> str:
    target = report.target
    who = f"{target.service}.{target.namespace}".rstrip(".") if target.service else (target.name or "no Service named")
    parts = [who + (f" port {target.port}" if target.port else "")]
    if target.client:
        parts.append(f"from pod/{target.client.rpartition('/')[2]}")
    elif target.client_node:
        parts.append(f"from node/{target.client_node}")
    if target.name and target.service:
        parts.append(f"as {target.name}")
    return ", ".join(parts)


def _station(one: LayerRecord) -> Station:
    return Station(one.name, MARKS[one.status], one.sentence, one.decisive)


def statement(report: Report) -> Statement:
    verdict = report.verdict
    where = f" at {verdict.layer}" if verdict.layer else ""
    if verdict.cause_layer and verdict.cause_layer != verdict.layer and verdict.layer:
        where += f" (cause at {verdict.cause_layer})"
    return Statement(
        VERDICT_MARKS[verdict.status],
        verdict.status.upper() + where,
        verdict.summary,
        verdict.code or "",
        verdict.confidence or "",
    )


def deciding(report: Report) -> FindingRecord | None:
    """The finding that the verdict names."""
    number = report.verdict.finding
    return report.findings[number] if number is not None else None


def _why(report: Report, one: FindingRecord) -> list[Section]:
    sections: list[Section] = []
    if one.evidence or one.details:
        points = [*_merged(one.evidence), *(Point(text) for text in one.details)]
        sections.append(Points("Because", tuple(points), numbered=True))
    refuted = ruled_out(report)
    if refuted:
        sections.append(Points("Ruled out", refuted))
    rivals = tuple(
        Point(f"{each.cause} ({each.confidence})", each.disproof, after=each.refutes)
        for each in one.hypotheses[1:]
        if each.confidence != "refuted"
    )
    if rivals:
        sections.append(Points("Still open" if one.status != "pass" else "Possible", rivals))
    sections.extend(disproof(one))
    if one.remedy:
        sections.append(Points("Mend", (Point(one.remedy),), plain=True))
    return sections


def ruled_out(report: Report) -> tuple[Point, ...]:
    return tuple(
        Point(f"{each.cause}" + (f": {each.against[0].sentence}" if each.against else ""))
        for finding in report.findings
        for each in finding.hypotheses
        if each.confidence == "refuted"
    )


def disproof(one: FindingRecord) -> list[Section]:
    """The command that would prove the finding's first hypothesis wrong, or decide it."""
    points = tuple(Point("", each.disproof, after=each.refutes) for each in one.hypotheses[:1] if each.disproof)
    title = "This would decide" if one.status == "inconclusive" else "This would prove it wrong"
    return [Points(title, points)] if points else []


def _merged(evidence: tuple[EvidenceRecord, ...]) -> list[Point]:
    """Neighbours that one command shows are one point."""
    points: list[Point] = []
    for one in evidence:
        if points and one.command and points[-1].command == one.command:
            last = points[-1]
            subject = last.text.partition(" ")[0]
            more = one.sentence.removeprefix(f"{subject} ")
            points[-1] = Point(
                f"{last.text}; {more}", last.command, ", ".join(place for place in (last.place, one.place) if place)
            )
        else:
            points.append(_point(one))
    return points


def undecided(report: Report) -> list[Section]:
    """Inconclusive without a deciding finding: the command that would decide first."""
    gaps = [gap for gap in report.not_looked_at if gap.command]
    if not gaps:
        return []
    # What has to be looked at for any verdict comes first: the slices, then the rest of the endpoints, then in order.
    first = min(gaps, key=lambda gap: ("endpointslice" not in gap.command, gap.layer != "endpoints"))
    return [Points("Run this first", (Point(f"{first.what}: {first.why}", first.command),))]


def _others(report: Report, deciding: FindingRecord | None) -> tuple[Point, ...]:
    """Further findings that fail, warn or are undecided, a line each."""
    return tuple(
        Point(f"{one.status} at {one.layer}: {one.sentence} ({one.code})")
        for one in report.findings
        if one is not deciding and one.status in ("fail", "warn", "inconclusive")
    )


def _gaps(report: Report, *, verbose: bool) -> tuple[Point, ...]:
    if verbose:
        return tuple(Point(f"{one.what}: {one.why}", one.command) for one in report.not_looked_at)
    return tuple(Point(f"{one.what}: {one.why}") for one in report.not_looked_at if one.layer == "evidence")


def _every_finding(report: Report) -> list[Section]:
    sections: list[Section] = [Note("Every finding, with what it rests on")]
    for one in report.findings:
        title = f"{one.code} {one.status} at {one.layer}: {one.sentence}"
        sections.append(Points(title, tuple(_point(each) for each in one.evidence)))
    return sections


def _point(one: EvidenceRecord) -> Point:
    return Point(one.sentence, one.command, one.place)
