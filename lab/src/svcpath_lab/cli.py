"""``svcpath lab``: a Kubernetes to practise on, the reference experiment, faults and their score."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click

from svcpath.cli import output
from svcpath.cli.command import Argument, Group, Option
from svcpath.cli.progress import progress
from svcpath.errors import UsageError
from svcpath.reports.report import encode
from svcpath.reports.views import score as score_view
from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab import record as recording
from svcpath_lab.command import become
from svcpath_lab.experiment import play, statements
from svcpath_lab.experiment.manifests import NAMESPACE, RunVariant
from svcpath_lab.faults import make
from svcpath_lab.faults.fault import named, shipped
from svcpath_lab.faults.own import in_folder
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.home import DEFAULT_NAME, LabSpec
from svcpath_lab.images import recipes
from svcpath_lab.machine import machine_facts
from svcpath_lab.netns.layout import PROXY_MODES
from svcpath_lab.score import ask
from svcpath_lab.score.row import FaultScore, results, totals
from svcpath_lab.score.run import Run


def lab_commands() -> None:
    """A TERM ends like Ctrl-C, so that what was done is undone on the way out."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


app = Group(
    name="lab",
    callback=lab_commands,
    no_args_is_help=True,
    help="A Kubernetes to practise on and to break on purpose.\n\nExample: svcpath lab up; svcpath lab run reference; svcpath lab down",
)

LabName = Annotated[str, Option("--lab", help="Name of the lab; several can run side by side.")]


@app.command()
def up(
    lab: LabName = DEFAULT_NAME,
    provider: Annotated[
        str, Option(help="netns (root, Linux), kind (docker or podman) or context (an existing cluster).")
    ] = "netns",
    proxy_mode: Annotated[str, Option(help="kube-proxy's mode: iptables or nftables.")] = "iptables",
    nodes: Annotated[int, Option(help="Number of nodes, the first is the control plane.")] = 3,
    ip_family: Annotated[str, Option(help="ipv4, ipv6 or dual.")] = "ipv4",
    kubernetes: Annotated[str, Option(help="Kubernetes minor release, e.g. 1.35.")] = "",
    bin_dir: Annotated[str, Option(help="Folder with Kubernetes programs to use first.")] = "",
    context: Annotated[str, Option(help="Context of your kubeconfig, for --provider context.")] = "",
    kubeconfig: Annotated[str, Option(help="Kubeconfig file, for --provider context.")] = "",
) -> None:
    """Bring a lab up, or continue one that was cut off.

    Example: svcpath lab up --proxy-mode nftables
    """
    place = homes.home(lab)
    spec = LabSpec(
        provider=provider,
        proxy_mode=proxy_mode,
        nodes=nodes,
        ip_family=ip_family,
        release=kubernetes,
        bin_dir=str(Path(bin_dir).resolve()) if bin_dir else "",
        context=context,
        kubeconfig=str(Path(kubeconfig).resolve()) if kubeconfig else "",
    )
    found = labs.bring_up(place, spec, progress())
    named = "" if lab == DEFAULT_NAME else f" --lab {lab}"
    click.echo(f"lab {lab} is up ({provider}, {proxy_mode}). Next:")
    click.echo(f"  export KUBECONFIG={found.kubeconfig()}")
    click.echo(f"  svcpath lab run reference{named}")


@app.command()
def packages() -> None:
    """Print the Debian packages that a netns lab needs on this machine.

    Example: apt-get install $(svcpath lab packages)
    """
    click.echo(" ".join(recipes.packages()["machine"]))


@app.command()
def down(lab: LabName = DEFAULT_NAME) -> None:
    """Remove a lab with everything it made, whatever state it is in.

    Example: svcpath lab down
    """
    labs.take_down(homes.home(lab), progress())


