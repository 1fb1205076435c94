"""Processor time of one walk in process, an old commit beside the sources at hand, in one run.

A healthy Service of the shipped recordings, and one among 1,000 and 10,000 Services with 10 endpoints each (`_cluster.py`). Each side is
a process of its own that is given what to do (`_walker.py`), in turn, so that both see the same machine. Reading the evidence is
reported apart, and so is the first walk after it: what a Source works out once is in that one.

SVCPATH_BENCH_OLD names the old commit ("" for none); it is checked out into a folder that is removed at the end.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench._cluster import LargeCluster
from tests.bench._machine import machine, write
from tests.fixtures.commits import OLD, ROOT, checked_out, commit, git

#: Milliseconds of processor time that one walk may take.
RECORDING, LARGE = 10.0, 15.0


class Case(NamedTuple):
    """``rounds`` of ``walks`` each, after each of ``readings``; ``limit`` in ms, None where it is only reported."""

    name: str
    files: Mapping[str, bytes]
    target: str
    namespace: str
    client: str
    readings: int
    rounds: int
    walks: int
    limit: float | None


def cases() -> Iterator[Case]:
    for name in ("iptables", "nftables"):
        folder = ROOT / "src" / "svcpath" / "recordings" / name
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        title = f"a healthy Service of the recording {name}"
        yield Case(title, files, "svc/echo-server", "service-ops", "pod/client", 9, 5, 5, RECORDING)
    for services, readings, limit in ((1000, 3, None), (10000, 1, LARGE)):
        cluster = LargeCluster(services)
        target, client = f"svc/{cluster.name}", f"pod/{cluster.client}"
        title = f"one of {services:,} Services with 10 endpoints each"
        yield Case(title, cluster.files, target, cluster.namespace, client, readings, 5, 3, limit)


class Side:
    """One commit's process."""

    def __init__(self, sources: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("_walker.py"))],
            env={**os.environ, "PYTHONPATH": str(sources)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        package = Path(self._answer()["package"])
        if not package.is_relative_to(sources):
            self.close()
            raise RuntimeError(f"{package} was imported, not {sources}")

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a walk ended with an error, see above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _tell(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def read(self, folder: str) -> float:
        return float(self._tell({"read": folder})["seconds"])

    def walk(self, case: Case, times: int) -> list[float]:
        """Seconds of each walk. Raises RuntimeError when the verdict is not healthy: then something else was measured."""
        asked = {"target": case.target, "namespace": case.namespace, "client": case.client}
        found = self._tell({"walk": asked, "times": times})
        if found["status"] != "healthy":
            raise RuntimeError(f"{case.name}: {found['status']}")
        return list(found["seconds"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Figures:
    """What one side took for one case, in seconds."""

    def __init__(self) -> None:
        self.read: list[float] = []
        self.first: list[float] = []
        self.later: list[float] = []

    @property
    def median(self) -> float:
        """Milliseconds of a walk that is not the first after reading."""
        return statistics.median(self.later) * 1000

    def summary(self) -> dict[str, float]:
        return {
            "median of later walks ms": round(self.median, 2),
            "fastest walk ms": round(min(self.later) * 1000, 2),
            "first walk after reading ms": round(statistics.median(self.first) * 1000, 2),
            "walks": len(self.later),
            "reading s": round(statistics.median(self.read), 3),
        }


def measure(case: Case, sides: Mapping[str, Side]) -> dict[str, Figures]:
    found = {label: Figures() for label in sides}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in case.files.items():
            Path(folder, name).write_bytes(content)
        for _ in range(case.readings):
            for label, side in sides.items():
                found[label].read.append(side.read(folder))
                found[label].first += side.walk(case, 1)
            for _ in range(case.rounds):
                for label, side in sides.items():
                    found[label].later += side.walk(case, case.walks)
    return found


def main() -> None:
    """The walks of both sides, and whether those of the sources at hand are as fast as they must be."""
    facts = machine()
    old = commit(OLD)
    left_out = (
        [] if old else [f"the old commit: {OLD} is not in this clone" if OLD else "the old commit: none was named"]
    )
    commits = {"old": old, "new": git("describe", "--always", "--dirty", "--abbrev=12")}
    walks: dict[str, Any] = {}
    ratios: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        trees = ({"old": stack.enter_context(checked_out(old))} if old else {}) | {"new": ROOT}
        sides: dict[str, Side] = {}
        for label, tree in trees.items():
            sides[label] = Side(tree / "src")
            stack.callback(sides[label].close)
        for case in cases():
            found = measure(case, sides)
            walks[case.name] = {label: figures.summary() for label, figures in found.items()}
            for label, figures in found.items():
                sys.stdout.write(f"{case.name}, {label}: {figures.summary()}\n")
            if case.limit is not None:
                taken = found["new"].median
                key = f"{case.name}: ms of a walk, of {case.limit:g}"
                ratios[key] = {"ratio": round(taken / case.limit, 3), "limit": 1.0}
    write(
        "walk",
        {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": facts,
            "versions": {**commits, **{name: version(name) for name in ("svcpath", "msgspec")}},
            "walks": walks,
            "ratios": ratios,
            "left_out": left_out,
        },
    )


if __name__ == "__main__":
    main()
