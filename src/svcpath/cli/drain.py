"""svcpath drain watch | run | timeline"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svcpath.cli import output
from svcpath.cli.exits import Exit
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drill.transport import KubectlTransport

app = typer.Typer(
    name="drain",
    help="Record a drain, prove it, show it on one axis.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
timeline_app = typer.Typer(
    name="timeline", help="Show or export a recorded drain.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(timeline_app)

SHOW = """\
svcpath drain timeline show drain.db

Print a recorded drain on one axis: 0 is the moment the API server accepted the first delete.

FILE is what svcpath drain watch wrote, or a folder with recorded watch events (JSON Lines of {"received", "type",
"object"}) and a client's log.

Exit code: 0 nothing was lost, 1 requests or connections were lost, 3 no deletion in the recording."""

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

Recording = Annotated[list[Path], typer.Argument(metavar="FILE...", help="A recording: a file, or a folder.")]


@timeline_app.command("show", help=SHOW)
def show(
    files: Recording,
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Events of the API too.")] = False,
) -> int:
    from svcpath.drill.load import load
    from svcpath.reports.report import encode
    from svcpath.reports.timeline import timeline_report
    from svcpath.reports.views.timeline import document
    from svcpath.reports.views.timeline_page import page

    wanted = output.parse(outputs)
    found, gaps = load(files)
    report = timeline_report(found, gaps)
    output.write(wanted, lambda: document(report, verbose=verbose), lambda: encode(report), lambda: page(report))
    if not report.deletions:
        return Exit.UNDECIDED
    return Exit.BAD if any(one.level == "error" for one in report.findings) else Exit.GOOD


@timeline_app.command("export", help=EXPORT)
def export(
    files: Recording,
    form: Annotated[str, typer.Option("--format", help="jsonl or csv.")] = "jsonl",
    out: Annotated[Path | None, typer.Option("--out", help="A file instead of standard output.")] = None,
) -> int:
    import sys

    from svcpath.drill.load import load
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
        return Exit.GOOD
    try:
        out.write_bytes(content)
    except OSError as error:
        raise EvidenceError(f"can't write {out}: {error.strerror}") from error
    return Exit.GOOD


@app.command("watch", help=WATCH)
def watch(
    target: Annotated[str, typer.Argument(metavar="svc/NAME|deploy/NAME")],
    namespace: Annotated[str, typer.Option("-n", "--namespace", help="Namespace of the target.")] = "default",
    db: Annotated[Path, typer.Option("--db", help="The recording; one that is there is resumed.")] = Path("drain.db"),
    context: Annotated[str, typer.Option("--context", help="Context of the kubeconfig.")] = "",
    kubeconfig: Annotated[str, typer.Option("--kubeconfig", help="Kubeconfig file.")] = "",
    api_url: Annotated[
        str, typer.Option("--api-url", help="Address of a kubectl proxy, instead of a kubeconfig.")
    ] = "",
    duration: Annotated[float, typer.Option("--duration", min=0, help="Seconds (0: until Ctrl-C).")] = 0.0,
    interval: Annotated[
        float, typer.Option("--interval", min=0.05, help="Seconds between two readings of a node's table.")
    ] = 0.2,
    sample_from: Annotated[str, typer.Option("--sample-from", help="pod/NAME in which the sampler runs.")] = "",
    container: Annotated[str, typer.Option("-c", "--container", help="Its container.")] = "",
    sample: Annotated[
        list[str] | None, typer.Option("--sample", help="What to sample: KIND=RATE, http://HOST/PATH; several times.")
    ] = None,
) -> int:
    import signal
    import threading

    from svcpath.cli.rollout import cluster_options
    from svcpath.drill import kube
    from svcpath.drill.transport import HttpTransport, KubectlTransport, Transport
    from svcpath.drill.watch import Sampling, recording
    from svcpath.drill.watch import sample as begin

    kind, slash, name = target.partition("/")
    if (
        not slash
        or not name
        or kind.lower() not in ("svc", "service", "services", "deploy", "deployment", "deployments")
    ):
        raise UsageError(f"target {target!r}: give svc/NAME or deploy/NAME")
    if bool(sample_from) != bool(sample):
        raise UsageError("--sample-from and --sample belong together")
    kubectl = None if api_url else KubectlTransport(cluster_options(context, kubeconfig))
    transport: Transport = HttpTransport(api_url) if api_url else KubectlTransport(cluster_options(context, kubeconfig))
    addresses = kube.frontends(kubectl, namespace, kind, name) if kubectl is not None else frozenset()
    ended = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        with recording(
            db, transport, namespace, kubectl=kubectl, addresses=addresses, interval=interval, say=_say
        ) as under_way:
            under_way.store.set_meta("target", f"{namespace}/{target}")
            if sample and kubectl is not None:
                chosen = Sampling(namespace, sample_from.removeprefix("pod/"), container, tuple(sample))
                under_way.samplers.append(begin(kubectl, under_way.store, chosen, kube.sampler()))
            _say(f"recording {target} into {db}; Ctrl-C ends it")
            try:
                ended.wait(duration or None)
            except KeyboardInterrupt:
                _say("ended")
    finally:
        signal.signal(signal.SIGTERM, before)
    return Exit.GOOD


def _say(text: str) -> None:
    typer.echo(text, err=True)


RUN = """\
svcpath drain run --scenario 2 --lab svcpath