@app.command()
def status(lab: Annotated[str, Option("--lab", help="One lab; by default all.")] = "") -> None:
    """Show labs and their nodes.

    Example: svcpath lab status
    """
    found = (homes.home(lab),) if lab else homes.homes()
    if not found:
        click.echo("no lab here; start one with: svcpath lab up")
    for place in found:
        spec = place.read_spec()
        click.echo(f"{place.name}  {spec.provider}, {spec.proxy_mode}, {spec.ip_family}, {place.folder}")
        for node in labs.provider(place).status():
            click.echo(f"  {node.name:4}{'control plane  ' if node.control_plane else 'worker         '}{node.state}")


@app.command()
def kubeconfig(lab: LabName = DEFAULT_NAME) -> None:
    """Print the path of the lab's kubeconfig.

    Example: export KUBECONFIG=$(svcpath lab kubeconfig)
    """
    click.echo(labs.provider(homes.home(lab)).kubeconfig())


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def exec(
    context: click.Context,
    node: Annotated[str, Argument(help="cp, w1, w2, ...; wire is the world outside the nodes.")],
    lab: LabName = DEFAULT_NAME,
) -> None:
    """Run a command in a node's namespaces, with this one's input, output and terminal.

    Example: svcpath lab exec w1 -- iptables-save -t nat
    """
    words = context.args[1:] if context.args[:1] == ["--"] else context.args
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    provider = labs.provider(homes.home(lab))
    become(provider.on_node(node, words or ["ip", "-brief", "address"], terminal=terminal))


@app.command("proxy-mode")
def proxy_mode_command(
    mode: Annotated[str, Argument(help="iptables or nftables.")], lab: LabName = DEFAULT_NAME
) -> None:
    """Switch the data plane of a running lab.

    Example: svcpath lab proxy-mode nftables
    """
    labs.set_mode(homes.home(lab), mode, progress())


@app.command()
def run(
    name: Annotated[str, Argument(help="reference: the experiment of the project's mission.")] = "reference",
    lab: LabName = DEFAULT_NAME,
    change: Annotated[str, Option(help="How the Pod goes: delete, restart (a rollout restart) or both.")] = "both",
    grace: Annotated[int, Option(help="Grace period in seconds; below --prestop it flips: preStop.")] = 20,
    prestop: Annotated[int, Option(help="Seconds that preStop sleeps; above --grace it flips: preStop.")] = 10,
    stale_proxy: Annotated[
        bool, Option("--stale-proxy", help="Freeze kube-proxy. Flips: new connections, convergence.")
    ] = False,
    wrong_port_listens: Annotated[
        bool, Option("--wrong-port-listens", help="Serve on 18080 too. Flips: control wrong-port.")
    ] = False,
    logs: Annotated[str, Option(help="Folder for the raw logs; by default in the lab's folder.")] = "",
) -> None:
    """Play the reference experiment and print each statement beside what was observed.

    Example: svcpath lab run reference --stale-proxy
    """
    if name != "reference":
        raise UsageError(f"no experiment {name!r}; there is: reference")
    if change not in (*play.CHANGES, "both"):
        raise UsageError(f"change {change!r}: delete, restart or both")
    if grace < 1 or prestop < 0:
        raise UsageError("--grace is at least 1, --prestop at least 0")
    place = homes.home(lab)
    provider, spec, say = labs.provider(place), place.read_spec(), progress()
    variant = RunVariant(grace=grace, prestop=prestop, stale_proxy=stale_proxy, wrong_port_listens=wrong_port_listens)
    folder = Path(logs) if logs else labs.results_folder(place)
    failed = 0
    for kind in play.CHANGES if change == "both" else (change,):
        path = folder / f"reference-{spec.proxy_mode}-{kind}.jsonl"
        entries = play.play(provider, place.name, path, change=kind, variant=variant, say=say, mode=spec.proxy_mode)
        rows = statements.judge(entries)
        click.echo(f"\nreference experiment, {spec.proxy_mode}, Pod goes by {kind}\n")
        click.echo(
            table(
                [
                    ("", "statement", "observed"),
                    *((_MARKS[row.outcome], f"{row.name}: {row.statement}", row.observed) for row in rows),
                ]
            )
        )
        click.echo(f"\n  raw log: {path}")
        failed += sum(row.outcome != statements.HOLDS for row in rows)
    raise click.exceptions.Exit(1 if failed else 0)


