"""svcpath resolve"""

from __future__ import annotations

import gzip
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from svcpath.cli import live, output
from svcpath.cli.command import Argument, Option
from svcpath.cli.exits import ExitCode
from svcpath.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from svcpath.reports.resolve import ResolveReport

HELP = """\
svcpath resolve echo-server.service-ops.svc.cluster.local --resolver all --evidence ./incident

Show what an application's own resolver makes of a name: each query in order, its answer, the rule that led on, and the
error the application sees. With --resolver all, who resolves it and who does not, where they diverge, and what would fix
it. Answers come from the evidence (recorded answers, Corefile and objects) or from a live server (--server). Without
either the cluster of the current context is asked: the Pod's files (--from), the Corefile and the objects.

Exit code: 0 resolves, 1 fails (with several: one that searches fails), 2 usage, 3 undecided, 4 evidence unreadable."""


def resolve(
    names: Annotated[
        list[str] | None, Argument(metavar="NAME...", help="Names as the application writes them.")
    ] = None,
    resolver: Annotated[
        str, Option("--resolver", help="musl, glibc, go, jvm, c-ares, node-resolve4, ... or all.")
    ] = "",
    evidence: live.Evidence = None,
    answers: Annotated[
        Path | None,
        Option("--answers", help="Recorded answers: a header line names the columns (name type rcode answer)."),
    ] = None,
    server: Annotated[str, Option("--server", help="Ask this DNS server (IP or IP:PORT) instead.")] = "",
    client: Annotated[str, Option("--from", help="Whose resolv.conf: pod/NAME.")] = "",
    container: live.Container = "",
    namespace: Annotated[str, Option("-n", "--namespace", help="Namespace of that Pod.")] = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    no_exec: live.NoExec = False,
    replay: Annotated[
        Path | None, Option("--replay", help="Replay recorded runs of real resolvers (.jsonl, .gz too).")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Every resolver's queries.")] = False,
) -> int:
    from svcpath import api
    from svcpath.evidence.sources.memory import BytesSource
    from svcpath.reports.report import encode
    from svcpath.reports.views.resolution import document
    from svcpath.reports.views.resolution_page import page

    wanted = output.parse(outputs)
    if replay is not None:
        return _replay(replay, wanted)
    if not names:
        raise UsageError("name what to resolve: svcpath resolve NAME --from pod/CLIENT, or with --evidence PATH")
    paths = [*(evidence or []), *([answers] if answers else [])]
    flags = live.ClusterFlags(context, kubeconfig, impersonate, timeout, no_exec)
    with nullcontext(BytesSource({})) if server and not paths and not client else live.looking(paths, flags) as source:
        whose = live.sender(source, client, namespace)
        result = api.resolve(
            source, names, resolver=resolver, client=whose, container=container, namespace=namespace, server=server
        )
    output.write(wanted, lambda: document(result, verbose=verbose), lambda: encode(result), lambda: page(result))
    return _exit(result)


#: Resolvers that never search: for a short name they fail by design, so beside others they decide nothing.
NEVER_SEARCH = ("node-resolve4", "nginx", "dnspython")


def _exit(result: ResolveReport) -> ExitCode:
    """Undecided if something is open, bad if a resolver fails that was asked for or that searches."""
    code = ExitCode.GOOD
    for name in result.names:
        for resolver in name.resolvers:
            if len(name.resolvers) > 1 and resolver.resolver in NEVER_SEARCH:
                continue
            if resolver.outcome is None:
                code = ExitCode.UNDECIDED if code is ExitCode.GOOD else code
            elif not resolver.outcome.resolves:
                return ExitCode.BAD
    return code


def _replay(path: Path, wanted: tuple[output.Output, ...]) -> int:
    from svcpath.replay import read_rows, replay
    from svcpath.reports.report import encode
    from svcpath.reports.views.replay import document, report

    summary = replay(read_rows(_lines(path), str(path)))
    result = report(summary)
    output.write(wanted, lambda: document(result), lambda: encode(result))
    return ExitCode.BAD if result.mismatches else ExitCode.GOOD


def _lines(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except OSError as error:
        raise EvidenceError(f"can't read {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise EvidenceError(f"{path}: the gzip stream is cut; record it again") from error
    return raw.decode("utf-8", "surrogateescape").splitlines()
