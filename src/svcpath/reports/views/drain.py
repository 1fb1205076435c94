"""A drain as a Document: scenarios with what was measured, and one table of model against measured."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Path, Point, Points, Section, Statement, StatusLine, Table
from svcpath.reports.drain import CellRecord, DrainContract, EndRecord, LoadRecord, Losses, ScenarioRecord
from svcpath.status import Status


def document(report: DrainContract) -> Document:
    return _made(report, details=False)


def page(report: DrainContract) -> Document:
    """The long one: each scenario opens to what it does, what has to come out, and every number."""
    return _made(report, details=True)


def _made(report: DrainContract, *, details: bool) -> Document:
    sections: list[Section] = [_statement(report)]
    if report.scenarios:
        lines = tuple(_line(one, details) for one in report.scenarios)
        sections.append(Path(lines, title="Scenarios"))
    if report.cells:
        sections += [_grid(report.cells), _timed(report.cells)]
        if details:
            sections.append(Path(tuple(_cell(one) for one in report.cells), title="Cells"))
    if report.loads:
        sections.append(Path(tuple(_load(one) for one in report.loads), title="Recorder"))
    if details and report.facts:
        sections.append(Table(("fact", "value"), tuple(sorted(report.facts.items())), title="Measured on"))
    return Document("Drains played and measured", tuple(sections), "drain")


def _statement(report: DrainContract) -> Statement:
    parts = []
    if report.scenarios:
        right = sum(one.as_it_should is True for one in report.scenarios)
        parts.append(f"{right} of {len(report.scenarios)} variants came out as they have to")
        open_ = sum(one.as_it_should is None for one in report.scenarios)
        parts += [f"{open_} could not be played"] if open_ else []
    if report.cells:
        agree = sum(one.right for one in report.cells)
        parts.append(f"{agree} of {len(report.cells)} cells agree with the model")
    for each in report.loads:
        reached = each.rate if each.took <= each.seconds * 1.1 else each.recorded / each.took
        parts.append(f"the recorder {'holds' if each.holds else 'fails'} at {reached:.0f} connections a second")
    if not parts:
        return Statement(Status.INCONCLUSIVE, "DRAIN", "nothing was played")
    status = Status.FAIL if not report.right else Status.PASS if report.whole else Status.INCONCLUSIVE
    return Statement(status, "DRAIN", "; ".join(parts))


def _line(one: ScenarioRecord, details: bool) -> StatusLine:
    verdict = "passes" if one.passed else "fails"
    how = "as it has to" if one.as_it_should else "which it must not"
    said = f"not played: {one.said}" if one.passed is None else f"{verdict}, {how}: {one.said}"
    status = {True: Status.PASS, False: Status.FAIL, None: Status.NOT_LOOKED_AT}[one.as_it_should]
    opened: tuple[Section, ...] = ()
    if details:
        words = (
            Point(f"variant: {one.why}"),
            Point(f"done: {one.does}"),
            Point(f"measured: {one.measures}"),
            Point(f"passes when: {one.passes_when}"),
        )
        numbers = tuple((name, "not seen" if value is None else f"{value:g}") for name, value in one.measured.items())
        opened = (Points(one.title, words), *((Table(("what", "value"), numbers, "lr"),) if numbers else ()))
    return StatusLine(
        f"{one.number}. {one.title}: {one.variant}",
        status,
        said,
        details=opened,
    )


def _cell(one: CellRecord) -> StatusLine:
    """A cell of the grid by itself, so that each counts where results are counted (JUnit)."""
    ends = ", ".join(f"{name} ended with {code}" for name, code in one.codes) or "no end of a container seen"
    margins = tuple(
        (name, "none" if value is None else f"{value:+.1f} s")
        for name, value in zip(("new connections", "requests", "graceful exit"), one.margins, strict=True)
    )
    clock = tuple((end.container, f"{end.predicted:.1f}", _measured(end), end.seen or "nobody") for end in one.ends)
    said = f"the model says {_losses(one.predicted)}, measured is {_losses(one.measured)}"
    opened: tuple[Section, ...] = (
        Table(("margin", "by the model"), margins, "lr"),
        Table(("container", "end by the model", "measured", "seen by"), clock, "lrrl"),
        Note(f"{one.shape} Pod; {one.tried} connections tried, {one.requests} requests; {ends}"),
    )
    return StatusLine(one.cell, Status.PASS if one.right else Status.FAIL, said, details=opened)


def _load(one: LoadRecord) -> StatusLine:
    said = (
        f"{one.recorded} of {one.announced} connections recorded, {one.duplicated} twice, {one.lost} lost, {one.unlogged} "
        f"answered but in no server's log ({one.logged} are); {one.failed} failed, {one.late} began late "
        f"(by {one.latest:g} s at most; the sampler used {one.sampler_used:g} s of processor time and waited "
        f"{one.sampler_waited:g} s for it); {one.replaced} Pods replaced, {one.lost_pods} not recorded whole; {one.cores:g} cores for the recorder, {one.cores_with_kubectl:g} "
        "with its kubectl processes"
    )
    if one.took > one.seconds * 1.1:
        said += f"; the sampler could not hold the rate there, it took {one.took:g} s"
    name = f"{one.rate:g} connections a second for {one.seconds:g} s"
    return StatusLine(name, Status.PASS if one.holds else Status.FAIL, said)


def _grid(cells: tuple[CellRecord, ...]) -> Table:
    rows = tuple(
        (
            one.cell,
            f"{one.pre_stop}/{one.grace}/{one.longest:g}/{one.drained:g}",
            one.on_signal,
            _losses(one.predicted),
            _losses(one.measured),
            "" if one.predicted.signal is None else f"{one.predicted.signal:.1f}",
            "?" if one.measured.signal is None else f"{one.measured.signal:.1f}",
            *_ends(one),
            "agrees" if one.right else "times DIFFER" if one.agrees else "DIFFERS",
        )
        for one in cells
    )
    columns = (
        *("cell", "P/G/L/D", "on signal", "model", "measured", "signal by the model", "signal measured"),
        *("end by the model", "end measured", "outcome"),
    )
    return Table(columns, rows, "lllllrrrrl", title="Model against measured")


def _ends(one: CellRecord) -> tuple[str, str]:
    """The ends of the containers by the model and as measured, the application's first."""
    ends = sorted(one.ends, key=lambda end: end.container != "app")
    return " ".join(f"{end.predicted:.1f}" for end in ends), " ".join(_measured(end) for end in ends)


def _measured(end: EndRecord) -> str:
    if end.measured is None:
        return "?"
    return f"{end.measured:.1f}" if not end.within else f"{end.measured:.1f}..{end.measured + end.within:.1f}"


def _timed(cells: tuple[CellRecord, ...]) -> Note:
    timed = [one.time_agrees for one in cells if one.time_agrees is not None]
    ends = [one.ends_agree for one in cells if one.ends_agree is not None]
    return Note(
        f"P preStop, G grace, L longest request, D time until no node sends new connections, in seconds. "
        f"The signal came within 1 s of the model in {sum(timed)} of {len(timed)} cells, every container's end in "
        f"{sum(ends)} of {len(ends)}; a range is an end that only a status tells, in whole seconds."
    )


def _losses(of: Losses) -> str:
    flags = (("refused", of.refused), ("cut", of.cut), ("killed", of.killed))
    return " ".join(word for word, flag in flags if flag) or "nothing lost"
