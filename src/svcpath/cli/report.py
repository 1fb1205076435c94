"""svcpath report"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from svcpath.cli import output
from svcpath.cli.command import Argument, Option
from svcpath.errors import EvidenceError

HELP = """\
svcpath report report.json -o html=incident.html -o markdown=incident.md

Turn a saved JSON result (diagnose, resolve, dataplane drift, ...) into other forms."""


def report(
    file: Annotated[Path, Argument(metavar="FILE.json", help="A result written by -o json.")],
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Every finding with its evidence.")] = False,
) -> int:
    from svcpath.reports.contracts import read
    from svcpath.reports.report import encode

    wanted = output.parse(outputs)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise EvidenceError(f"can't read {file}: {error.strerror}") from error
    contract, saved = read(raw, str(file))
    output.write(wanted, lambda: contract.short(saved, verbose), lambda: encode(saved), lambda: contract.long(saved))
    return 0
