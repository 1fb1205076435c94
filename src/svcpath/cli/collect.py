"""svcpath collect"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import msgspec

from svcpath.cli import live
from svcpath.cli.command import Option
from svcpath.cli.exits import ExitCode
from svcpath.diagnosis import diagnose
from svcpath.errors import UsageError
from svcpath.evidence.facts.request import Request

HELP = """\
svcpath collect svc/echo-server -n service-ops --from pod/client -o incident.tar.zst

Save all that a diagnosis of this Service looks at to one bundle, for svcpath diagnose --evidence incident.tar.zst.

A bundle holds no Secret data, tokens, environment values, kubeconfig or arguments of processes. Names and addresses stay
readable unless --pseudonyms is given; then the same name always gets the same pseudonym."""


def collect(
    target: live.Target = "",
    output: Annotated[Path, Option("-o", "--output", metavar="FILE", help="The bundle to write.")] = Path(
        "svcpath-bundle.tar.zst"
    ),
    namespace: live.Namespace = "",
    port: Annotated[str, Option("--port", help="One port of the Service (default: all).")] = "",
    client: live.Client = "",
    container: Annotated[str, Option("-c", "--container", help="Container of the client Pod.")] = "",
    lookup: Annotated[str, Option("--lookup", help="The name as the application writes it.")] = "",
    context: live.Context = "",
    kubeconfig: live.Kubeconfig = "",
    impersonate: live.AsUser = "",
    timeout: live.Timeout = "60s",
    no_exec: live.NoExec = False,
    all_nodes: live.AllNodes = False,
    max_probes: live.MaxProbes = 200,
    pseudonyms: Annotated[
        bool, Option("--pseudonyms", help="Replace names and addresses, each always by the same pseudonym.")
    ] = False,
) -> int:
    from importlib.metadata import version

    from svcpath.evidence.formats.bundles import Manifest, of_log
    from svcpath.evidence.sources import bundle as bundles
    from svcpath.evidence.sources.recording import RecordingSource

    if output.is_dir():
        raise UsageError(f"{output} is a folder: name the file, e.g. {output / 'incident.tar.zst'}")
    asked = Request.of(
        target,
        namespace=namespace,
        port=port,
        client=client,
        container=container,
        lookup=lookup,
        all_nodes=all_nodes,
    )
    flags = live.ClusterFlags(context, kubeconfig, impersonate, timeout, no_exec, all_nodes, max_probes)
    with live.cluster(flags) as source:
        asked = source.settled(asked)
        recorder = RecordingSource(source)
        result = diagnose(recorder, asked, progress=live.progress)
        if not no_exec:
            # Once more with every probe: what was answered is answered from the log, only probes are new.
            diagnose(recorder, msgspec.structs.replace(asked, thorough=True))
        manifest = Manifest(
            svcpath=version("svcpath"),
            kubernetes=source.version,
            created=source.at,
            skew=round(source.skew, 1),
            request=asked.words,
            execs=tuple(f"{execution.pod} {execution.container}: {execution.what}" for execution in source.execs),
        )
        done = live.audit(source)
    bundle = of_log(recorder.log, manifest)
    if pseudonyms:
        from svcpath.evidence.formats.pseudonyms import disguised

        bundle = disguised(bundle)
    bundles.write(output, bundle)
    size = output.stat().st_size
    click.echo(f"{output}: {len(bundle.observations)} observations, {size / 1024:.0f} KiB, {result.verdict.status}")
    click.echo(done)
    click.echo(f"Next: svcpath diagnose --evidence {output}")
    return ExitCode.GOOD
