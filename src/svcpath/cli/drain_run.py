"""svcpath drain run"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from svcpath.cli import output
from svcpath.cli.command import Option
from svcpath.cli.exits import ExitCode
from svcpath.cli.seconds import seconds
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drain.grid.cells import GridCell

HELP = """\
svcpath drain run --scenario 2 --lab svcpath

Play a scenario on a lab, with workloads that pass and others that fail for a stated reason: 1 readiness, 2 longest
request, 3 grace period, 4 connection pools, 5 headless clients, 6 load balancer, 7 rollout; `grid` compares the model with
26 measured cells; `load` checks the recorder against the servers' logs; `all` is every scenario. The drain makes a namespace of its own and removes it.

With --target deploy/NAME it looks at a workload of yours instead: it records while you roll out or delete a Pod, until the
old Pods are gone, and answers the seven questions from that. It changes nothing. With --act it begins: scenario 2 or 3
deletes one Pod, 7 or all restarts the rollout. It says which Pods go and asks (--yes for scripts), and refuses when a single
replica, a PodDisruptionBudget or the strategy would make that an outage (--force).

Exit code: 0 every variant came out as it has to, or no question was answered badly; 1 some did; 2 usage, or refused; 3 not
played or not observed; 4 cluster unreadable."""


def run(
    scenario: Annotated[str, Option("--scenario", help="1 to 7, grid, load or all.")] = "all",
    lab: Annotated[str, Option("--lab", help="Name of a lab that is up.")] = "svcpath",
    variant: Annotated[
        list[str] | None, Option("--variant", help="A variant of the scenario alone; several times.")
    ] = None,
    cells: Annotated[int, Option("--cells", min=0, help="So many cells of the grid alone, drawn by --seed.")] = 0,
    seed: Annotated[int, Option("--seed", help="The draw of --cells.")] = 1,
    rate: Annotated[float, Option("--rate", min=1, help="Of load: new connections a second.")] = 1000.0,
    seconds: Annotated[float, Option("--seconds", min=10, max=600, help="Of load: for so long.")] = 60.0,
    pods: Annotated[int, Option("--pods", min=1, max=40, help="Of load: Pods that are replaced.")] = 20,
    target: Annotated[str, Option("--target", help="deploy/NAME: a workload of yours instead of a lab.")] = "",
    namespace: Annotated[
        str, Option("-n", "--namespace", help="Of a target: namespace (default: the context's).")
    ] = "",
    act: Annotated[bool, Option("--act", help="Begin: delete one Pod (2, 3), restart the rollout (7, all).")] = False,
    yes: Annotated[bool, Option("--yes", help="With --act: do not ask.")] = False,
    force: Annotated[bool, Option("--force", help="With --act: also where that would be an outage.")] = False,
    db: Annotated[Path, Option("--db", help="Of a target: the recording, a new file.")] = Path("drain.db"),
    timeout: Annotated[
        float,
        Option("--timeout", parser=seconds, metavar="TIME", help="Of a target: seconds, or 10m (0: until Ctrl-C)."),
    ] = 0.0,
    context: Annotated[str, Option("--context", help="Of a target: context of the kubeconfig.")] = "",
    kubeconfig: Annotated[str, Option("--kubeconfig", help="Of a target: kubeconfig file.")] = "",
    api_url: Annotated[str, Option("--api-url", help="Of a target: address of a kubectl proxy.")] = "",
    sample_from: Annotated[str, Option("--sample-from", help="Of a target: pod/NAME that samples.")] = "",
    container: Annotated[str, Option("-c", "--container", help="Its container.")] = "",
    sample: Annotated[
        list[str] | None, Option("--sample", help="What to sample: KIND=RATE, http://HOST/PATH; several times.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
) -> int:
    if target:
        from svcpath.cli import drain_target

        return drain_target.run(
            drain_target.Wanted(
                target, namespace, scenario, act, yes, force, db, context, kubeconfig, api_url, timeout, sample_from,
                container, tuple(sample or ()),
            )
        )  # fmt: skip
    if act or yes or force or sample:
        raise UsageError("--act, --yes, --force and --sample belong to --target deploy/NAME")
    from svcpath.cli.extensions import practice_cluster
    from svcpath.cli.progress import progress
    from svcpath.drain import play
    from svcpath.drain.endurance import LoadPlan
    from svcpath.drain.scenarios import SCENARIOS
    from svcpath.evidence.sources.kube_client import Access
    from svcpath.reports.drain import SCHEMA, DrainContract
    from svcpath.reports.report import encode
    from svcpath.reports.views.drain import document, page

    wanted = output.parse(outputs)
    known = {str(number): (number,) for number in sorted(SCENARIOS)} | {
        "grid": (),
        "load": (),
        "all": tuple(sorted(SCENARIOS)),
    }
    if scenario not in known:
        raise UsageError(f"--scenario {scenario!r}: give {', '.join(known)}")
    made = practice_cluster(lab)
    access = Access(context=made.context or "", kubeconfig=str(made.kubeconfig))
    image, outside = made.image, made.outside
    say = progress()
    chosen, named = known[scenario], frozenset(variant or ())
    report = DrainContract(
        schema=SCHEMA,
        facts=made.facts,
        scenarios=play.scenarios(access, image, chosen, say, outside, named) if chosen else (),
        cells=play.grid(access, image, say, _drawn(cells, seed)) if scenario == "grid" else (),
        loads=play.load(access, image, LoadPlan(rate, seconds, pods), say) if scenario == "load" else (),
    )
    output.write(wanted, lambda: document(report), lambda: encode(report), lambda: page(report))
    return ExitCode.BAD if not report.right else ExitCode.GOOD if report.whole else ExitCode.UNDECIDED


def _drawn(count: int, seed: int) -> tuple[GridCell, ...]:
    """All cells, or ``count`` of them in their order."""
    import random

    from svcpath.drain.grid.cells import CELLS

    if not 0 < count < len(CELLS):
        return CELLS
    click.echo(f"{count} of {len(CELLS)} cells, seed {seed}", err=True)
    places = sorted(random.Random(seed).sample(range(len(CELLS)), count))
    return tuple(CELLS[place] for place in places)
