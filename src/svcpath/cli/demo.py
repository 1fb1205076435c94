"""svcpath demo"""

from __future__ import annotations

import click

from svcpath.cli.exits import ExitCode

HELP = """\
svcpath demo

Diagnose the recordings that ship with svcpath: a real Kubernetes 1.35 with a healthy Service, one whose selector
matches nothing and one whose target port has no listener, once with kube-proxy in iptables mode, once in nftables
mode."""

#: Service -> verdict and layer that the recording must give.
EXPECTED = {
    "echo-server": ("healthy", None),
    "empty-service": ("fault", "endpoints"),
    "wrong-port": ("fault", "ports"),
}


def demo() -> int:
    from svcpath import api
    from svcpath.evidence.sources.recordings import recording
    from svcpath.reports.renderers.terminal import render
    from svcpath.reports.views.diagnosis import document

    right = True
    for mode in ("iptables", "nftables"):
        source = recording(mode)
        for service, expected in EXPECTED.items():
            result = api.diagnose(source, f"svc/{service}", namespace="service-ops", client="pod/client")
            click.echo(
                f"=== kube-proxy in {mode} mode: svcpath diagnose svc/{service} -n service-ops --from pod/client\n"
            )
            click.echo(render(document(result)))
            right = right and (result.verdict.status, result.verdict.layer) == expected
    if not right:
        click.echo("the demo did not give the verdicts that its recordings have: please report this", err=True)
        return ExitCode.INTERNAL
    return ExitCode.GOOD
