"""Drift, trace and listing of data planes as Documents."""

from __future__ import annotations

from svcpath.reports.dataplane import DriftContract, DriftRow, ShowContract, TraceContract
from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.status import Status


def drift_document(report: DriftContract, *, verbose: bool = False) -> Document:
    rows = tuple(
        (
            one.node,
            one.mode,
            str(one.frontends),
            str(one.backends),
            str(one.missing),
            str(one.stale),
            str(one.other),
            str(one.undecided),
        )
        for one in report.nodes
    )
    columns = ("node", "mode", "frontends", "backends", "missing", "stale", "other", "not understood")
    sections: list[Section] = [Table(columns, rows, "llrrrrrr")] if rows else []
    if report.rows:
        shown = report.rows if verbose else report.rows[:50]
        sections.append(Points("Drift", tuple(_row(one) for one in shown)))
        if len(shown) < len(report.rows):
            sections.append(Note(f"and {len(report.rows) - len(shown)} more rows (-v or -o json has all)"))
    else:
        sections.append(drift_statement(report))
    if report.undecided:
        lines = tuple(Point(f"{one.node} line {one.line}: {one.text}") for one in report.undecided[:10])
        sections.append(Points("Not understood", lines))
    covered = tuple(Point(f"{one.node}: {', '.join(one.not_covered)}") for one in report.nodes if one.not_covered)
    if covered or report.not_looked_at:
        sections.append(Points("Not looked at", (*covered, *(Point(text) for text in report.not_looked_at))))
    return Document("Data planes against the slices", tuple(sections), "drift")


def drift_statement(report: DriftContract) -> Statement:
    if report.rows:
        nodes = len({one.node for one in report.rows})
        first = drift_text(report.rows[0])
        said = (
            first
            if len(report.rows) == 1
            else f"{len(report.rows)} differences on {nodes} of {len(report.nodes)} nodes"
        )
        return Statement(Status.FAIL, "DRIFT", said)
    if report.undecided:
        said = f"{len(report.undecided)} lines that may matter were not understood"
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", said)
    if not report.nodes:
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", "nothing was compared")
    # A node of two families may have a table of each.
    count = len({one.node for one in report.nodes})
    return Statement(Status.PASS, "NO DRIFT", f"{count} node{'s hold' if count > 1 else ' holds'} what the slices say")


def _row(one: DriftRow) -> Point:
    return Point(drift_text(one), place=f"{one.path}:{one.rule}" if one.rule else one.path)


def drift_text(one: DriftRow) -> str:
    """ "w1 STALE: shop/web:http 10.96.0.1:80/tcp 1/2 of new connections go to 10.244.1.4:8080 since 94 s (slice web-1)" """
    what = f"{one.share} of new connections go to {one.backend}" if one.share and one.backend else one.backend
    if one.share and not one.backend:
        what = f"{one.share} of new connections"
    slices = f"(slice {one.slice})" if one.slice else ""
    age = f"since {one.age:.0f} s" if one.age is not None else ""
    cause = {
        "late": "not synced yet",
        "stuck": "kube-proxy is stuck",
        "altered": "altered: a full sync would mend it",
    }.get(one.cause, "")
    origins = f"(from {', '.join(one.origins)})" if one.origins and len(one.origins) < 3 else ""
    noted = ", ".join(part for part in (what, one.note) if part)
    said = " ".join(part for part in (noted, age, slices, origins) if part)
    wanted = f"the slices give {one.wanted}" if one.wanted else ""
    after = "; ".join(part for part in (said, wanted, cause) if part)
    text = f"{one.node} {one.kind.upper()}: {one.service or 'no Service'} {one.frontend}"
    return f"{text} {after}" if after else text


def trace_document(reports: tuple[TraceContract, ...]) -> Document:
    first = reports[0]
    sections: list[Section] = []
    for one in reports:
        sections.append(Note(f"{one.node} ({one.mode}), {one.path}"))
        rules = tuple(Point(f"line {rule.line}  {rule.chain}  {rule.text}".rstrip()) for rule in one.rules)
        if rules:
            sections.append(Points("Rules met, in order", rules, numbered=True))
        if one.foreign:
            foreign = tuple(Point(f"line {rule.line}  {rule.chain}  {rule.text}") for rule in one.foreign)
            sections.append(Points("Rules that are not the data plane's own", foreign))
        sections.append(_outcome(one))
        if one.undecided:
            lines = tuple(Point(f"line {each.line}: {each.text}") for each in one.undecided)
            sections.append(Points("Not understood, and may change the answer", lines))
    return Document(f"{first.source or first.origin} -> {first.destination}", tuple(sections))


def _outcome(one: TraceContract) -> Statement:
    if one.undecided:
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", "lines that may matter were not understood")
    match one.outcome:
        case "backends":
            every = all(each.masquerade for each in one.backends)
            listed = ", ".join(
                f"{each.backend} ({each.share}{', masqueraded' if each.masquerade and not every else ''})"
                for each in one.backends
            )
            extra = "; masqueraded" if one.masquerade and every else ""
            extra += f"; ClientIP affinity {one.affinity} s" if one.affinity else ""
            extra += "; the shares are uneven" if one.uneven else ""
            return Statement(Status.PASS, "BACKENDS", f"{listed}{extra}")
        case "reject":
            return Statement(Status.FAIL, "REJECT", "the client sees connection refused")
        case "drop":
            return Statement(Status.FAIL, "DROP", "the client sees a timeout")
        case "accept":
            return Statement(Status.PASS, "ACCEPT", "let through untranslated")
        case _:
            return Statement(Status.WARN, "NO MATCH", "no rule takes the packet; it leaves untranslated")


def show_document(report: ShowContract) -> Document:
    rows = tuple(
        (one.node, one.frontend, one.service, ", ".join(one.backends) if one.backends else one.outcome)
        for one in report.frontends
    )
    sections: list[Section] = [
        Table(
            ("node", "mode", "frontends", "said by"),
            tuple((one.node, one.mode, str(one.frontends), "; ".join(one.said_by)) for one in report.nodes),
            "llr",
        ),
        Table(("node", "frontend", "service", "a Pod's new connection goes to"), rows),
    ]
    if report.not_understood:
        lines = tuple(Point(f"{one.node} line {one.line}: {one.text}") for one in report.not_understood[:20])
        sections.append(Points(f"{len(report.not_understood)} lines were not understood", lines))
    return Document("Data planes", tuple(sections))
