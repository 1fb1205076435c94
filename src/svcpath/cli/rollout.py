"""svcpath rollout wait"""

from __future__ import annotations

from typing import Annotated

import click

from svcpath.cli.command import Argument, Group, Option
from svcpath.cli.exits import ExitCode
from svcpath.cli.seconds import seconds
from svcpath.errors import UsageError

app = Group(name="rollout", help="Wait until a rollout is really over.", no_args_is_help=True)

WAIT = """\
svcpath rollout wait deploy/web -n shop

Wait until the new Pods are available and the old ones and their connections are gone, and show how much later that is
than what kubectl rollout status reports.

Exit code: 0 over, 1 not over within --timeout, 3 over but connections could not be observed, 4 cluster unreadable."""


@app.command("wait", help=WAIT)
def wait(
    target: Annotated[str, Argument(metavar="deploy/NAME")],
    namespace: Annotated[str, Option("-n", "--namespace", help="Namespace (default: the context's).")] = "",
    context: Annotated[str, Option("--context", help="Context of the kubeconfig.")] = "",
    kubeconfig: Annotated[str, Option("--kubeconfig", help="Kubeconfig file.")] = "",
    timeout: Annotated[
        float, Option("--timeout", parser=seconds, metavar="TIME", help="Seconds, or 90s, 10m.")
    ] = 600.0,
) -> int:
    from svcpath.drain import rollout
    from svcpath.drain.cluster import ClusterTransport
    from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
    from svcpath.evidence.sources.kube_client import Access

    kind, slash, name = target.partition("/")
    if not slash or KIND_OF.get(kind.lower()) != "Deployment" or not name or "/" in name:
        raise UsageError(f"target {target!r}: give a Deployment as deploy/NAME")
    cluster = ClusterTransport(Access(context=context, kubeconfig=kubeconfig))
    try:
        found = rollout.wait(
            cluster, namespace or cluster.namespace, name, timeout=timeout, say=lambda text: click.echo(text, err=True)
        )
    finally:
        cluster.close()
    if not found.over or found.reported is None or found.pods_gone is None:
        left = f"old Pods left: {', '.join(found.left)}" if found.left else "the new Pods are not available"
        click.echo(f"NOT OVER after {timeout:g} s: {left}")
        return ExitCode.BAD
    later = found.pods_gone - found.reported
    click.echo(
        f"OVER: reported complete at {found.reported:.1f} s, old Pods gone at {found.pods_gone:.1f} s ({later:.1f} s later)"
    )
    if not found.observed:
        click.echo(f"connections to old Pods: not observed ({found.why})")
        return ExitCode.UNDECIDED
    gone = found.connections_gone if found.connections_gone is not None else found.pods_gone
    click.echo(f"connections to old Pods: at most {found.most_connections}, none since {gone:.1f} s")
    return ExitCode.GOOD
