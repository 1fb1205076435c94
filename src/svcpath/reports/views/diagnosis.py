"""A diagnosis as a Document: the path, the verdict, the evidence, what is ruled out, what would disprove it, the fix."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Path, Point, Points, Section, Statement, StatusLine
from svcpath.reports.records import Change, Evidence, Finding, Gap, Report
from svcpath.status import Confidence, Status

VERDICTS = {
    "healthy": Status.PASS,
    "warning": Status.WARN,
    "fault": Status.FAIL,
    "inconclusive": Status.INCONCLUSIVE,
}


def document(report: Report, *, verbose: bool = False) -> Document:
    """``verbose`` adds every finding of every layer with its evidence, and all that was not looked at."""
    chief = deciding(report)
    lines = tuple(StatusLine(layer.name, layer.status, layer.sentence, layer.decisive) for layer in report.layers)
    sections: list[Section] = [Path(lines), statement(report)]
    if chief is not None:
        sections.extend(_why(report, chief))
    elif report.verdict.status == "inconclusive":
        sections.extend(undecided(report))
    others = _others(report, chief)
    if others:
        sections.append(Points("Also", others))
    if report.changes and (chief is not None or verbose):
        sections.append(changes(report.changes[: None if verbose else 3]))
    gaps = report.not_looked_at if verbose else tuple(gap for gap in report.not_looked_at if gap.layer == "evidence")
    if gaps:
        sections.append(Points("Not looked at", tuple(point_of(gap, command=verbose) for gap in gaps)))
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


def statement(report: Report) -> Statement:
    verdict = report.verdict
    where = f" at {verdict.layer}" if verdict.layer else ""
    if verdict.cause_layer and verdict.cause_layer != verdict.layer and verdict.layer:
        where += f" (cause at {verdict.cause_layer})"
    return Statement(
        VERDICTS[verdict.status],
        verdict.status.upper() + where,
        verdict.summary,
        verdict.code or "",
        verdict.confidence.value if verdict.confidence else "",
    )


def deciding(report: Report) -> Finding | None:
    """The finding that the verdict names."""
    number = report.verdict.finding
    return report.findings[number] if number is not None else None


def _why(report: Report, finding: Finding) -> list[Section]:
    sections: list[Section] = []
    if finding.evidence or finding.details:
        points = [*_merged(finding.evidence), *(Point(text) for text in finding.details)]
        sections.append(Points("Evidence", tuple(points), numbered=True))
    refuted = ruled_out(report)
    if refuted:
        sections.append(Points("Ruled out", refuted))
    rivals = tuple(
        Point(f"{rival.cause} ({rival.confidence.value})", rival.disproof, after=rival.refutes)
        for rival in finding.hypotheses[1:]
        if rival.confidence is not Confidence.REFUTED
    )
    if rivals:
        sections.append(Points("Still open" if finding.status is not Status.PASS else "Possible", rivals))
    sections.extend(disproof(finding))
    if finding.remedy:
        sections.append(Points("Fix", (Point(finding.remedy),), plain=True))
    return sections


def ruled_out(report: Report) -> tuple[Point, ...]:
    return tuple(
        Point(hypothesis.cause + (f": {hypothesis.against[0].sentence}" if hypothesis.against else ""))
        for finding in report.findings
        for hypothesis in finding.hypotheses
        if hypothesis.confidence is Confidence.REFUTED
    )


def disproof(finding: Finding) -> list[Section]:
    """The command that would disprove the finding's first hypothesis, or decide it."""
    points = tuple(
        Point("", hypothesis.disproof, after=hypothesis.refutes)
        for hypothesis in finding.hypotheses[:1]
        if hypothesis.disproof
    )
    title = "To decide" if finding.status is Status.INCONCLUSIVE else "To disprove"
    return [Points(title, points)] if points else []


def changes(recent: tuple[Change, ...]) -> Points:
    points = (Point(f"{change.at}  {change.what}" + (f" ({change.who})" if change.who else "")) for change in recent)
    return Points("Recent changes", tuple(points))


def point_of(gap: Gap, *, command: bool = True) -> Point:
    return Point(f"{gap.what}: {gap.why}", gap.command if command else "")


def _merged(evidence: tuple[Evidence, ...]) -> list[Point]:
    """Neighbours that one command shows are one point."""
    points: list[Point] = []
    for piece in evidence:
        if points and piece.command and points[-1].command == piece.command:
            last = points[-1]
            subject = last.text.partition(" ")[0]
            more = piece.sentence.removeprefix(f"{subject} ")
            place = ", ".join(place for place in (last.place, piece.place) if place)
            points[-1] = Point(f"{last.text}; {more}", last.command, place)
        else:
            points.append(_point(piece))
    return points


def undecided(report: Report) -> list[Section]:
    """Inconclusive without a deciding finding: the command that would decide first."""
    gaps = [gap for gap in report.not_looked_at if gap.command]
    if not gaps:
        return []
    # What has to be looked at for any verdict comes first: the slices, then the rest of the endpoints, then in order.
    first = min(gaps, key=lambda gap: ("endpointslice" not in gap.command, gap.layer != "endpoints"))
    return [Points("Run this first", (point_of(first),))]


def _others(report: Report, deciding: Finding | None) -> tuple[Point, ...]:
    """Further findings that fail, warn or are undecided, a line each."""
    return tuple(
        Point(f"{finding.status.value} at {finding.layer}: {finding.sentence} ({finding.code})")
        for finding in report.findings
        if finding is not deciding and finding.status in (Status.FAIL, Status.WARN, Status.INCONCLUSIVE)
    )


def _every_finding(report: Report) -> list[Section]:
    sections: list[Section] = [Note("Every finding with its evidence")]
    for finding in report.findings:
        title = f"{finding.code} {finding.status.value} at {finding.layer}: {finding.sentence}"
        sections.append(Points(title, tuple(_point(piece) for piece in finding.evidence)))
    return sections


def _point(piece: Evidence) -> Point:
    return Point(piece.sentence, piece.command, piece.place)
