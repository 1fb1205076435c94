"""svcpath drain run"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from svcpath.cli import output
from svcpath.cli.exits import Exit
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drill.grid.cells import Cell

HELP = """\
svcpath drain run --scenario 2 --lab svcpath

Play a scenario on a lab, with workloads that pass and others that fail for a stated reason: 1 readiness, 2 longest
request, 3 grace period, 4 connection pools, 5 headless clients, 6 load balancer, 7 rollout; `grid` compares the model with
26 measured cells; `all` is every scenario. The drill makes a namespace of its own and removes it.

Exit code: 0 every variant came out as it has to, 1 some did not, 3 some could not be played on this lab, 4 cluster
unreadable."""


def run(
    scenario: Annotated[str, typer.Option("--scenario", help="1 to 7, grid or all.")] = "all",
    lab: Annotated[str, typer.Option("--lab", help="Name of a lab that is up.")] = "svcpath",
    variant: Annotated[
        list[str] | None, typer.Option("--variant", help="A variant of the scenario alone; several times.")
    ] = None,
    cells: Annotated[int, typer.Option("--cells", min=0, help="So many cells of the grid alone, drawn by --seed.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="The draw of --cells.")] = 1,
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT[=FILE]", help=output.HELP),
    ] = None,
) -> int:
    import time

    from svcpath.drill import play
    from svcpath.drill.scenarios import SCENARIOS
    from svcpath.drill.transport import KubectlTransport
    from svcpath.lab import home, labs
    from svcpath.lab.providers.netns import NetnsProvider
    from svcpath.lab.score.run import machine_facts
    from svcpath.reports.drill import SCHEMA, DrillContract
    from svcpath.reports.report import encode
    from svcpath.reports.views.drill import document, page

    wanted = output.parse(outputs)
    known = {str(number): (number,) for number in sorted(SCENARIOS)} | {"grid": (), "all": tuple(sorted(SCENARIOS))}
    if scenario not in known:
        raise UsageError(f"--scenario {scenario!r}: give {', '.join(known)}")
    place = home.home(lab)
    provider = labs.provider(place)
    made = provider.kubectl()
    options = ["--kubeconfig", str(made.kubeconfig), *(["--context", made.context] if made.context else [])]
    kubectl = KubectlTransport(options, str(made.program))
    image = provider.images["tools"]
    outside = provider.outside() if isinstance(provider, NetnsProvider) else None
    begun = time.monotonic()

    def say(text: str) -> None:
        typer.echo(f"{time.monotonic() - begun:6.1f} s  {text}", err=True)

    chosen, named = known[scenario], frozenset(variant or ())
    report = DrillContract(
        schema=SCHEMA,
        facts=machine_facts(provider, (place.read_spec().proxy_mode,)),
        scenarios=play.scenarios(kubectl, image, chosen, say, outside, named) if chosen else (),
        cells=play.grid(kubectl, image, say, _drawn(cells, seed)) if scenario == "grid" else (),
    )
    output.write(wanted, lambda: document(report), lambda: encode(report), lambda: page(report))
    return Exit.BAD if not report.right else Exit.GOOD if report.whole else Exit.UNDECIDED


def _drawn(count: int, seed: int) -> tuple[Cell, ...]:
    """All cells, or ``count`` of them in their order."""
    import random

    from svcpath.drill.grid.cells import CELLS

    if not 0 < count < len(CELLS):
        return CELLS
    typer.echo(f"{count} of {len(CELLS)} cells, seed {seed}", err=True)
    places = sorted(random.Random(seed).sample(range(len(CELLS)), count))
    return tuple(CELLS[place] for place in places)
