"""svcpath drain watch | timeline"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from svcpath.cli import drain_run, output
from svcpath.cli.command import Argument, Group, Option
from svcpath.cli.exits import ExitCode
from svcpath.cli.seconds import at_least, seconds
from svcpath.errors import UsageError

app = Group(
    name="drain",
    help="Record a drain, prove it, show it on one axis.",
    no_args_is_help=True,
)
timeline_app = Group(name="timeline", help="Show or export a recorded drain.", no_args_is_help=True)
app.add_command(timeline_app)
app.command("run", help=drain_run.HELP)(drain_run.run)

SHOW = """\
svcpath drain timeline show drain.db

Print a recorded drain on one axis: 0 is the moment the API server accepted the first delete.

FILE is what svcpath drain watch wrote, or a folder with recorded watch events (JSON Lines of {"received", "type",
"object"}) and a client's log.

Exit code: 0 nothing was lost, 1 requests or connections were lost, 3 no deletion in the recording, or it ends before a Pod has
ended, 4 no recording."""

EXPORT = """\
svcpath drain timeline export drain.db --format csv > drain.csv

Write every moment and every connection as JSON Lines or CSV."""

WATCH = """\
svcpath drain watch deploy/web -n shop --db drain.db

Record every change of Pods, slices, Deployments, ReplicaSets and events of the namespace, and when each node's table
changed, while you roll out. End it with Ctrl-C; the file can be shown, exported, and resumed.

With --sample-from pod/client --sample new=50 --sample http://web/ a sampler runs in that Pod (any container with Python)
and its connections are kept on the same axis.

Exit code: 0 recorded, 4 cluster unreadable."""

Recording = Annotated[list[Path], Argument(metavar="FILE...", help="A recording: a file, or a folder.")]


@timeline_app.command("show", help=SHOW)
def show(
    files: Recording,
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, Option("-v", "--verbose", help="Events of the API too.")] = False,
) -> int:
    from svcpath.drain.load import load
    from svcpath.reports.report import encode
    from svcpath.reports.timeline import timeline_report
    from svcpath.reports.views.timeline import document, unfinished
    from svcpath.reports.views.timeline_page import page

    wanted = output.parse(outputs)
    found, gaps = load(files)
    report = timeline_report(found, gaps)
    output.write(wanted, lambda: document(report, verbose=verbose), lambda: encode(report), lambda: page(report))
    if not report.deletions:
        return ExitCode.UNDECIDED
    if any(finding.level == "error" for finding in report.findings):
        return ExitCode.BAD
    return ExitCode.UNDECIDED if unfinished(report) else ExitCode.GOOD


@timeline_app.command("export", help=EXPORT)
def export(
    files: Recording,
    form: Annotated[str, Option("--format", help="jsonl or csv.")] = "jsonl",
    out: Annotated[Path | None, Option("--out", help="A file instead of standard output.")] = None,
) -> int:
    import sys

    from svcpath.drain.load import load
    from svcpath.errors import EvidenceError
    from svcpath.reports.timeline import comma_separated, json_lines, timeline_report

    if form not in ("jsonl", "csv"):
        raise UsageError(f"--format {form!r}: give jsonl or csv")
    found, gaps = load(files)
    report = timeline_report(found, gaps)
    content = json_lines(report, found) if form == "jsonl" else comma_separated(report, found)
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return ExitCode.GOOD
    try:
        out.write_bytes(content)
    except OSError as error:
        raise EvidenceError(f"can't write {out}: {error.strerror}") from error
    return ExitCode.GOOD


@app.command("watch", help=WATCH)
def watch(
    target: Annotated[str, Argument(metavar="svc/NAME|deploy/NAME")],
    namespace: Annotated[str, Option("-n", "--namespace", help="Namespace (default: the context's).")] = "",
    db: Annotated[Path, Option("--db", help="The recording; one that is there is resumed.")] = Path("drain.db"),
    context: Annotated[str, Option("--context", help="Context of the kubeconfig.")] = "",
    kubeconfig: Annotated[str, Option("--kubeconfig", help="Kubeconfig file.")] = "",
    api_url: Annotated[str, Option("--api-url", help="Address of a kubectl proxy, instead of a kubeconfig.")] = "",
    duration: Annotated[
        float,
        Option("--duration", parser=seconds, metavar="TIME", help="Seconds, or 90s, 10m (0: until Ctrl-C)."),
    ] = 0.0,
    interval: Annotated[
        float,
        Option(
            "--interval", parser=at_least(0.05), metavar="TIME", help="Time between two readings of a node's table."
        ),
    ] = 0.2,
    sample_from: Annotated[str, Option("--sample-from", help="pod/NAME in which the sampler runs.")] = "",
    container: Annotated[str, Option("-c", "--container", help="Its container.")] = "",
    sample: Annotated[
        list[str] | None, Option("--sample", help="What to sample: KIND=RATE, http://HOST/PATH; several times.")
    ] = None,
) -> int:
    import contextlib
    import signal
    import threading

    from svcpath.cli.drain_recording import check_sampling, target_recording
    from svcpath.drain.cluster import ClusterTransport
    from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
    from svcpath.evidence.sources.kube_client import Access

    kind, slash, name = target.partition("/")
    known = kind.lower() in ("svc", "service", "services") or KIND_OF.get(kind.lower()) == "Deployment"
    if not slash or not name or not known:
        raise UsageError(f"target {target!r}: give svc/NAME or deploy/NAME")
    check_sampling(sample_from, sample or (), api_url)
    cluster = ClusterTransport(Access(context=context, kubeconfig=kubeconfig, api_url=api_url))
    namespace = namespace or cluster.namespace
    ended = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        with (
            contextlib.closing(cluster),
            target_recording(
                cluster,
                db,
                namespace,
                target,
                commands=not api_url,
                interval=interval,
                sample_from=sample_from,
                container=container,
                sample=sample or (),
                say=_say,
            ),
        ):
            _say(f"recording {target} into {db}; Ctrl-C ends it")
            try:
                ended.wait(duration or None)
            except KeyboardInterrupt:
                _say("ended")
    finally:
        signal.signal(signal.SIGTERM, before)
    return ExitCode.GOOD


def _say(text: str) -> None:
    click.echo(text, err=True)
