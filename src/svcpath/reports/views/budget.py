"""Budgets as a Document: terms with their origins, the shutdown timeline, margins, what to change first."""

from __future__ import annotations

from svcpath.reports.budget import BudgetContract, BudgetFinding, MarginRecord, TermRecord, WorkloadRecord
from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.status import Status

WORDS = {
    "holds": (Status.PASS, "holds"),
    "does-not-hold": (Status.FAIL, "does not hold"),
    "undetermined": (Status.INCONCLUSIVE, "undetermined"),
}
_LEVELS = {"error": "✖", "warning": "!", "note": "·"}


def document(report: BudgetContract, *, verbose: bool = False) -> Document:
    if not report.workloads:
        nothing = Statement(Status.INCONCLUSIVE, "NOTHING", "no workload with a Pod template was read")
        return Document("Budget", (nothing, *unread(report)))
    sections: list[Section] = []
    shown = [record for record in report.workloads if verbose or record.serves or record.outcome == "does-not-hold"]
    for record in shown or report.workloads[:1]:
        if len(report.workloads) > 1:
            sections.append(Note(title(record)))
        sections.extend(workload(record))
    quiet = len(report.workloads) - len(shown)
    if quiet and shown:
        sections.append(Note(f"{quiet} more workloads take no traffic, as far as the manifests show (-v lists them)"))
    if report.findings:
        sections.append(Points("Findings", tuple(_finding(finding) for finding in report.findings), plain=True))
    sections.extend(unread(report))
    name = title(report.workloads[0]) if len(report.workloads) == 1 else f"{len(report.workloads)} workloads"
    return Document(name, tuple(sections))


def unread(report: BudgetContract) -> tuple[Section, ...]:
    """What was given and could not be read."""
    points = tuple(
        Point(entry.why, place=f"{entry.file}:{entry.line}" if entry.line else entry.file) for entry in report.not_read
    )
    return (Points("Not read", points),) if points else ()


def title(record: WorkloadRecord) -> str:
    hooks = [
        f"{'' if len(record.containers) == 1 else container.name + ' '}preStop {_hook(container.hook)} ({container.spelling})"
        for container in record.containers
        if container.spelling
    ]
    grace = f"grace {record.grace} s" + (" (the default)" if record.grace_is_default else "")
    return "   ".join((f"{record.kind} {record.name}", grace, *(hooks or ["no preStop"])))


def _hook(seconds: float | None) -> str:
    return "of unknown length" if seconds is None else f"{seconds:g} s"


def workload(record: WorkloadRecord) -> list[Section]:
    sections: list[Section] = [
        Table(("term", "seconds", "origin"), tuple(_term(term) for term in record.terms), "lrl"),
        Points("Shutdown timeline", tuple(Point(text) for text in _ruler(record)), plain=True),
    ]
    status, word = WORDS[record.outcome]
    sections.append(Statement(status, word, sentence(record)))
    if record.limits:
        rows = tuple(
            (limit.name, _limit(limit.largest), _limit(limit.finishing) if limit.finishing is not None else "")
            for limit in record.limits
        )
        columns = ("unknown", "holds up to", "if it finishes its requests on the signal")
        cut = 3 if any(row[2] for row in rows) else 2
        sections.append(Table(columns[:cut], tuple(row[:cut] for row in rows), "lrr"[:cut]))
    if record.first_to_change:
        sections.append(Points("First to change", (Point(record.first_to_change),), plain=True))
    if record.patch is not None and (record.outcome == "does-not-hold" or _tight(record)):
        assumed = f", taking {', '.join(record.patch.assumptions)}" if record.patch.assumptions else ""
        lines = tuple(Point("", command=line) for line in record.patch.text.split("\n"))
        sections.append(Points(f"A patch that would hold{assumed}", lines, plain=True))
    return sections


def _tight(record: WorkloadRecord) -> bool:
    return any(margin.seconds is not None and margin.seconds <= 0 for margin in record.margins)


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


def _ruler(record: WorkloadRecord) -> list[str]:
    """The moments in order, those on the same second together."""
    values = {term.name: term for term in record.terms}
    drained = [values[name] for name in ("load balancer removal", "endpoint propagation")]
    moments: list[tuple[float, str]] = [(0.0, "delete")]
    known = all(term.seconds is not None for term in drained)
    last_new = sum(term.low for term in drained)
    if known or last_new:
        moments.append((last_new, "last new connection" if known else "last new connection, at the earliest"))
    longest = values["longest request"]
    if known and longest.seconds is not None:
        moments.append((last_new + longest.seconds, "last request done"))
    kill = float(record.grace)
    for container in record.containers:
        label = "" if len(record.containers) == 1 else f" of {container.name}"
        if container.sidecar:
            continue
        if container.stopped_by_hook is not None:
            moments.append((container.stopped_by_hook, f"stopped by preStop{label}"))
        if container.hook is None:
            moments.append((float(record.grace), f"signal{label}, at the latest"))
            continue
        signal = min(container.hook, float(record.grace))
        moments.append((signal, f"{container.signal or 'SIGTERM'}{label}"))
        kill = max(kill, signal + 2)
    unread = any(container.hook is None and not container.sidecar for container in record.containers)
    moments.append((kill, "SIGKILL (up to 2 s later, if preStop takes that long)" if unread else "SIGKILL"))
    moments.sort(key=lambda moment: moment[0])
    return [f"{at:>6.4g} s  {what}" for at, what in moments]


def sentence(record: WorkloadRecord) -> str:
    if record.outcome == "does-not-hold":
        return "margins: " + ", ".join(_margin(margin) for margin in record.margins)
    text = "margins: " + ", ".join(_margin(margin) for margin in record.margins)
    if record.outcome == "undetermined":
        unknown = [term.name for term in record.terms if term.seconds is None]
        hooks = [f"preStop of {container.name}" for container in record.containers if container.hook is None]
        return f"it depends on {', '.join([*unknown, *hooks]) or 'what the application does on its signal'}; at best {text}"
    return text


def _margin(margin: MarginRecord) -> str:
    where = {"requests": " before the signal", "graceful exit": " before the kill"}.get(margin.name, "")
    if margin.seconds is None:
        return f"{margin.name} never by itself"
    finishing = f" ({margin.finishing:g} s if it finishes them)" if margin.finishing is not None else ""
    return f"{margin.name} {margin.seconds:g} s{where}{finishing}"


def _finding(finding: BudgetFinding) -> Point:
    place = f"{finding.file}:{finding.line}" if finding.file and finding.line else finding.file
    return Point(f"{_LEVELS[finding.level]} {finding.code} {finding.object}: {finding.message}", place=place)
