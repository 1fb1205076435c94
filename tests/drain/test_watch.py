"""A sampler that is piped into a container is recorded, and is gone when the recording ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from svcpath.drain.sampler import whole
from svcpath.drain.store import Store
from svcpath.drain.watch import Sampling, sample
from tests.drain.local import LocalCommands
from tests.drain.test_sampler import echo

ROOT = Path(__file__).parents[2]
WATCH = """
import sys, time
from pathlib import Path
from svcpath.drain.sampler import whole
from svcpath.drain.store import Store
from svcpath.drain.watch import Sampling, sample
from tests.drain.local import LocalCommands
store = Store(Path(sys.argv[2]))
intake = sample(LocalCommands(Path(sys.argv[1])), store, Sampling("shop", "client", "", ("new=50", sys.argv[3])), whole.text())
print(intake.began(20), flush=True)
time.sleep(60)
"""


def _gone(pid: int, timeout: float = 20) -> bool:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_sampler_finishes_what_is_under_way_and_says_how_much_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "drain.db")
    commands = LocalCommands(tmp_path / "pid")
    with echo() as port:
        sampling = Sampling("shop", "client", "", ("new=50", f"http://127.0.0.1:{port}/"))
        intake = sample(commands, store, sampling, whole.text())
        assert intake.began(20)
        intake.end(20)
    assert intake.announced == intake.sampled == len(store.connections()) > 0
    assert store.meta(f"sampler {intake.source}").split()[0] == str(intake.announced)
    assert _gone(int((tmp_path / "pid").read_text()))
    store.close()


def test_a_recorder_that_is_killed_leaves_no_sampler_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    with echo() as port:
        command = [sys.executable, "-c", WATCH, str(tmp_path / "pid"), str(tmp_path / "drain.db")]
        with subprocess.Popen(
            [*command, f"http://127.0.0.1:{port}/"], stdout=subprocess.PIPE, cwd=ROOT, env=environment
        ) as recorder:
            assert recorder.stdout is not None
            assert recorder.stdout.readline().strip() == b"True"
            os.kill(recorder.pid, signal.SIGKILL)
        assert _gone(int((tmp_path / "pid").read_text()))
