"""Budgets as a Document: terms with their origins, the ruler of one deletion, margins, what to change first."""

from __future__ import annotations

from svcpath.reports.budget import BudgetContract, BudgetFinding, MarginRecord, TermRecord, WorkloadRecord
from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.status import Status

WORDS = {"holds": (Status.PASS, "HOLDS"), "lost": (Status.FAIL, "DOES NOT HOLD"), "open": (Status.INCONCLUSIVE, "OPEN")}
_LEVELS = {"error": "✖", "warning": "!", "note": "·"}


def document(report: BudgetContract, *, verbose: bool = False) -> Document:
    if not report.workloads:
        nothing = Statement(Status.INCONCLUSIVE, "NOTHING", "no workload with a Pod template in the evidence")
        return Document("Budget", (nothing, *unread(report)))
    sections: list[Section] = []
    shown = [one for one in report.workloads if verbose or one.serves or one.outcome == "lost"]
    for one in shown or report.workloads[:1]:
        if len(report.workloads) > 1:
            sections.append(Note(title(one)))
        sections.extend(workload(one))
    quiet = len(report.workloads) - len(shown)
    if quiet and shown:
        sections.append(Note(f"{quiet} more workloads take no traffic that the evidence shows (-v has them)"))
    if report.findings:
        sections.append(Points("Findings", tuple(_finding(one) for one in report.findings), plain=True))
    sections.extend(unread(report))
    name = title(report.workloads[0]) if len(report.workloads) == 1 else f"{len(report.workloads)} workloads"
    return Document(name, tuple(sections))


def unread(report: BudgetContract) -> tuple[Section, ...]:
    """What the evidence holds and could not be read."""
    points = tuple(Point(one.why, place=f"{one.file}:{one.line}" if one.line else one.file) for one in report.not_read)
    return (Points("Not read", points),) if points else ()


def title(one: WorkloadRecord) -> str:
    hooks = [
        f"{'' if len(one.containers) == 1 else each.name + ' '}preStop {_hook(each.hook)} ({each.spelling})"
        for each in one.containers
        if each.spelling
    ]
    grace = f"grace {one.grace} s" + (" (the default)" if one.grace_is_default else "")
    return "   ".join((f"{one.kind} {one.name}", grace, *(hooks or ["no preStop"])))


def _hook(seconds: float | None) -> str:
    return "of unknown length" if seconds is None else f"{seconds:g} s"


def workload(one: WorkloadRecord) -> list[Section]:
    sections: list[Section] = [
        Table(("term", "seconds", "origin"), tuple(_term(term) for term in one.terms), "lrl"),
        Points("The clock of one deletion", tuple(Point(text) for text in _ruler(one)), plain=True),
    ]
    status, word = WORDS[one.outcome]
    sections.append(Statement(status, word, said(one)))
    if one.limits:
        rows = tuple(
            (each.name, _limit(each.largest), _limit(each.finishing) if each.finishing is not None else "")
            for each in one.limits
        )
        columns = ("unknown", "holds up to", "if it finishes its requests on the signal")
        cut = 3 if any(row[2] for row in rows) else 2
        sections.append(Table(columns[:cut], tuple(row[:cut] for row in rows), "lrr"[:cut]))
    if one.first_to_change:
        sections.append(Points("First to change", (Point(one.first_to_change),), plain=True))
    if one.patch is not None and (one.outcome == "lost" or _tight(one)):
        assumed = f", taking {', '.join(one.patch.assumptions)}" if one.patch.assumptions else ""
        lines = tuple(Point("", command=line) for line in one.patch.text.split("\n"))
        sections.append(Points(f"A patch that would hold{assumed}", lines, plain=True))
    return sections


def _tight(one: WorkloadRecord) -> bool:
    return any(margin.seconds is not None and margin.seconds <= 0 for margin in one.margins)


def _limit(seconds: float | None) -> str:
    return "any" if seconds is None else f"{seconds:g} s"


def _term(term: TermRecord) -> tuple[str, str, str]:
    if term.seconds is not None:
        number = f"{term.seconds:g}"
    elif term.high is not None:
        number = f"{term.low:g} to {term.high:g}"
    else:
        number = f"{term.low:g} or more" if term.low else "?"
    detail = f": {term.detail}" if term.detail and term.origin not in ("flag", "none found") else ""
    return term.name, number, term.detail if term.origin in ("flag", "none found") else f"{term.origin}{detail}"


def _ruler(one: WorkloadRecord) -> list[str]:
    """The moments in order, those on the same second together."""
    values = {term.name: term for term in one.terms}
    drained = [values[name] for name in ("load balancer removal", "slice and data plane")]
    moments: list[tuple[float, str]] = [(0.0, "delete")]
    known = all(term.seconds is not None for term in drained)
    last_new = sum(term.low for term in drained)
    if known or last_new:
        moments.append((last_new, "last new connection" if known else "last new connection, at the earliest"))
    longest = values["longest request"]
    if known and longest.seconds is not None:
        moments.append((last_new + longest.seconds, "last request done"))
    kill = float(one.grace)
    for each in one.containers:
        label = "" if len(one.containers) == 1 else f" of {each.name}"
        if each.sidecar:
            continue
        if each.told_by_hook is not None:
            moments.append((each.told_by_hook, f"told to stop by preStop{label}"))
        if each.hook is None:
            moments.append((float(one.grace), f"signal{label}, at the latest"))
            continue
        signal = min(each.hook, float(one.grace))
        moments.append((signal, f"{each.signal or 'stop signal'}{label}"))
        kill = max(kill, signal + 2)
    unread = any(each.hook is None and not each.sidecar for each in one.containers)
    moments.append((kill, "SIGKILL (up to 2 s later, if preStop takes that long)" if unread else "SIGKILL"))
    moments.sort(key=lambda moment: moment[0])
    return [f"{at:>6.4g} s  {what}" for at, what in moments]


def said(one: WorkloadRecord) -> str:
    if one.outcome == "lost":
        return "margins: " + ", ".join(_margin(each) for each in one.margins)
    text = "margins: " + ", ".join(_margin(each) for each in one.margins)
    if one.outcome == "open":
        unknown = [term.name for term in one.terms if term.seconds is None]
        hooks = [f"preStop of {each.name}" for each in one.containers if each.hook is None]
        return f"it depends on {', '.join([*unknown, *hooks]) or 'what the application does on its signal'}; at best {text}"
    return text


def _margin(margin: MarginRecord) -> str:
    where = {"requests": " before the signal", "graceful exit": " before the kill"}.get(margin.name, "")
    if margin.seconds is None:
        return f"{margin.name} never by itself"
    finishing = f" ({margin.finishing:g} s if it finishes them)" if margin.finishing is not None else ""
    return f"{margin.name} {margin.seconds:g} s{where}{finishing}"


def _finding(one: BudgetFinding) -> Point:
    place = f"{one.file}:{one.line}" if one.file and one.line else one.file
    return Point(f"{_LEVELS[one.level]} {one.code} {one.object}: {one.message}", place=place)
