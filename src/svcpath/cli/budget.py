"""svcpath budget"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import click

from svcpath.cli import output
from svcpath.cli.command import Argument, Option
from svcpath.cli.exits import ExitCode
from svcpath.cli.seconds import seconds
from svcpath.errors import UsageError

HELP = """\
svcpath budget deployment.yaml service.yaml --longest-request 6

Compute whether a drain fits the grace period: load balancer removal + propagation + longest request + shutdown after the
signal, with preStop inside.

PATH is any manifest, plain or rendered (helm template, kustomize build), a load balancer's health settings beside it, and
a recording of a drain, whose measured times are then used. What is not known stays a range, and the output says up to
which value the drain still holds.

Exit code: 0 no drain fails for certain, 1 some margin negative with every unknown at 0, 2 usage, 3 no workload, or with
--strict while an unknown has no upper bound, 4 evidence unreadable."""


def budget(
    paths: Annotated[
        list[Path],
        Argument(
            metavar="PATH...|KIND/NAME",
            help="Manifests and evidence: files or folders, - for standard input; or deploy/NAME of a cluster.",
        ),
    ],
    namespace: Annotated[str, Option("-n", "--namespace", help="Workloads of this namespace alone.")] = "",
    workload: Annotated[str, Option("--workload", help="One workload alone, by name or KIND/NAME.")] = "",
    longest: Annotated[
        float | None,
        Option(
            "--longest-request", parser=seconds, metavar="TIME", help="The longest request: seconds, or 500ms, 1m30s."
        ),
    ] = None,
    removal: Annotated[
        float | None,
        Option(
            "--lb-removal",
            parser=seconds,
            metavar="TIME",
            help="Time until load balancers stop sending new connections.",
        ),
    ] = None,
    propagation: Annotated[
        float | None,
        Option(
            "--propagation", parser=seconds, metavar="TIME", help="Time until the last node's data plane has changed."
        ),
    ] = None,
    shutdown: Annotated[
        float | None,
        Option("--shutdown", parser=seconds, metavar="TIME", help="Time the idle application needs to end."),
    ] = None,
    on_signal: Annotated[
        str, Option("--on-signal", help="What the application does on its signal: exit, finish or ignore.")
    ] = "",
    path: Annotated[
        list[str] | None, Option("--path", help="A container that traffic goes through; several times.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    context: Annotated[str, Option("--context", help="Context of the kubeconfig, for KIND/NAME.")] = "",
    kubeconfig: Annotated[str, Option("--kubeconfig", help="Kubeconfig file, for KIND/NAME.")] = "",
    strict: Annotated[bool, Option("--strict", help="Exit 3 while an unknown has no upper bound.")] = False,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Workloads without traffic too.")] = False,
) -> int:
    from svcpath import api
    from svcpath.drain.load import is_database, load
    from svcpath.evidence.sources.manifests import ManifestBytes, ManifestSource
    from svcpath.reports.report import encode
    from svcpath.reports.timeline import measured
    from svcpath.reports.views.budget import document
    from svcpath.reports.views.budget_page import page

    wanted = output.parse(outputs)
    if on_signal not in ("", "exit", "finish", "ignore"):
        raise UsageError(f"--on-signal {on_signal!r}: give exit, finish or ignore")
    targets = [path for path in paths if _is_target(path)]
    databases = [path for path in paths if is_database(path)]
    recorded = None
    for database in databases:
        found = measured(load([database])[0])
        recorded = found if recorded is None else recorded.filled(found)
    if targets and (len(targets) > 1 or len(paths) > 1 + len(databases)):
        raise UsageError("give files, or one workload of the cluster as KIND/NAME, not both")
    source: ManifestSource | ManifestBytes
    unlisted: tuple[str, ...] = ()
    if targets:
        from svcpath.drain.around import around
        from svcpath.drain.cluster import ClusterTransport
        from svcpath.evidence.sources.kube_client import Access

        kind, name = targets[0].parts
        with contextlib.closing(ClusterTransport(Access(context=context, kubeconfig=kubeconfig))) as cluster:
            found_there = around(cluster, namespace or cluster.namespace, kind, name)
        source = ManifestBytes({f"{kind}/{name}.json": found_there.manifests})
        workload = workload or name
        unlisted = found_there.unlisted_fronts
        if denied := (*unlisted, *found_there.unlisted_beside):
            click.echo(f"this account may not list {', '.join(denied)}: what they hold is not judged", err=True)
    else:
        files = [path for path in paths if path not in databases]
        if Path("-") in files and len(files) > 1:
            raise UsageError("give files, or - for standard input, not both")
        source = ManifestBytes({"stdin": sys.stdin.buffer.read()}) if files == [Path("-")] else api.manifests(*files)
    result = api.budget(
        source,
        recorded=recorded,
        workload=workload,
        namespace=namespace,
        longest_request=longest,
        lb_removal=removal,
        propagation=propagation,
        shutdown=shutdown,
        on_signal=on_signal,
        path=path or (),
        unlisted=unlisted,
    )
    unknown = set(path or ()) - {container.name for workload in result.workloads for container in workload.containers}
    if unknown and result.workloads:
        raise UsageError(f"--path {min(unknown)}: no workload has a container of that name")
    output.write(wanted, lambda: document(result, verbose=verbose), lambda: encode(result), lambda: page(result))
    if not result.workloads:
        return ExitCode.UNREADABLE if result.not_read else ExitCode.UNDECIDED
    if any(workload.outcome == "does-not-hold" for workload in result.workloads):
        return ExitCode.BAD
    if strict and not all(workload.bounded for workload in result.workloads if workload.serves):
        return ExitCode.UNDECIDED
    return ExitCode.GOOD


def _is_target(path: Path) -> bool:
    """deploy/NAME, and no file or folder of that name."""
    from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF

    return len(path.parts) == 2 and path.parts[0].lower() in KIND_OF and not path.exists()
