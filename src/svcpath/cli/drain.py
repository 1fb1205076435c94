"""svcpath drain watch | run | timeline"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svcpath.cli import output
from svcpath.cli.exits import Exit
from svcpath.errors import UsageError

app = typer.Typer(
    name="drain",
    help="Record a drain, prove it, show it on one axis.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
timeline_app = typer.Typer(
    name="timeline", help="Show or export a recorded drain.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(timeline_app)

SHOW = """\
svcpath drain timeline show drain.db

Print a recorded drain on one axis: 0 is the moment the API server accepted the first delete.

FILE is what svcpath drain watch wrote, or a folder with recorded watch events (JSON Lines of {"received", "type",
"object"}) and a client's log.

Exit code: 0 nothing was lost, 1 requests or connections were lost, 3 no deletion in the recording."""

EXPORT = """\
svcpath drain timeline export drain.db --format csv > drain.csv

Write every moment and every connection as JSON Lines or CSV."""

Recording = Annotated[list[Path], typer.Argument(metavar="FILE...", help="A recording: a file, or a folder.")]


@timeline_app.command("show", help=SHOW)
def show(
    files: Recording,
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Events of the API too.")] = False,
) -> int:
    from svcpath.drill.load import load
    from svcpath.reports.report import encode
    from svcpath.reports.timeline import timeline_report
    from svcpath.reports.views.timeline import document
    from svcpath.reports.views.timeline_page import page

    wanted = output.parse(outputs)
    found, gaps = load(files)
    report = timeline_report(found, gaps)
    output.write(wanted, lambda: document(report, verbose=verbose), lambda: encode(report), lambda: page(report))
    if not report.deletions:
        return Exit.UNDECIDED
    return Exit.BAD if any(one.level == "error" for one in report.findings) else Exit.GOOD


@timeline_app.command("export", help=EXPORT)
def export(
    files: Recording,
    form: Annotated[str, typer.Option("--format", help="jsonl or csv.")] = "jsonl",
    out: Annotated[Path | None, typer.Option("--out", help="A file instead of standard output.")] = None,
) -> int:
    import sys

    from svcpath.drill.load import load
    from svcpath.errors import EvidenceError
    from svcpath.reports.timeline import comma_separated, json_lines, timeline_report

    if form not in ("jsonl", "csv"):
        raise UsageError(f"--format {form!r}: give jsonl or csv")
    found, gaps = load(files)
    report = timeline_report(found, gaps)
    content = json_lines(report, found) if form == "jsonl" else comma_separated(report, found)
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return Exit.GOOD
    try:
        out.write_bytes(content)
    except OSError as error:
        raise EvidenceError(f"can't write {out}: {error.strerror}") from error
    return Exit.GOOD
