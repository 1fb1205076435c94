"""svcpath doctor"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Iterator

import click

from svcpath.cli import live
from svcpath.cli.exits import ExitCode
from svcpath.errors import SvcpathError

HELP = """\
svcpath doctor

Say what is missing on this machine, in the kubeconfig's account and in the cluster for a full diagnosis, and what to do
about it.

Exit code: 0 nothing is missing, 1 something is."""

_LIBRARIES = (("aiohttp", "a running cluster can't be asked: pip install 'svcpath[kube]'"),)


def doctor(
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "20s",
) -> int:
    from svcpath.reports.renderers.text import printable

    good = True
    for mark, line in _findings(live.ClusterFlags(context, kubeconfig, impersonate, timeout)):
        good = good and mark == "✔"
        click.echo(printable(f"{mark} {line}"))
    return ExitCode.GOOD if good else ExitCode.BAD


def _findings(flags: live.ClusterFlags) -> Iterator[tuple[str, str]]:
    yield "✔", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for name, cost in _LIBRARIES:
        found = importlib.util.find_spec(name) is not None
        yield ("✔", f"library {name}") if found else ("✖", f"library {name} is not installed: {cost}")
    if importlib.util.find_spec("aiohttp") is not None:
        yield from _cluster(flags)


def _cluster(flags: live.ClusterFlags) -> Iterator[tuple[str, str]]:
    try:
        with live.cluster(flags) as source:
            yield "✔", f"cluster {source.version} (context {source.context or 'in-cluster'})"
            if abs(source.skew) >= 2:
                ahead = "ahead of" if source.skew > 0 else "behind"
                yield (
                    "✖",
                    f"this machine's clock is {abs(source.skew):.0f} s {ahead} the API server's: ages are off by that",
                )
            missing = [
                access
                for access in source.rights(source.namespace)
                if access.allowed is False and access.right.file != "debug"
            ]
            for access in missing:
                where = f" in {access.right.namespace}" if access.right.namespace else ""
                yield (
                    "✖",
                    f"no right to {access.right.words}{where}: {access.right.cost} (deploy/rbac/{access.right.file}.yaml)",
                )
            if not missing:
                yield "✔", "every right that a diagnosis uses (svcpath can-i lists them)"
            agents = source.agents()
            if agents:
                kinds = ", ".join(sorted({agent.kind for agent in agents}))
                yield "✔", f"{len({agent.node for agent in agents})} nodes can be looked at through {kinds}"
            else:
                yield "✖", "no kube-proxy, Cilium or Calico Pod was found: a node's table needs --allow-node-pod"
    except SvcpathError as error:
        yield "✖", f"no cluster: {error}"
