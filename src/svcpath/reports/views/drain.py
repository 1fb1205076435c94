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
        lines = tuple(_line(scenario, details) for scenario in report.scenarios)
        sections.append(Path(lines, title="Scenarios"))
    if report.cells:
        sections += [_grid(report.cells), _timed(report.cells)]
        if details:
            sections.append(Path(tuple(_cell(cell) for cell in report.cells), title="Cells"))
    if report.loads:
        sections.append(Path(tuple(_load(load) for load in report.loads), title="Recorder"))
    if details and report.facts:
        sections.append(Table(("fact", "value"), tuple(sorted(report.facts.items())), title="Measured on"))
    return Document("Drains played and measured", tuple(sections), "drain")


def _statement(report: DrainContract) -> Statement:
    parts = []
    if report.scenarios:
        right = sum(scenario.as_it_should is True for scenario in report.scenarios)
        parts.append(f"{right} of {len(report.scenarios)} variants came out as they have to")
        open_ = sum(scenario.as_it_should is None for scenario in report.scenarios)
        parts += [f"{open_} could not be played"] if open_ else []
    if report.cells:
        agree = sum(cell.right for cell in report.cells)
        parts.append(f"{agree} of {len(report.cells)} cells agree with the model")
    for load in report.loads:
        reached = load.rate if load.took <= load.seconds * 1.1 else load.recorded / load.took
        parts.append(f"the recorder {'holds' if load.holds else 'fails'} at {reached:.0f} connections a second")
    if not parts:
        return Statement(Status.INCONCLUSIVE, "DRAIN", "nothing was played")
    status = Status.FAIL if not report.right else Status.PASS if report.whole else Status.INCONCLUSIVE
    return Statement(status, "DRAIN", "; ".join(parts))


def _line(scenario: ScenarioRecord, details: bool) -> StatusLine:
    verdict = "passes" if scenario.passed else "fails"
    how = "as it has to" if scenario.as_it_should else "which it must not"
    sentence = (
        f"not played: {scenario.sentence}" if scenario.passed is None else f"{verdict}, {how}: {scenario.sentence}"
    )
    status = {True: Status.PASS, False: Status.FAIL, None: Status.NOT_LOOKED_AT}[scenario.as_it_should]
    opened: tuple[Section, ...] = ()
    if details:
        words = (
            Point(f"variant: {scenario.why}"),
            Point(f"done: {scenario.does}"),
            Point(f"measured: {scenario.measures}"),
            Point(f"passes when: {scenario.passes_when}"),
        )
        numbers = tuple(
            (name, "not seen" if value is None else f"{value:g}") for name, value in scenario.measured.items()
        )
        opened = (Points(scenario.title, words), *((Table(("what", "value"), numbers, "lr"),) if numbers else ()))
    return StatusLine(
        f"{scenario.number}. {scenario.title}: {scenario.variant}",
        status,
        sentence,
        details=opened,
    )


def _cell(cell: CellRecord) -> StatusLine:
    """A cell of the grid by itself, so that each counts where results are counted (JUnit)."""
    ends = ", ".join(f"{name} ended with {code}" for name, code in cell.codes) or "no end of a container seen"
    margins = tuple(
        (name, "none" if value is None else f"{value:+.1f} s")
        for name, value in zip(("new connections", "requests", "graceful exit"), cell.margins, strict=True)
    )
    clock = tuple((end.container, f"{end.predicted:.1f}", _measured(end), end.seen or "nothing") for end in cell.ends)
    sentence = f"the model says {_losses(cell.predicted)}, measured is {_losses(cell.measured)}"
    opened: tuple[Section, ...] = (
        Table(("margin", "by the model"), margins, "lr"),
        Table(("container", "end by the model", "measured", "seen by"), clock, "lrrl"),
        Note(f"{cell.shape} Pod; {cell.tried} connections tried, {cell.requests} requests; {ends}"),
    )
    return StatusLine(cell.cell, Status.PASS if cell.right else Status.FAIL, sentence, details=opened)


def _load(load: LoadRecord) -> StatusLine:
    sentence = (
        f"{load.recorded} of {load.announced} connections recorded, {load.duplicated} twice, {load.lost} lost, {load.unlogged} "
        f"answered but in no server's log ({load.logged} are); {load.failed} failed, {load.late} began late "
        f"(by {load.latest:g} s at most; the sampler used {load.sampler_used:g} s of processor time and waited "
        f"{load.sampler_waited:g} s for it); {load.replaced} Pods replaced, {load.lost_pods} not recorded whole; {load.cores:g} cores for the recorder"
    )
    if load.took > load.seconds * 1.1:
        sentence += f"; the sampler could not hold the rate there, it took {load.took:g} s"
    name = f"{load.rate:g} connections a second for {load.seconds:g} s"
    return StatusLine(name, Status.PASS if load.holds else Status.FAIL, sentence)


def _grid(cells: tuple[CellRecord, ...]) -> Table:
    rows = tuple(
        (
            cell.cell,
            f"{cell.pre_stop}/{cell.grace}/{cell.longest:g}/{cell.drained:g}",
            cell.on_signal,
            _losses(cell.predicted),
            _losses(cell.measured),
            "" if cell.predicted.signal is None else f"{cell.predicted.signal:.1f}",
            "?" if cell.measured.signal is None else f"{cell.measured.signal:.1f}",
            *_ends(cell),
            "agrees" if cell.right else "times DIFFER" if cell.agrees else "DIFFERS",
        )
        for cell in cells
    )
    columns = (
        *("cell", "P/G/L/D", "on signal", "model", "measured", "signal by the model", "signal measured"),
        *("end by the model", "end measured", "outcome"),
    )
    return Table(columns, rows, "lllllrrrrl", title="Model against measured")


def _ends(cell: CellRecord) -> tuple[str, str]:
    """The ends of the containers by the model and as measured, the application's first."""
    ends = sorted(cell.ends, key=lambda end: end.container != "app")
    return " ".join(f"{end.predicted:.1f}" for end in ends), " ".join(_measured(end) for end in ends)


def _measured(end: EndRecord) -> str:
    if end.measured is None:
        return "?"
    return f"{end.measured:.1f}" if not end.within else f"{end.measured:.1f}..{end.measured + end.within:.1f}"


def _timed(cells: tuple[CellRecord, ...]) -> Note:
    timed = [cell.time_agrees for cell in cells if cell.time_agrees is not None]
    ends = [cell.ends_agree for cell in cells if cell.ends_agree is not None]
    return Note(
        f"P preStop, G grace, L longest request, D time until no node sends new connections, in seconds. "
        f"The signal came within 1 s of the model in {sum(timed)} of {len(timed)} cells, every container's end in "
        f"{sum(ends)} of {len(ends)}; a range is an end that only a status tells, in whole seconds."
    )


def _losses(of: Losses) -> str:
    flags = (("refused", of.refused), ("cut", of.cut), ("killed", of.killed))
    return " ".join(word for word, flag in flags if flag) or "nothing lost"
