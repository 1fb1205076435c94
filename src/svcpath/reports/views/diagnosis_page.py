"""A diagnosis with all there is to open: the path as a picture, every finding under its layer, the backends side by side.

The forms that are opened or searched (HTML, SARIF, JUnit) are made from this; the ones read top to bottom from
``diagnosis``. Both say the same statuses and codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.reports.document import (
    Cause,
    Cell,
    Claim,
    Document,
    Exhibit,
    Hop,
    Mark,
    Matrix,
    Path,
    Point,
    Points,
    Section,
    Station,
    Table,
)
from svcpath.reports.report import (
    BackendRecord,
    ChainRecord,
    EvidenceRecord,
    FindingRecord,
    HopRecord,
    HypothesisRecord,
    InTableRecord,
    LayerRecord,
    ObservationRecord,
    Report,
)
from svcpath.reports.views import diagnosis
from svcpath.reports.views.codes import about

#: Rows of one table, findings of one layer, exhibits of one finding; the JSON form holds all.
ROWS, FINDINGS, EXHIBITS = 400, 100, 40

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
    seen = {one.id: one for one in report.observations}
    marks = {one.name: diagnosis.MARKS[one.status] for one in report.layers}
    stations = tuple(_station(report, one, chief, seen) for one in report.layers)
    hops = tuple(_hop(one, report, marks) for one in report.path)
    sections: list[Section] = [diagnosis.statement(report), *_first(report, chief), Path(stations, hops)]
    if report.backends:
        sections.append(_backends(report, marks))
    sections.extend(_around(report, chief))
    if report.observations:
        sections.append(_observations(report))
    return Document(diagnosis.title(report), tuple(sections), "diagnosis")


def _first(report: Report, chief: FindingRecord | None) -> list[Section]:
    """What to do now: the mend, and the one command that would prove the verdict wrong."""
    if chief is None:
        return diagnosis.undecided(report) if report.verdict.status == "inconclusive" else []
    sections: list[Section] = []
    if chief.remedy:
        sections.append(Points("Mend", (Point(chief.remedy),), plain=True))
    sections.extend(diagnosis.disproof(chief))
    return sections


def _around(report: Report, chief: FindingRecord | None) -> list[Section]:
    sections: list[Section] = []
    ruled_out = diagnosis.ruled_out(report) if chief is not None else ()
    if ruled_out:
        sections.append(Points("Ruled out", ruled_out))
    if report.changes:
        changed = tuple(Point(f"{one.at}  {one.what}" + (f" ({one.who})" if one.who else "")) for one in report.changes)
        sections.append(Points("Changed lately", changed))
    if report.not_looked_at:
        gaps = tuple(Point(f"{one.what}: {one.why}", one.command) for one in report.not_looked_at[:ROWS])
        sections.append(Points("Not looked at", gaps))
    return sections


def _station(
    report: Report, one: LayerRecord, chief: FindingRecord | None, seen: dict[str, ObservationRecord]
) -> Station:
    details: list[Section] = [
        _claim(report.findings[index], seen, chief=report.findings[index] is chief) for index in one.findings[:FINDINGS]
    ]
    left = len(one.findings) - FINDINGS
    gaps = [Point(f"{gap.what}: {gap.why}", gap.command) for gap in report.not_looked_at if gap.layer == one.name]
    if left > 0:
        gaps.append(Point(f"{left} more findings of this layer are in the JSON form"))
    if gaps:
        details.append(Points("Not looked at here", tuple(gaps[:ROWS])))
    return Station(one.name, diagnosis.MARKS[one.status], one.sentence, one.decisive, tuple(details))


def _claim(one: FindingRecord, seen: dict[str, ObservationRecord], *, chief: bool) -> Claim:
    known = about(one.code)
    return Claim(
        code=one.code,
        mark=diagnosis.MARKS[one.status],
        text=one.sentence,
        about=one.layer,
        share=one.share,
        title=known.title,
        meaning=known.meaning,
        help=known.help,
        details=one.details,
        remedy=one.remedy,
        exhibits=tuple(_exhibits(one.evidence, seen)),
        causes=tuple(_cause(each, seen) for each in one.hypotheses),
        chief=chief,
    )


def _exhibits(evidence: tuple[EvidenceRecord, ...], seen: dict[str, ObservationRecord]) -> Iterator[Exhibit]:
    for one in evidence[:EXHIBITS]:
        held = seen.get(one.observation or "")
        if held is None:
            yield Exhibit(one.sentence, one.command)
        else:
            yield Exhibit(one.sentence, one.command, held.path, held.line)
    if len(evidence) > EXHIBITS:
        yield Exhibit(f"{len(evidence) - EXHIBITS} more pieces of evidence are in the JSON form")


def _cause(one: HypothesisRecord, seen: dict[str, ObservationRecord]) -> Cause:
    return Cause(
        text=one.cause,
        confidence=one.confidence,
        supports=tuple(_exhibits(one.supports, seen)),
        against=tuple(_exhibits(one.against, seen)),
        command=one.disproof,
        refutes=one.refutes,
    )


def _hop(one: HopRecord, report: Report, marks: dict[str, Mark]) -> Hop:
    facts = tuple(Cell(text) for text in one.facts)
    if one.kind == "pods" and report.backends:
        facts = tuple(_socket_facts(report, marks))
    elif one.kind == "dataplane":
        facts = tuple(_node_fact(text, report, marks) for text in one.facts)
    return Hop(KINDS.get(one.kind, one.kind), one.name, facts, one.layers)


def _socket_facts(report: Report, marks: dict[str, Mark], limit: int = 6) -> Iterator[Cell]:
    """The sockets, the worst first, each with its share where a table gives one."""
    cells: list[Cell] = []
    for row in report.backends:
        place = f"[{row.address}]" if ":" in row.address else row.address
        held = next((each for each in row.tables if each.share), None)
        share = f"{held.share} " if held else ""
        if not row.slice:
            mark = _doubt(marks, "dataplane") if row.tables else Mark.NOT_LOOKED_AT
            port = f":{row.tables[0].port}" if row.tables else ""
            cells.append(Cell(f"{place or row.pod}{port}", mark, _part(held), f"{share}in no slice"))
            continue
        for chain in row.ports[:2]:
            number = f":{chain.slice_port}" if chain.slice_port is not None else ""
            mark = _socket_mark(chain.socket, marks) if row.ready or row.serving else Mark.NOT_LOOKED_AT
            said = chain.socket or "no port in the slice"
            cells.append(Cell(f"{place}{number}", mark, _part(held), share + said))
    order = [Mark.FAIL, Mark.INCONCLUSIVE, Mark.WARN, Mark.PASS, Mark.NOT_LOOKED_AT, Mark.SKIPPED]
    cells.sort(key=lambda cell: order.index(cell.mark or Mark.SKIPPED))
    yield from cells[:limit]
    if len(cells) > limit:
        yield Cell(f"and {len(cells) - limit} more")


def _node_fact(text: str, report: Report, marks: dict[str, Mark]) -> Cell:
    """A node's line with how many backends its table holds wrongly, or lacks."""
    node = text.partition(" (")[0]
    states = [each.state for row in report.backends for each in row.tables if each.node == node]
    wrong = {state: states.count(state) for state in dict.fromkeys(states) if state != "held"}
    if not states:
        return Cell(text)
    below = ", ".join(f"{count} {state}" for state, count in wrong.items())
    return Cell(text, _doubt(marks, "dataplane") if wrong else Mark.PASS, below=below)


