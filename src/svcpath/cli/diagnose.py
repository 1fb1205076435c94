"""svcpath diagnose"""

from __future__ import annotations

import sys
from typing import Annotated

import click

from svcpath.cli import live, output
from svcpath.cli.command import Option
from svcpath.cli.exits import of_verdict
from svcpath.diagnosis import diagnose as diagnosed
from svcpath.evidence.facts.request import Request

HELP = """\
svcpath diagnose svc/wrong-port -n service-ops --from pod/client --evidence ./incident

Say at which layer a Service fails, why, and what would prove that wrong.

Without --evidence the cluster of the current context is asked: objects, the client's container, its node, and where that
does not decide, connections. Only reads; with --no-exec nothing runs in any container.

Evidence is whatever you have: a bundle of svcpath collect, files and folders, each recognised by its content (objects in YAML or JSON, resolv.conf,
iptables-save, nft list, conntrack -L, /proc/net/tcp, logs, recorded connections, ...; .gz too). With one Service in the
evidence it need not be named.

Exit code: 0 healthy or warning, 1 fault (with --strict also warning), 2 usage, 3 undecided, 4 evidence unreadable."""


def diagnose(
    target: live.Target = "",
    namespace: live.Namespace = "",
    port: Annotated[str, Option("--port", help="One port of the Service, by number or name (default: all).")] = "",
    client: live.Client = "",
    container: Annotated[str, Option("-c", "--container", help="Container of the client Pod.")] = "",
    lookup: Annotated[str, Option("--lookup", help="The name as the application writes it.")] = "",
    resolver: Annotated[str, Option("--resolver", help="The client's resolver (musl, glibc, go, ...), or all.")] = "",
    symptom: Annotated[str, Option("--symptom", help="The error text that was seen; it ranks, it never decides.")] = "",
    evidence: live.Evidence = None,
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    no_exec: live.NoExec = False,
    all_nodes: live.AllNodes = False,
    thorough: live.Thorough = False,
    max_probes: live.MaxProbes = 200,
    each_node: live.EachNode = False,
    until_fault: live.UntilFault = "",
    allow_node_pod: live.AllowNodePod = False,
    node_image: live.NodeImage = "",
    allow_debug_container: live.AllowDebug = False,
    debug_image: live.DebugImage = "",
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    quiet: Annotated[bool, Option("-q", "--quiet", help="The verdict alone, on one line.")] = False,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Every finding with its evidence.")] = False,
    strict: Annotated[bool, Option("--strict", help="A warning exits with 1 too.")] = False,
) -> int:
    wanted = output.parse(outputs)
    asked = Request.of(
        target,
        namespace=namespace,
        port=port,
        client=client,
        container=container,
        lookup=lookup,
        resolver=resolver,
        symptom=symptom,
        thorough=thorough,
        all_nodes=all_nodes,
        each_node=each_node,
    )
    done = ""
    if evidence:
        result = diagnosed(live.recorded(evidence), asked)
    else:
        flags = live.ClusterFlags(
            context=context,
            kubeconfig=kubeconfig,
            impersonate=impersonate,
            timeout=timeout,
            no_exec=no_exec,
            all_nodes=all_nodes,
            max_probes=max_probes,
            allow_node_pod=allow_node_pod,
            node_image=node_image,
            allow_debug_container=allow_debug_container,
            debug_image=debug_image,
            extra=live.seconds(until_fault) if until_fault else 0.0,
        )
        with live.cluster(flags) as cluster:
            source = live.until_fault(cluster, flags.extra) if until_fault else cluster
            result = diagnosed(source, asked, progress=live.progress)
            done = live.audit(cluster)
    if quiet and not outputs:
        from svcpath.reports.renderers.text import printable

        code = f"  {result.verdict.code}" if result.verdict.code else ""
        where = f" at {result.verdict.layer}" if result.verdict.layer else ""
        click.echo(f"{result.verdict.status.upper()}{where}: {printable(result.verdict.summary)}{code}")
    else:
        from svcpath.reports.report import encode
        from svcpath.reports.views.diagnosis import document
        from svcpath.reports.views.diagnosis_page import page

        output.write(wanted, lambda: document(result, verbose=verbose), lambda: encode(result), lambda: page(result))
    if done and (sys.stderr.isatty() or "added to the cluster" in done) and not quiet:
        click.echo(done, err=True)
    return of_verdict(result.verdict.status, strict=strict)
