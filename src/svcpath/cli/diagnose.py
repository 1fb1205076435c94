"""svcpath diagnose"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svcpath import api
from svcpath.cli import output
from svcpath.cli.exits import of_verdict
from svcpath.errors import UsageError

HELP = """\
svcpath diagnose svc/wrong-port -n service-ops --from pod/client --evidence ./incident

Say at which layer a Service fails, why, and what would prove that wrong.

Evidence is whatever you have: files and folders, each recognised by its content (objects in YAML or JSON, resolv.conf,
iptables-save, nft list, conntrack -L, /proc/net/tcp, logs, recorded connections, ...; .gz too). With one Service in the
evidence it need not be named.

Exit code: 0 healthy or warning, 1 fault (with --strict also warning), 2 usage, 3 undecided, 4 evidence unreadable."""


def diagnose(
    target: Annotated[str, typer.Argument(metavar="[TARGET]", help="svc/NAME, NAME or NAME.NAMESPACE")] = "",
    namespace: Annotated[str, typer.Option("-n", "--namespace", help="Namespace of the Service.")] = "",
    port: Annotated[
        str, typer.Option("--port", help="One port of the Service, by number or name (default: all).")
    ] = "",
    client: Annotated[str, typer.Option("--from", help="Where the connection comes from: pod/NAME or node/NAME.")] = "",
    container: Annotated[str, typer.Option("-c", "--container", help="Container of the client Pod.")] = "",
    as_name: Annotated[str, typer.Option("--as", help="The name as the application writes it.")] = "",
    resolver: Annotated[
        str, typer.Option("--resolver", help="The client's resolver (musl, glibc, go, ...), or all.")
    ] = "",
    symptom: Annotated[
        str, typer.Option("--symptom", help="The error text that was seen; it ranks, it never decides.")
    ] = "",
    evidence: Annotated[
        list[Path] | None, typer.Option("--evidence", help="A file or folder of evidence; may be given several times.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="The verdict alone, on one line.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Every finding with its evidence.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="A warning exits with 1 too.")] = False,
) -> int:
    from svcpath.evidence.sources.files import FilesSource
    from svcpath.reports.renderers.text import printable
    from svcpath.reports.report import encode
    from svcpath.reports.views.diagnosis import document
    from svcpath.reports.views.diagnosis_page import page

    wanted = output.parse(outputs)
    if not evidence:
        raise UsageError("no evidence: give files or folders with --evidence PATH")
    result = api.diagnose(
        FilesSource(evidence),
        target,
        namespace=namespace,
        port=port,
        client=client,
        container=container,
        as_name=as_name,
        resolver=resolver,
        symptom=symptom,
    )
    if quiet and not outputs:
        code = f"  {result.verdict.code}" if result.verdict.code else ""
        where = f" at {result.verdict.layer}" if result.verdict.layer else ""
        typer.echo(f"{result.verdict.status.upper()}{where}: {printable(result.verdict.summary)}{code}")
    else:
        output.write(wanted, lambda: document(result, verbose=verbose), lambda: encode(result), lambda: page(result))
    return of_verdict(result.verdict.status, strict=strict)
