"""svcpath report"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from svcpath.cli import output
from svcpath.errors import EvidenceError, FormatError

HELP = """\
svcpath report report.json -o markdown=incident.md

Turn a saved JSON report into another form."""


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="A report written by -o json.")],
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Every finding with its evidence.")] = False,
) -> int:
    from svcpath.reports.report import decode, encode
    from svcpath.reports.views.diagnosis import document
    from svcpath.reports.views.diagnosis_page import page

    wanted = output.parse(outputs)
    try:
        saved = decode(file.read_bytes())
    except OSError as error:
        raise EvidenceError(f"can't read {file}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"no svcpath report: {error}", path=str(file)) from error
    output.write(wanted, lambda: document(saved, verbose=verbose), lambda: encode(saved), lambda: page(saved))
    return 0