_MARKS = {statements.HOLDS: "✔", statements.FAILS: "✖", statements.NOT_SEEN: "?"}


def table(rows: Sequence[tuple[str, ...]], limit: int = 110) -> str:
    """Rows in columns as wide as their widest cell; the last column is free."""
    widths = [min(limit, max(len(row[column]) for row in rows)) for column in range(len(rows[0]) - 1)]
    return "\n".join(
        "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    )


@app.command()
def record(
    folder: Annotated[Path, Argument(help="Folder to write, for `svcpath diagnose --evidence FOLDER`.")],
    lab: LabName = DEFAULT_NAME,
    namespace: Annotated[
        list[str] | None, Option("--namespace", "-n", help="Namespace to record; several times.")
    ] = None,
    client: Annotated[list[str] | None, Option("--client", help="Client Pod, NAMESPACE/NAME; several times.")] = None,
    name: Annotated[
        list[str] | None, Option("--name", help="A name to look up beside the Services' own; several times.")
    ] = None,
) -> None:
    """Save what `diagnose --evidence` needs, from real commands on the lab's cluster.

    Example: svcpath lab record ./recorded -n service-ops --client service-ops/client-glibc
    """
    namespaces = tuple(namespace or [NAMESPACE])
    clients = tuple(client or ([f"{NAMESPACE}/client-glibc"] if not namespace else []))
    missing = recording.record(
        labs.provider(homes.home(lab)),
        folder,
        recording.RecordingScope(namespaces, clients, names=tuple(name or ())),
        progress(),
    )
    for line in missing:
        click.echo(f"not recorded: {line}", err=True)
    click.echo(f"recorded {sum(1 for path in folder.iterdir() if path.is_file())} files. Next:")
    click.echo(f"  svcpath diagnose --evidence {folder}")


@app.command("faults")
def faults_command() -> None:
    """List the faults that the lab can make, with what a right diagnosis gives.

    Example: svcpath lab faults
    """
    rows = [("fault", "expected", "what is wrong")]
    for fault in shipped():
        expected = " ".join((*fault.expect.layers, *fault.expect.codes)) if not fault.healthy else "healthy"
        rows.append((fault.name, expected, fault.about))
    click.echo(table(rows, limit=60))


@app.command()
def inject(
    name: Annotated[str, Argument(help="A fault that `svcpath lab faults` lists.")],
    lab: LabName = DEFAULT_NAME,
) -> None:
    """Make a fault on the lab and leave it in place.

    Example: svcpath lab inject selector-typo
    """
    place = homes.home(lab)
    fault, spec, provider = named(name), place.read_spec(), labs.provider(place)
    if not fault.possible(mode=spec.proxy_mode, family=spec.ip_family, provider=spec.provider):
        raise UsageError(f"{name} can't be made on this lab ({spec.provider}, {spec.proxy_mode}, {spec.ip_family})")
    ground = make.inject(place, provider, fault, FaultScene.draw(random.Random()), progress())
    scene = ground.scene
    click.echo(f"svc/{scene.service} in namespace {scene.namespace} is broken now, client pod/{scene.client}. Next:")
    click.echo(f"  svcpath lab record ./incident -n {scene.namespace} --client {scene.namespace}/{scene.client}")
    click.echo(
        f"  svcpath diagnose svc/{scene.service} -n {scene.namespace} --from pod/{scene.client} --evidence ./incident"
    )


@app.command()
def clear(lab: LabName = DEFAULT_NAME) -> None:
    """Undo the fault that stands on the lab.

    Example: svcpath lab clear
    """
    place = homes.home(lab)
    make.clear(place, labs.provider(place), progress())


@app.command("score")
def score_command(
    lab: LabName = DEFAULT_NAME,
    fault: Annotated[list[str] | None, Option("--fault", help="Only these; several times.")] = None,
    faults: Annotated[Path | None, Option("--faults", help="A folder of your own faults.")] = None,
    mode: Annotated[str, Option(help="iptables, nftables, both, or the lab's own.")] = "",
    evidence: Annotated[
        str, Option(help="What diagnose is given: recorded (a folder), live (the kubeconfig) or both.")
    ] = "both",
    sample: Annotated[int, Option(help="Only so many, a random sample.")] = 0,
    seed: Annotated[int, Option(help="Of the sample and the scenes, to repeat a run.")] = 0,
    within: Annotated[float, Option(metavar="SECONDS", help="Begin no fault later; what was left out is named.")] = 0,
    keep: Annotated[Path | None, Option(help="Folder where the recordings stay.")] = None,
    outputs: Annotated[list[str] | None, Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP)] = None,
) -> None:
    """Make each fault, let diagnose judge it in another process, and print how often it was right.

    Example: svcpath lab score --sample 8 -o terminal -o html=score.html
    """
    written = output.parse(outputs)
    if evidence not in (*ask.EVIDENCE, "both"):
        raise UsageError(f"evidence {evidence!r}: {', '.join(ask.EVIDENCE)} or both")
    if keep is not None and evidence == ask.LIVE:
        raise UsageError("--keep keeps recordings, and --evidence live makes none")
    kinds = ask.EVIDENCE if evidence == "both" else (evidence,)
    place = homes.home(lab)
    spec, provider, say = place.read_spec(), labs.provider(place), progress()
    if make.injected(place) is not None:
        raise UsageError(f"a fault stands on lab {lab}; first: svcpath lab clear --lab {lab}")
    drawn = seed or random.SystemRandom().randrange(1, 1 << 31)
    lot = random.Random(drawn)
    modes = PROXY_MODES if mode == "both" else (mode or spec.proxy_mode,)
    wanted = in_folder(faults) if faults else tuple(named(fault_name) for fault_name in fault) if fault else shipped()
    until = time.monotonic() + within if within else None
    rows: list[FaultScore] = []
    not_made: list[str] = []

    def take(row: FaultScore) -> None:
        rows.append(row)
        say(_line(row))

    stopped = False
    try:
        for proxy_mode in modes:
            if proxy_mode != spec.proxy_mode or len(modes) > 1:
                labs.set_mode(place, proxy_mode, say)
            possible = [
                candidate
                for candidate in wanted
                if candidate.possible(mode=proxy_mode, family=spec.ip_family, provider=spec.provider)
            ]
            chosen = lot.sample(possible, min(sample, len(possible))) if sample else possible
            score = Run(provider, place.name, proxy_mode, lot, say, kinds, keep, until, judged=take)
            score.rows(chosen)
            not_made += [f"{name} ({proxy_mode}): {why}" for name, why in score.not_made.items()]
    except KeyboardInterrupt:
        stopped = True
        not_made.append("the rest: interrupted")
        say("interrupted; what was judged until now follows")
    if spec.proxy_mode != modes[-1]:
        labs.set_mode(place, spec.proxy_mode, say)
    facts = {**machine_facts(provider, modes), "lot": str(drawn)}
    if not_made:
        facts["not made"] = "; ".join(not_made)
    report = results(rows, facts)
    output.write(written, lambda: score_view.document(report), lambda: encode(report), lambda: score_view.page(report))
    if stopped:
        raise click.exceptions.Exit(130)
    raise click.exceptions.Exit(1 if totals(rows)["false_accusations"] or not rows else 0)


def _line(row: FaultScore) -> str:
    return f"{row.mark:9} {row.fault} ({row.evidence}): {row.given.status} {row.given.layer} {row.given.code}"
