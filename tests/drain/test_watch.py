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
from svcpath.drain.transport import KubectlTransport
from svcpath.drain.watch import Sampling, sample
from tests.drain.test_sampler import echo

#: kubectl whose containers are this machine: `exec ... -- COMMAND` runs the command.
KUBECTL = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
echo $$ > {pid}
exec "$@"
"""
WATCH = """
import sys, time
from pathlib import Path
from svcpath.drain.sampler import whole
from svcpath.drain.store import Store
from svcpath.drain.transport import KubectlTransport
from svcpath.drain.watch import Sampling, sample
store = Store(Path(sys.argv[2]))
intake = sample(KubectlTransport((), sys.argv[1]), store, Sampling("shop", "client", "", ("new=50", sys.argv[3])), whole.text())
print(intake.began(20), flush=True)
time.sleep(60)
"""


def _kubectl(folder: Path) -> Path:
    program = folder / "kubectl"
    program.write_text(KUBECTL.format(pid=folder / "pid"))
    program.chmod(0o755)
    return program


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
    kubectl = KubectlTransport((), str(_kubectl(tmp_path)))
    with echo() as port:
        sampling = Sampling("shop", "client", "", ("new=50", f"http://127.0.0.1:{port}/"))
        intake = sample(kubectl, store, sampling, whole.text())
        assert intake.began(20)
        intake.end(20)
    kubectl.close()
    assert intake.announced == intake.sampled == len(store.connections()) > 0
    assert store.meta(f"sampler {intake.source}").split()[0] == str(intake.announced)
    assert _gone(int((tmp_path / "pid").read_text()))
    store.close()


def test_a_recorder_that_is_killed_leaves_no_sampler_behind(tmp_path: Path) -> None:
    with echo() as port:
        command = [sys.executable, "-c", WATCH, str(_kubectl(tmp_path)), str(tmp_path / "drain.db")]
        with subprocess.Popen([*command, f"http://127.0.0.1:{port}/"], stdout=subprocess.PIPE) as recorder:
            assert recorder.stdout is not None
            assert recorder.stdout.readline().strip() == b"True"
            os.kill(recorder.pid, signal.SIGKILL)
        assert _gone(int((tmp_path / "pid").read_text()))
