"""A diagnosis with all there is to open: the path as a picture, every finding under its layer, the backends side by side.

The forms that are opened or searched (HTML, SARIF, JUnit) are made from this; the ones read top to bottom from
``diagnosis``. Both say the same statuses and codes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from svcpath.percent import percent_of, written
from svcpath.plural import count
from svcpath.reports.document import (
    Cell,
    Document,
    FindingCard,
    HopCard,
    Matrix,
    Path,
    Point,
    Points,
    Section,
    StatusLine,
    Table,
)
from svcpath.reports.records import BackendRow, Evidence, Finding, Hop, InTable, Layer, PortChain, Report
from svcpath.reports.views import diagnosis
from svcpath.reports.views.codes import about
from svcpath.status import Status

#: Rows of one table, findings of one layer, pieces of evidence of one finding; the JSON form holds all.
ROWS, FINDINGS, PIECES = 400, 100, 40

KINDS = {
    "client": "client",
    "resolver": "resolver",
    "cluster-dns": "cluster DNS",
    "service": "Service",
    "slices": "EndpointSlices",
    "dataplane": "node data plane",
    "pods": "Pod sockets",
}


def page(report: Report) -> Document:
    chief = diagnosis.deciding(report)
    statuses = {layer.name: layer.status for layer in report.layers}
    lines = tuple(_line(report, layer, chief) for layer in report.layers)
    hops = tuple(_hop(hop, report, statuses) for hop in report.path)
    sections: list[Section] = [diagnosis.statement(report), *_first(report, chief), Path(lines, hops)]
    if report.backends:
        sections.append(_backends(report, statuses))
    sections.extend(_around(report, chief))
    if report.observations:
        sections.append(_observations(report))
    return Document(diagnosis.title(report), tuple(sections), "diagnosis")


def _first(report: Report, chief: Finding | None) -> list[Section]:
    """What to do now: the fix, and the one command that would disprove the verdict."""
    if chief is None:
        return diagnosis.undecided(report) if report.verdict.status == "inconclusive" else []
    sections: list[Section] = []
    if chief.remedy:
        sections.append(Points("Fix", (Point(chief.remedy),), plain=True))
    sections.extend(diagnosis.disproof(chief))
    return sections


def _around(report: Report, chief: Finding | None) -> list[Section]:
    sections: list[Section] = []
    ruled_out = diagnosis.ruled_out(report) if chief is not None else ()
    if ruled_out:
        sections.append(Points("Ruled out", ruled_out))
    if report.changes:
        sections.append(diagnosis.changes(report.changes))
    if report.not_looked_at:
        gaps = tuple(diagnosis.point_of(gap) for gap in report.not_looked_at[:ROWS])
        sections.append(Points("Not looked at", gaps))
    return sections


def _line(report: Report, layer: Layer, chief: Finding | None) -> StatusLine:
    findings = [report.findings[index] for index in layer.findings]
    details: list[Section] = [_card(finding, decides=finding is chief) for finding in findings[:FINDINGS]]
    gaps = [diagnosis.point_of(gap) for gap in report.not_looked_at if gap.layer == layer.name]
    if len(findings) > FINDINGS:
        gaps.append(Point(f"{count(len(findings) - FINDINGS, 'more finding')} of this layer: see the JSON form"))
    if gaps:
        details.append(Points("Not looked at here", tuple(gaps[:ROWS])))
    return StatusLine(layer.name, layer.status, layer.sentence, layer.decisive, tuple(details))


def _card(finding: Finding, *, decides: bool) -> FindingCard:
    """The finding with what the catalogue says of its code, and with as much evidence as a page can show."""
    known = about(finding.code)
    shown = msgspec.structs.replace(
        finding,
        evidence=_first_pieces(finding.evidence),
        hypotheses=tuple(
            msgspec.structs.replace(
                hypothesis,
                supports=_first_pieces(hypothesis.supports),
                against=_first_pieces(hypothesis.against),
            )
            for hypothesis in finding.hypotheses
        ),
    )
    return FindingCard(shown, known.title, known.meaning, known.help, decides)


def _first_pieces(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    left = len(evidence) - PIECES
    if left <= 0:
        return evidence
    return (*evidence[:PIECES], Evidence(sentence=f"{count(left, 'more piece')} of evidence: see the JSON form"))


def _hop(hop: Hop, report: Report, statuses: dict[str, Status]) -> HopCard:
    facts = tuple(Cell(text) for text in hop.facts)
    if hop.kind == "pods" and report.backends:
        facts = tuple(_socket_facts(report, statuses))
    elif hop.kind == "dataplane":
        facts = tuple(_node_fact(text, report, statuses) for text in hop.facts)
    return HopCard(KINDS.get(hop.kind, hop.kind), hop.name, facts, hop.layers)


def _socket_facts(report: Report, statuses: dict[str, Status], limit: int = 6) -> Iterator[Cell]:
    """The sockets, the worst first, each with its share where a table gives one."""
    cells: list[Cell] = []
    for row in report.backends:
        place = f"[{row.address}]" if ":" in row.address else row.address
        entry = next((entry for entry in row.tables if entry.share), None)
        share = f"{percent_of(entry.share)} " if entry else ""
        if not row.slice:
            status = _doubt(statuses, "dataplane") if row.tables else Status.NOT_LOOKED_AT
            port = f":{row.tables[0].port}" if row.tables else ""
            cells.append(Cell(f"{place or row.pod}{port}", status, _part(entry), f"{share}in no slice"))
            continue
        for chain in row.ports[:2]:
            number = f":{chain.slice_port}" if chain.slice_port is not None else ""
            status = _socket_status(chain.socket, statuses) if row.ready or row.serving else Status.NOT_LOOKED_AT
            socket = chain.socket or "no port in the slice"
            cells.append(Cell(f"{place}{number}", status, _part(entry), share + socket))
    order = [Status.FAIL, Status.INCONCLUSIVE, Status.WARN, Status.PASS, Status.NOT_LOOKED_AT, Status.SKIPPED]
    cells.sort(key=lambda cell: order.index(cell.status or Status.SKIPPED))
    yield from cells[:limit]
    if len(cells) > limit:
        yield Cell(f"and {len(cells) - limit} more")


def _node_fact(text: str, report: Report, statuses: dict[str, Status]) -> Cell:
    """A node's line with how many backends its table holds wrongly, or not at all."""
    node = text.partition(" (")[0]
    states = [entry.state for row in report.backends for entry in row.tables if entry.node == node]
    wrong = {state: states.count(state) for state in dict.fromkeys(states) if state != "present"}
    if not states:
        return Cell(text)
    below = ", ".join(f"{count} {state}" for state, count in wrong.items())
    return Cell(text, _doubt(statuses, "dataplane") if wrong else Status.PASS, below=below)


