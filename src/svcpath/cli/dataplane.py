"""svcpath dataplane show | trace | drift"""

from __future__ import annotations

import re
from typing import Annotated

from svcpath.cli import live, output
from svcpath.cli.command import Group, Option
from svcpath.cli.exits import ExitCode
from svcpath.errors import UsageError

app = Group(
    name="dataplane",
    help="Read the nodes' tables (iptables, nftables, IPVS, Cilium, Calico) back into Services.",
    no_args_is_help=True,
)

SHOW = """\
svcpath dataplane show --evidence ./incident --node w1

List every frontend of every node's table with the backends a Pod's new connection goes to. Without --evidence the nodes of
the current context's cluster are asked, through the agent Pod that each has."""

TRACE = """\
svcpath dataplane trace --from pod/client -n service-ops --to 10.96.0.10:53/udp --evidence ./incident

Walk one packet through the tables and print each rule it meets with its line. Without --evidence the nodes are asked.

Exit code: 0 it reaches a backend (or is let through), 1 reject, drop or no match, 3 undecided."""

DRIFT = """\
svcpath dataplane drift --evidence ./incident

Compare every node's table with what Services and slices ask of it, both ways. Without --evidence the cluster is asked.

Exit code: 0 no drift, 1 drift, 3 undecided (lines that matter were not understood, or no table), 4 evidence unreadable."""

NodeOption = Annotated[str, Option("--node", help="One node alone.")]
OutputOption = Annotated[
    list[str] | None,
    Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
]


@app.command("show", help=SHOW)
def show(
    evidence: live.Evidence = None,
    node: NodeOption = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    all_nodes: live.AllNodes = False,
    outputs: OutputOption = None,
) -> int:
    from svcpath import api
    from svcpath.reports.report import encode
    from svcpath.reports.views.dataplane import show_document

    wanted = output.parse(outputs)
    with live.looking(
        evidence, live.ClusterFlags(context, kubeconfig, impersonate, timeout, all_nodes=all_nodes)
    ) as source:
        result = api.frontends(source, node=node)
    output.write(wanted, lambda: show_document(result), lambda: encode(result))
    return ExitCode.GOOD if result.nodes else ExitCode.UNDECIDED


@app.command("trace", help=TRACE)
def trace(
    to: Annotated[
        str,
        Option("--to", metavar="ADDRESS:PORT[/PROTOCOL]", help="Where the packet goes, e.g. 10.96.0.10:53/udp."),
    ],
    client: Annotated[str, Option("--from", help="pod/NAME, node/NAME, or an address outside.")] = "",
    namespace: Annotated[str, Option("-n", "--namespace", help="Namespace of the Pod.")] = "",
    evidence: live.Evidence = None,
    node: NodeOption = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    all_nodes: live.AllNodes = False,
    outputs: OutputOption = None,
) -> int:
    from svcpath import api
    from svcpath.reports.report import encode
    from svcpath.reports.views.dataplane import trace_document

    wanted = output.parse(outputs)
    address, port, protocol = destination(to)
    with live.looking(
        evidence, live.ClusterFlags(context, kubeconfig, impersonate, timeout, all_nodes=all_nodes)
    ) as source:
        whose = live.sender(source, client, namespace)
        results = api.trace(source, address, port, protocol, client=whose, namespace=namespace, node=node)
    output.write(wanted, lambda: trace_document(results), lambda: b"".join(encode(result) for result in results))
    if any(result.undecided for result in results):
        return ExitCode.UNDECIDED
    return ExitCode.GOOD if all(result.outcome in ("backends", "accept") for result in results) else ExitCode.BAD


@app.command("drift", help=DRIFT)
def drift(
    evidence: live.Evidence = None,
    node: NodeOption = "",
    namespace: Annotated[str, Option("-n", "--namespace", help="Services of this namespace alone.")] = "",
    service: Annotated[str, Option("--service", help="One Service alone.")] = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    all_nodes: live.AllNodes = False,
    outputs: OutputOption = None,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Every row.")] = False,
) -> int:
    from svcpath import api
    from svcpath.reports.report import encode
    from svcpath.reports.views.dataplane import drift_document
    from svcpath.reports.views.drift_page import page

    wanted = output.parse(outputs)
    with live.looking(
        evidence, live.ClusterFlags(context, kubeconfig, impersonate, timeout, all_nodes=all_nodes)
    ) as source:
        result = api.drift(source, node=node, namespace=namespace, service=service)
    output.write(wanted, lambda: drift_document(result, verbose=verbose), lambda: encode(result), lambda: page(result))
    if result.rows:
        return ExitCode.BAD
    return ExitCode.UNDECIDED if result.undecided or not result.nodes else ExitCode.GOOD


def destination(text: str) -> tuple[str, int, str]:
    """Read "10.96.0.10:53/udp" or "[fd00::a]:80"; the protocol is TCP unless given."""
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):(\d{1,5})(?:/(tcp|udp|sctp))?", text, re.IGNORECASE)
    if match is None or not 0 < int(match[3]) < 65536:
        raise UsageError(
            f"--to {text!r}: give ADDRESS:PORT[/PROTOCOL], IPv6 in brackets: 10.96.0.10:53/udp, [fd00::a]:80"
        )
    return match[1] or match[2], int(match[3]), (match[4] or "tcp").upper()
