"""Drift, trace and listing of data planes as Documents."""

from __future__ import annotations

from svcpath.percent import percent_of
from svcpath.plural import count
from svcpath.reports.dataplane import DriftContract, DriftRow, ShowContract, TraceContract
from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.status import Status


def drift_document(report: DriftContract, *, verbose: bool = False) -> Document:
    rows = tuple(
        (
            node.node,
            node.mode,
            str(node.frontends),
            str(node.backends),
            str(node.missing),
            str(node.stale),
            str(node.other),
            str(node.undecided),
        )
        for node in report.nodes
    )
    columns = ("node", "mode", "frontends", "backends", "missing", "stale", "other", "not understood")
    sections: list[Section] = [Table(columns, rows, "llrrrrrr")] if rows else []
    if report.rows:
        shown = report.rows if verbose else report.rows[:50]
        sections.append(Points("Drift", tuple(_row(character) for character in shown)))
        if len(shown) < len(report.rows):
            sections.append(Note(f"and {len(report.rows) - len(shown)} more rows (-v or -o json has all)"))
    else:
        sections.append(drift_statement(report))
    if report.undecided:
        lines = tuple(Point(f"{line.node} line {line.line}: {line.text}") for line in report.undecided[:10])
        sections.append(Points("Not understood", lines))
    covered = tuple(Point(f"{node.node}: {', '.join(node.not_covered)}") for node in report.nodes if node.not_covered)
    if covered or report.not_looked_at:
        sections.append(Points("Not looked at", (*covered, *(Point(text) for text in report.not_looked_at))))
    return Document("Data planes against the slices", tuple(sections), "drift")


def drift_statement(report: DriftContract) -> Statement:
    # A node of two families may have a table of each.
    nodes = len({node.node for node in report.nodes})
    if len(report.rows) == 1:
        return Statement(Status.FAIL, "DRIFT", drift_text(report.rows[0]))
    if report.rows:
        differing = len({row.node for row in report.rows})
        text = f"{count(len(report.rows), 'difference')} on {differing} of {count(nodes, 'node')}"
        return Statement(Status.FAIL, "DRIFT", text)
    if report.undecided:
        text = f"{count(len(report.undecided), 'line')} that may matter not understood"
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", text)
    if not nodes:
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", "nothing was compared")
    holds = "hold" if nodes > 1 else "holds"
    return Statement(Status.PASS, "NO DRIFT", f"{count(nodes, 'node')} {holds} what the slices say")


def _row(row: DriftRow) -> Point:
    return Point(drift_text(row), place=f"{row.path}:{row.rule}" if row.rule else row.path)


def drift_text(row: DriftRow) -> str:
    """ "w1 STALE: shop/web:http 10.96.0.1:80/tcp 1/2 of new connections go to 10.244.1.4:8080 since 94 s (slice web-1)" """
    what = (
        f"{percent_of(row.share)} of new connections go to {row.backend}" if row.share and row.backend else row.backend
    )
    if row.share and not row.backend:
        what = f"{percent_of(row.share)} of new connections"
    slices = f"(slice {row.slice})" if row.slice else ""
    age = f"since {row.age:.0f} s" if row.age is not None else ""
    cause = {
        "late": "not synced yet",
        "stuck": "kube-proxy is stuck",
        "altered": "altered: a full sync would fix it",
    }.get(row.cause, "")
    origins = f"(from {', '.join(row.origins)})" if row.origins and len(row.origins) < 3 else ""
    noted = ", ".join(part for part in (what, row.note) if part)
    text = " ".join(part for part in (noted, age, slices, origins) if part)
    wanted = f"the slices give {row.wanted}" if row.wanted else ""
    after = "; ".join(part for part in (text, wanted, cause) if part)
    text = f"{row.node} {row.kind.upper()}: {row.service or 'no Service'} {row.frontend}"
    return f"{text} {after}" if after else text


def trace_document(reports: tuple[TraceContract, ...]) -> Document:
    first = reports[0]
    sections: list[Section] = []
    for report in reports:
        sections.append(Note(f"{report.node} ({report.mode}), {report.path}"))
        rules = tuple(Point(f"line {rule.line}  {rule.chain}  {rule.text}".rstrip()) for rule in report.rules)
        if rules:
            sections.append(Points("Rules met, in order", rules, numbered=True))
        if report.foreign:
            foreign = tuple(Point(f"line {rule.line}  {rule.chain}  {rule.text}") for rule in report.foreign)
            sections.append(Points("Rules that are not the data plane's own", foreign))
        sections.append(_outcome(report))
        if report.undecided:
            lines = tuple(Point(f"line {line.line}: {line.text}") for line in report.undecided)
            sections.append(Points("Not understood, and may change the answer", lines))
    return Document(f"{first.source or first.origin} -> {first.destination}", tuple(sections))


def _outcome(report: TraceContract) -> Statement:
    if report.undecided:
        return Statement(Status.INCONCLUSIVE, "UNDECIDED", "lines that may matter were not understood")
    match report.outcome:
        case "backends":
            every = all(backend.masquerade for backend in report.backends)
            listed = ", ".join(
                f"{backend.backend} ({percent_of(backend.share)}{', masqueraded' if backend.masquerade and not every else ''})"
                for backend in report.backends
            )
            extra = "; masqueraded" if report.masquerade and every else ""
            extra += f"; ClientIP affinity {report.affinity} s" if report.affinity else ""
            extra += "; the shares are uneven" if report.uneven else ""
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
        (
            frontend.node,
            frontend.frontend,
            frontend.service,
            ", ".join(frontend.backends) if frontend.backends else frontend.outcome,
        )
        for frontend in report.frontends
    )
    sections: list[Section] = [
        Table(
            ("node", "mode", "frontends", "text by"),
            tuple((node.node, node.mode, str(node.frontends), "; ".join(node.said_by)) for node in report.nodes),
            "llr",
        ),
        Table(("node", "frontend", "service", "a Pod's new connection goes to"), rows),
    ]
    if report.not_understood:
        lines = tuple(Point(f"{line.node} line {line.line}: {line.text}") for line in report.not_understood[:20])
        sections.append(Points(f"{count(len(report.not_understood), 'line')} not understood", lines))
    return Document("Data planes", tuple(sections))