def _doubt(marks: dict[str, Mark], layer: str) -> Mark:
    """What a row that looks wrong is marked with: what its layer made of it, never more."""
    mark = marks.get(layer, Mark.INCONCLUSIVE)
    return mark if mark in (Mark.FAIL, Mark.WARN) else Mark.INCONCLUSIVE


def _socket_mark(socket: str, marks: dict[str, Mark]) -> Mark:
    if socket == "listens":
        return Mark.PASS
    return Mark.NOT_LOOKED_AT if socket in ("not looked at", "") else _doubt(marks, "ports")


def _part(held: InTableRecord | None) -> float | None:
    """A share "1/3" as a number."""
    if held is None or not held.share:
        return None
    above, _, below = held.share.partition("/")
    if not (above.isdecimal() and below.isdecimal() and int(below)):
        return None
    return int(above) / int(below)


def _backends(report: Report, marks: dict[str, Mark]) -> Matrix:
    nodes = list(dict.fromkeys(one.node for one in report.planes)) or list(
        dict.fromkeys(each.node for row in report.backends for each in row.tables)
    )
    modes = {one.node: one.mode for one in report.planes}
    columns = ["backend", "node", "slice: ready, serving, terminating", "Pod", "port chain", "socket"]
    columns += [f"{node} table" + (f" ({modes[node]})" if modes.get(node) else "") for node in nodes]
    rows = [tuple(_cells(row, nodes, report, marks)) for row in report.backends]
    bad = {Mark.FAIL: 0, Mark.WARN: 1, Mark.INCONCLUSIVE: 2}
    rows.sort(key=lambda row: min(bad.get(cell.mark, 3) if cell.mark else 3 for cell in row))
    note = f"{len(rows) - ROWS} more rows are in the JSON form" if len(rows) > ROWS else ""
    return Matrix("Backends", tuple(columns), tuple(rows[:ROWS]), note)


