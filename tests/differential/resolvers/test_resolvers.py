"""The models against the real resolvers: outcome and query order equal, run for run.

A run that differs is repeated once with nothing else running; it counts as a mismatch if it differs again.

Two grids: the usual one (names, search lists, options, answers) and the odd one (what the files may hold).

``SVCPATH_RESOLVER_RUNS`` sets how many runs of the usual grid (a sample by default, 5000 in continuous integration; the odd
one gets two fifths as many more), ``SVCPATH_RESOLVER_SEED`` the seed, ``SVCPATH_RESOLVER_WORKERS`` how many namespaces at once,
``SVCPATH_RESOLVER_ONLY`` the resolvers that all runs go to, with commas between.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.differential import tools
from tests.differential.resolvers import check, grid, odd_grid
from tests.differential.resolvers.pool import Pool

RUNS = int(os.environ.get("SVCPATH_RESOLVER_RUNS", "300"))
SEED = int(os.environ.get("SVCPATH_RESOLVER_SEED", "20240607"))
WORKERS = int(os.environ.get("SVCPATH_RESOLVER_WORKERS", "12"))
ONLY = tuple(filter(None, os.environ.get("SVCPATH_RESOLVER_ONLY", "").split(",")))
FULL = 5000
Jobs = Callable[[int, int, set[str]], list[dict[str, Any]]]

ORACLES: dict[str, Callable[[], list[str]]] = {
    "glibc": tools.glibc_probe,
    "musl-1.2.3": tools.musl_123_probe,
    "musl-1.2.5": tools.musl_125_probe,
    "go-pure": lambda: tools.go_probe(cgo=False),
    "go-default": lambda: tools.go_probe(cgo=True),
    "go-cgo": lambda: ["env", "GODEBUG=netdns=cgo", *tools.go_probe(cgo=True)],
    "cares-gai": tools.cares_probe,
    "node-resolve4": lambda: tools.node_probe("resolve4"),
    "node-lookup": lambda: tools.node_probe("lookup"),
    "jvm": tools.java_probe,
    "hickory": tools.hickory_probe,
    "hickory-0.26": lambda: tools.hickory_probe("0.26"),
    "python-gai": tools.python_probe,
    "nginx": lambda: [tools.need("nginx")],
    "dnspython": list,
    "dnspython-search": list,
}


def oracles() -> tuple[dict[str, list[str]], list[str]]:
    """The probes this machine can run, and why the others can't."""
    found, missing = {}, []
    for probe, build in ORACLES.items():
        if ONLY and probe not in ONLY:
            continue
        try:
            found[probe] = build()
        except tools.Missing as reason:
            missing.append(f"{probe}: {reason}")
    return found, missing


@pytest.mark.differential
@pytest.mark.root
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("grid_of", "share"), [(grid.jobs, 1.0), (odd_grid.jobs, 0.4)], ids=["usual", "odd"])
def test_every_model_asks_and_ends_as_its_real_resolver_does(
    grid_of: Jobs, share: float, tmp_path: Path, say_in_summary: Callable[[str], None]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root for network and mount namespaces")
    for program in ("unshare", "ip", "mount"):
        try:
            tools.need(program)
        except tools.Missing as reason:
            pytest.skip(str(reason))
    commands, missing = oracles()
    assert commands, f"no such resolver, or none that can be run: {', '.join(missing or ONLY)}"
    jobs = grid_of(round(RUNS * share), SEED, set(commands))
    with Pool(tmp_path, commands, min(WORKERS, len(jobs))) as pool:
        runs = pool.run(jobs)
        verdicts = [check.check(job, run) for job, run in zip(jobs, runs, strict=True)]
        again = [index for index, verdict in enumerate(verdicts) if verdict.status == "mismatch"]
        for index in again:
            runs[index] = pool.run([jobs[index]])[0]
            verdicts[index] = check.check(jobs[index], runs[index])
    wrong = [(jobs[index], verdicts[index]) for index in again if verdicts[index].status == "mismatch"]
    kept = os.environ.get("SVCPATH_RESOLVER_KEEP")
    if kept:
        with Path(kept).open("w") as file:
            for job, run in zip(jobs, runs, strict=True):
                file.write(json.dumps({"job": job, "run": run}) + "\n")
    lines = [
        f"resolvers, model against real, {len(jobs)} of {round(FULL * share)} runs, seed {SEED}",
        check.table(zip((job["probe"] for job in jobs), verdicts, strict=True)),
        *(f"not run  {reason}" for reason in missing),
        f"repeated alone, since other load can delay a packet: {len(again)}",
        *(check.side_by_side(job, verdict) for job, verdict in wrong),
    ]
    say_in_summary("\n".join(lines))
    assert not wrong