def _doubt(statuses: dict[str, Status], layer: str) -> Status:
    """What a row that looks wrong is marked with: what its layer made of it, never more."""
    status = statuses.get(layer, Status.INCONCLUSIVE)
    return status if status in (Status.FAIL, Status.WARN) else Status.INCONCLUSIVE


def _socket_status(socket: str, statuses: dict[str, Status]) -> Status:
    if socket == "listens":
        return Status.PASS
    return Status.NOT_LOOKED_AT if socket in ("not looked at", "") else _doubt(statuses, "ports")


def _part(entry: InTable | None) -> float | None:
    """The share of the table's entry as a number, to draw a bar."""
    value = written(entry.share) if entry is not None else None
    return None if value is None else float(value)


def _backends(report: Report, statuses: dict[str, Status]) -> Matrix:
    nodes = list(dict.fromkeys(plane.node for plane in report.planes)) or list(
        dict.fromkeys(entry.node for row in report.backends for entry in row.tables)
    )
    modes = {plane.node: plane.mode for plane in report.planes}
    columns = ["backend", "node", "slice: ready, serving, terminating", "Pod", "port chain", "socket"]
    columns += [f"{node} table" + (f" ({modes[node]})" if modes.get(node) else "") for node in nodes]
    rows = [tuple(_cells(row, nodes, report, statuses)) for row in report.backends]
    bad = {Status.FAIL: 0, Status.WARN: 1, Status.INCONCLUSIVE: 2}
    rows.sort(key=lambda row: min(bad.get(cell.status, 3) if cell.status else 3 for cell in row))
    note = f"{len(rows) - ROWS} more rows are in the JSON form" if len(rows) > ROWS else ""
    return Matrix("Backends", tuple(columns), tuple(rows[:ROWS]), note)


