"""svcpath drain run"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svcpath.cli.exits import Exit
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drill.grid.cells import Cell
    from svcpath.drill.outside import Outside
    from svcpath.drill.transport import KubectlTransport
    from svcpath.lab.providers.base import Provider

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
    begun = time.monotonic()

    def say(text: str) -> None:
        typer.echo(f"{time.monotonic() - begun:6.1f} s  {text}", err=True)

    if scenario == "grid":
        code, numbers = _grid(kubectl, provider.images["tools"], _drawn(cells, seed), say)
    elif scenario == "all" or (scenario.isdecimal() and int(scenario) in SCENARIOS):
        chosen = sorted(SCENARIOS) if scenario == "all" else [int(scenario)]
        code, numbers = _scenarios(kubectl, provider, chosen, frozenset(variant or ()), say)
    else:
        known = ", ".join(str(number) for number in sorted(SCENARIOS))
        raise UsageError(f"--scenario {scenario!r}: give {known}, grid or all")
    if results is not None:
        try:
            results.write_text(json.dumps(numbers, indent=1) + "\n")
        except OSError as error:
            raise EvidenceError(f"can't write {results}: {error.strerror}") from error
    return code


def _drawn(count: int, seed: int) -> tuple[Cell, ...]:
    """All cells, or ``count`` of them in their order."""
    import random

    from svcpath.drill.grid.cells import CELLS

    if not 0 < count < len(CELLS):
        return CELLS
    typer.echo(f"{count} of {len(CELLS)} cells, seed {seed}")
    places = sorted(random.Random(seed).sample(range(len(CELLS)), count))
    return tuple(CELLS[place] for place in places)


def _grid(
    kubectl: KubectlTransport, image: str, cells: Sequence[Cell], say: Callable[[str], None]
) -> tuple[int, list[dict[str, Any]]]:
    from svcpath.drill.grid.compare import as_dict, compare
    from svcpath.drill.grid.measure import measure
    from svcpath.reports.document import Document, Note, Table
    from svcpath.reports.renderers.terminal import render

    found = measure(kubectl, cells, image, say)
    rows = [compare(cell, found[cell.name], image) for cell in cells]
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
    return Exit.GOOD if agree == len(rows) else Exit.BAD, [as_dict(row) for row in rows]


def _scenarios(
    kubectl: KubectlTransport,
    provider: Provider,
    chosen: list[int],
    variants: frozenset[str],
    say: Callable[[str], None],
) -> tuple[int, list[dict[str, Any]]]:
    import dataclasses

    from svcpath.drill import kube
    from svcpath.drill.scenarios import SCENARIOS
    from svcpath.drill.stage import Stage

    image, space = provider.images["tools"], "svcpath-drain"
    right, whole, numbers = True, True, []
    with kube.namespace(kubectl, space), kube.api(kubectl) as api:
        kube.apply(kubectl, [kube.scripts_map(space), kube.client_pod(space, image)])
        api.ready_pods(space, "app=drain-client", 1)
        stage = Stage(kubectl, api, space, image, say, _outside(provider))
        for number in chosen:
            each = SCENARIOS[number]
            typer.echo(f"{number}. {each.title}\n   {each.does}\n   passes when: {each.passes}")
            for one in each.variants:
                if variants and one.name not in variants:
                    continue
                found = each.run(stage, one)
                kubectl.run("-n", space, "delete", "deployments,services", "--all", "--wait=false")
                mark = "· NOT TESTED" if found.passed is None else "✔ PASS" if found.passed else "✖ FAIL"
                as_it_should = None if found.passed is None else found.passed == one.holds
                right, whole = right and as_it_should is not False, whole and as_it_should is not None
                wrong = ", NOT AS IT SHOULD" if as_it_should is False else ""
                typer.echo(f"   {mark}  {one.name} ({one.why}{wrong}): {found.said}")
                numbers.append({**dataclasses.asdict(found), "why": one.why, "as_it_should": as_it_should})
    return Exit.BAD if not right else Exit.GOOD if whole else Exit.UNDECIDED, numbers


def _outside(provider: Provider) -> Outside | None:
    from svcpath.lab.providers.netns import NetnsProvider

    return provider.outside() if isinstance(provider, NetnsProvider) else None
