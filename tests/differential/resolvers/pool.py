"""Many workers, each in its own namespaces, fed with jobs; results come back in the jobs' order."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


class Pool:
    """``size`` namespaces; leaving the context ends them (the namespaces go with their last process)."""

    def __init__(self, folder: Path, commands: dict[str, list[str]], size: int) -> None:
        self.processes: list[subprocess.Popen[str]] = []
        for number in range(size):
            own = folder / f"worker-{number}"
            own.mkdir()
            command = ["unshare", "-n", "-m", "-u", sys.executable, "-m", "tests.differential.resolvers.worker"]
            with (own / "stderr").open("w") as errors:
                self.processes.append(
                    subprocess.Popen(
                        [*command, str(own), json.dumps(commands)],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=errors,
                        cwd=ROOT,
                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                        text=True,
                    )
                )
        self.folder = folder
        for number, process in enumerate(self.processes):
            assert process.stdout is not None
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError((folder / f"worker-{number}" / "stderr").read_text()[-2000:])

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def run(self, jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        waiting: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()
        for item in enumerate(jobs):
            waiting.put(item)
        results: list[dict[str, Any]] = [{} for _ in jobs]
        failures: list[BaseException] = []

        def serve(process: subprocess.Popen[str]) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            while not failures:
                try:
                    number, job = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    process.stdin.write(json.dumps(job) + "\n")
                    process.stdin.flush()
                    results[number] = json.loads(process.stdout.readline())
                except (OSError, ValueError) as error:
                    failures.append(error)

        threads = [threading.Thread(target=serve, args=(process,)) for process in self.processes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            texts = [path.read_text()[-500:] for path in self.folder.glob("worker-*/stderr")]
            raise RuntimeError(f"a worker ended early: {failures[0]!r} {' '.join(filter(None, texts))}")
        return results