def _cells(row: BackendRow, nodes: list[str], report: Report, statuses: dict[str, Status]) -> Iterator[Cell]:
    yield Cell(row.address or "no address", below=row.pod)
    yield Cell(row.node or "not known", below=row.zone)
    if row.ready is None:
        yield Cell("in no slice", Status.INCONCLUSIVE if row.tables else Status.NOT_LOOKED_AT)
    else:
        words = ", ".join("yes" if condition else "no" for condition in (row.ready, row.serving, row.terminating))
        yield Cell(words, Status.PASS if row.ready else _doubt(statuses, "endpoints"), below=row.slice)
    ready = {True: "ready", False: "not ready", None: ""}[row.pod_ready]
    restarts = count(row.restarts, "restart") if row.restarts else ""
    state = ", ".join(part for part in (row.pod_state, ready, restarts) if part)
    fine = row.pod_ready and row.pod_state == "Running"
    yield Cell(
        state or "not looked at",
        Status.PASS if fine else Status.NOT_LOOKED_AT if not state else _doubt(statuses, "pod"),
    )
    yield Cell("; ".join(_chain(chain) for chain in row.ports) or "none")
    yield from _sockets(row, statuses)
    for node in nodes:
        yield _in_table(row, node, report, statuses)


def _chain(chain: PortChain) -> str:
    number = chain.slice_port if chain.slice_port is not None else "no number"
    return f"{chain.service_port} → {chain.target_port} → {number}"


def _sockets(row: BackendRow, statuses: dict[str, Status]) -> Iterator[Cell]:
    if not row.ports:
        yield Cell("not looked at", Status.NOT_LOOKED_AT)
        return
    found = [_socket_status(chain.socket, statuses) for chain in row.ports]
    worst = min(found, key=[Status.FAIL, Status.WARN, Status.INCONCLUSIVE, Status.NOT_LOOKED_AT, Status.PASS].index)
    sockets = "; ".join(dict.fromkeys(chain.socket or "no port to look for" for chain in row.ports))
    others = ", ".join(str(port) for port in row.ports[0].listens_on[:6])
    yield Cell(sockets, worst, below=f"Pod listens on {others}" if others else "")


def _in_table(row: BackendRow, node: str, report: Report, statuses: dict[str, Status]) -> Cell:
    entries = [entry for entry in row.tables if entry.node == node]
    if not entries:
        outcomes = dict.fromkeys(
            text for plane in report.planes if plane.node == node for text in plane.frontends.values()
        )
        outcome = ", ".join(text for text in outcomes if text != "backends")
        return Cell(outcome or "not in it, as it should be", Status.NOT_LOOKED_AT)
    states = list(dict.fromkeys(entry.state for entry in entries))
    fine = states == ["present"]
    shares = ", ".join(dict.fromkeys(percent_of(entry.share) for entry in entries if entry.share))
    text = shares if fine else " ".join(part for part in (", ".join(states).upper(), shares) if part)
    lines = ", ".join(str(entry.line) for entry in entries if entry.line)
    below = f"{entries[0].path}:{lines}" if entries[0].path and lines else entries[0].path
    wrong = next((entry for entry in entries if entry.state == "wrong port"), None)
    if wrong is not None:
        below = f"port {wrong.port}; {below}"
    part = _part(next((entry for entry in entries if entry.share), None))
    return Cell(text or "present", Status.PASS if fine else _doubt(statuses, "dataplane"), part, below)


def _observations(report: Report) -> Table:
    rows = tuple(
        (
            observation.id,
            observation.kind,
            observation.state + (f": {observation.reason}" if observation.reason else ""),
            f"{observation.path}:{observation.line}" if observation.line else observation.path or observation.source,
            observation.command,
        )
        for observation in report.observations[:ROWS]
    )
    return Table(("id", "kind", "state", "place", "command"), rows, title="Evidence collected")
