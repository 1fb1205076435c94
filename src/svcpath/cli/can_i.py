"""svcpath can-i"""

from __future__ import annotations

from typing import Annotated

import click

from svcpath.cli import live
from svcpath.cli.command import Option
from svcpath.cli.exits import ExitCode

HELP = """\
svcpath can-i -n service-ops --from pod/client

Say which of the rights that a diagnosis uses the current account has, and what each missing permission costs. The API server answers
(SelfSubjectAccessReview); nothing is tried. deploy/rbac/ has the roles.

Exit code: 0 everything for a full diagnosis, 1 something is missing, 3 the API server did not say."""


def can_i(
    namespace: Annotated[str, Option("-n", "--namespace", help="Namespace of the Service.")] = "",
    client: Annotated[str, Option("--from", help="The client: pod/NAME or pod/NAMESPACE/NAME.")] = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "30s",
) -> int:
    from svcpath.evidence.facts.request import Request
    from svcpath.reports.renderers.text import printable

    asked = Request.of(namespace=namespace, client=client)
    with live.cluster(live.ClusterFlags(context, kubeconfig, impersonate, timeout)) as source:
        home = namespace or source.namespace
        answers = source.rights(home, asked.client.rpartition("/")[0] or home)
    width = max(len(answer.right.words) for answer in answers)
    missing = unknown = 0
    for answer in answers:
        if answer.allowed is None:
            mark, rest = "?", answer.why
            unknown += 1
        elif answer.allowed:
            mark, rest = "✔", ""
        else:
            mark, rest = "✖", f"{answer.right.cost}  (deploy/rbac/{answer.right.file}.yaml)"
            missing += answer.right.file != "debug"
        where = f"in {answer.right.namespace}" if answer.right.namespace else "in the cluster"
        click.echo(printable(f"{mark} {answer.right.words:{width}}  {where:20}  {rest}".rstrip()))
    if missing:
        return ExitCode.BAD
    return ExitCode.UNDECIDED if unknown else ExitCode.GOOD