Play a scenario on a lab, once with a workload that passes and once with one that fails for a stated reason: 1 readiness,
2 longest request, 3 grace period, 4 connection pools, 5 headless clients, 7 rollout; `grid` compares the model with 26
measured cells; `all` is every scenario. The drill makes a namespace of its own and removes it.

Exit code: 0 every variant came out as it has to, 1 some did not, 4 cluster unreadable."""


@app.command("run", help=RUN)
def run(
    scenario: Annotated[str, typer.Option("--scenario", help="1 to 5, 7, grid or all.")] = "all",
    lab: Annotated[str, typer.Option("--lab", help="Name of a lab that is up.")] = "svcpath",
    results: Annotated[Path | None, typer.Option("--results", help="A JSON file for the numbers.")] = None,
) -> int:
    import json
    import time

    from svcpath.drill.scenarios import SCENARIOS
    from svcpath.drill.transport import KubectlTransport
    from svcpath.errors import EvidenceError
    from svcpath.lab import home, labs

    provider = labs.provider(home.home(lab))
    made = provider.kubectl()
    options = ["--kubeconfig", str(made.kubeconfig), *(["--context", made.context] if made.context else [])]
    kubectl = KubectlTransport(options, str(made.program))
    image = provider.images["tools"]
    begun = time.monotonic()

    def say(text: str) -> None:
        typer.echo(f"{time.monotonic() - begun:6.1f} s  {text}", err=True)

    if scenario == "grid":
        right, numbers = _grid(kubectl, image, say)
    elif scenario == "all" or (scenario.isdecimal() and int(scenario) in SCENARIOS):
        chosen = sorted(SCENARIOS) if scenario == "all" else [int(scenario)]
        right, numbers = _scenarios(kubectl, image, chosen, say)
    else:
        known = ", ".join(str(number) for number in sorted(SCENARIOS))
        raise UsageError(f"--scenario {scenario!r}: give {known}, grid or all")
    if results is not None:
        try:
            results.write_text(json.dumps(numbers, indent=1) + "\n")
        except OSError as error:
            raise EvidenceError(f"can't write {results}: {error.strerror}") from error
    return Exit.GOOD if right else Exit.BAD


def _grid(kubectl: KubectlTransport, image: str, say: Callable[[str], None]) -> tuple[bool, list[dict[str, Any]]]:
    from svcpath.drill.grid.cells import CELLS
    from svcpath.drill.grid.compare import as_dict, compare
    from svcpath.drill.grid.measure import measure
    from svcpath.reports.document import Document, Note, Table
    from svcpath.reports.renderers.terminal import render

    found = measure(kubectl, CELLS, image, say)
    rows = [compare(cell, found[cell.name], image) for cell in CELLS]
    words = ("refused", "cut", "killed")

    def named(flags: tuple[bool, ...]) -> str:
        return " ".join(word for word, flag in zip(words, flags, strict=True) if flag) or "nothing lost"

    table = tuple(
        (
            row.cell.name,
            f"{row.cell.hook}/{row.cell.grace}/{row.cell.longest:g}/{row.cell.drained:g}",
            row.cell.on_signal,
            named(row.predicted),
            named((row.measured.refused, row.measured.cut, row.measured.killed)),
            f"{row.signal:.1f}",
            "?" if row.measured.signal is None else f"{row.measured.signal:.1f}",
            "agrees" if row.agrees else "DIFFERS",
        )
        for row in rows
    )
    columns = ("cell", "P/G/L/D", "on signal", "model", "measured", "signal", "measured", "")
    agree = sum(row.agrees for row in rows)
    timed = [row.time_agrees for row in rows if row.time_agrees is not None]
    note = Note(
        f"{agree} of {len(rows)} cells agree; the signal came within 1 s of the model in {sum(timed)} of {len(timed)}"
    )
    typer.echo(render(Document("Model against measured", (Table(columns, table, "lllllrrl"), note))))
    return agree == len(rows), [as_dict(row) for row in rows]


def _scenarios(
    kubectl: KubectlTransport, image: str, chosen: list[int], say: Callable[[str], None]
) -> tuple[bool, list[dict[str, Any]]]:
    import dataclasses

    from svcpath.drill import kube
    from svcpath.drill.scenarios import SCENARIOS, VARIANTS
    from svcpath.drill.stage import Stage

    right, numbers, space = True, [], "svcpath-drain"
    with kube.namespace(kubectl, space), kube.api(kubectl) as api:
        kube.apply(kubectl, [kube.scripts_map(space), kube.client_pod(space, image)])
        api.ready_pods(space, "app=drain-client", 1)
        stage = Stage(kubectl, api, space, image, say)
        for number in chosen:
            each = SCENARIOS[number]
            typer.echo(f"{number}. {each.title}\n   {each.does}\n   passes when: {each.passes}")
            for variant in VARIANTS:
                found = each.run(stage, variant)
                kubectl.run("-n", space, "delete", "deployment", "--all", "--wait=false")
                mark = "✔ PASS" if found.passed else "✖ FAIL"
                as_it_should = found.passed == (variant == "pass")
                right = right and as_it_should
                typer.echo(f"   {mark}  ({variant} variant{'' if as_it_should else ', NOT AS IT SHOULD'}) {found.said}")
                numbers.append({**dataclasses.asdict(found), "as_it_should": as_it_should})
    return right, numbers