def _cells(row: BackendRecord, nodes: list[str], report: Report, marks: dict[str, Mark]) -> Iterator[Cell]:
    yield Cell(row.address or "no address", below=row.pod)
    yield Cell(row.node or "not known", below=row.zone)
    if row.ready is None:
        yield Cell("in no slice", Mark.INCONCLUSIVE if row.tables else Mark.NOT_LOOKED_AT)
    else:
        words = ", ".join("yes" if one else "no" for one in (row.ready, row.serving, row.terminating))
        yield Cell(words, Mark.PASS if row.ready else _doubt(marks, "endpoints"), below=row.slice)
    ready = {True: "ready", False: "not ready", None: ""}[row.pod_ready]
    restarts = f"{row.restarts} restart{'' if row.restarts == 1 else 's'}" if row.restarts else ""
    said = ", ".join(part for part in (row.pod_state, ready, restarts) if part)
    fine = row.pod_ready and row.pod_state == "Running"
    yield Cell(
        said or "not in the evidence", Mark.PASS if fine else Mark.NOT_LOOKED_AT if not said else _doubt(marks, "pod")
    )
    yield Cell("; ".join(_chain(one) for one in row.ports) or "none")
    yield from _sockets(row, marks)
    for node in nodes:
        yield _in_table(row, node, report, marks)


def _chain(one: ChainRecord) -> str:
    number = one.slice_port if one.slice_port is not None else "no number"
    return f"{one.service_port} → {one.target_port} → {number}"


def _sockets(row: BackendRecord, marks: dict[str, Mark]) -> Iterator[Cell]:
    if not row.ports:
        yield Cell("not looked at", Mark.NOT_LOOKED_AT)
        return
    found = [_socket_mark(one.socket, marks) for one in row.ports]
    worst = min(found, key=[Mark.FAIL, Mark.WARN, Mark.INCONCLUSIVE, Mark.NOT_LOOKED_AT, Mark.PASS].index)
    said = "; ".join(dict.fromkeys(one.socket or "no port to look for" for one in row.ports))
    others = ", ".join(str(port) for port in row.ports[0].listens_on[:6])
    yield Cell(said, worst, below=f"Pod listens on {others}" if others else "")


def _in_table(row: BackendRecord, node: str, report: Report, marks: dict[str, Mark]) -> Cell:
    held = [one for one in row.tables if one.node == node]
    if not held:
        outcomes = dict.fromkeys(
            outcome for one in report.planes if one.node == node for outcome in one.frontends.values()
        )
        said = ", ".join(outcome for outcome in outcomes if outcome != "backends")
        return Cell(said or "not in it, as it should be", Mark.NOT_LOOKED_AT)
    states = list(dict.fromkeys(one.state for one in held))
    fine = states == ["held"]
    shares = ", ".join(dict.fromkeys(one.share for one in held if one.share))
    text = shares if fine else " ".join(part for part in (", ".join(states).upper(), shares) if part)
    lines = ", ".join(str(one.line) for one in held if one.line)
    below = f"{held[0].path}:{lines}" if held[0].path and lines else held[0].path
    wrong = next((one for one in held if one.state == "wrong port"), None)
    if wrong is not None:
        below = f"port {wrong.port}; {below}"
    part = _part(next((one for one in held if one.share), None))
    return Cell(text or "held", Mark.PASS if fine else _doubt(marks, "dataplane"), part, below)


def _observations(report: Report) -> Table:
    rows = tuple(
        (
            one.id,
            one.kind,
            one.state + (f": {one.reason}" if one.reason else ""),
            f"{one.path}:{one.line}" if one.line else one.path or one.source,
            one.command,
        )
        for one in report.observations[:ROWS]
    )
    return Table(("id", "kind", "state", "place", "command"), rows, title="What the findings rest on")
