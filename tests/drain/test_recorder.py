"""The recorder keeps each event once: over cuts, over 410, and over kill -9 at any moment."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.load import is_database, load
from svcpath.drain.recorder import DrainRecorder
from svcpath.drain.store import ObjectState, Store
from svcpath.errors import FormatError, SourceUnavailable
from svcpath.evidence.sources.kube_client import Access
from tests.fixtures.running_server import running
from tests.fixtures.scripted_api import Script, Server, play

RECORD = """
import sys
from pathlib import Path
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.recorder import DrainRecorder
from svcpath.drain.store import Store
from svcpath.evidence.sources.kube_client import Access
recorder = DrainRecorder(ClusterTransport(Access(api_url=sys.argv[1])), Store(Path(sys.argv[2])), "shop", ["pods"])
recorder.start()
print("recording", flush=True)
recorder.stop.wait()
"""


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    server = Server(script)
    with running(server):
        try:
            yield server
        finally:
            script.end()


def _versions(path: Path, where: str = "type != 'VANISHED'") -> list[int]:
    db = sqlite3.connect(path)
    try:
        return [int(row[0]) for row in db.execute(f"SELECT version FROM events WHERE {where} ORDER BY id")]
    finally:
        db.close()


def _until(path: Path, version: int, timeout: float = 30) -> None:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        store = Store(path)
        position = store.position("pods")
        store.close()
        if position is not None and int(position) >= version:
            return
        time.sleep(0.05)
    raise AssertionError(f"the recorder did not reach {version}")


def test_cut_watches_leave_neither_gap_nor_duplicate(tmp_path: Path) -> None:
    script = Script(1, cuts=0.1)
    for _ in range(5):
        script.change()
    with serving(script) as server:
        store = Store(tmp_path / "drain.db")
        recorder = DrainRecorder(ClusterTransport(Access(api_url=server.url)), store, "shop", ["pods"])
        recorder.start()
        first = script.version
        play(script, 300, 0.002).join()
        _until(tmp_path / "drain.db", script.version)
        recorder.close()
        assert store.gaps() == ()
        store.close()
    kept = [version for version in _versions(tmp_path / "drain.db") if version > first]
    assert kept == [number for number, _, _ in script.history if number > first]


def test_an_expired_version_is_listed_anew_and_the_gap_is_said(tmp_path: Path) -> None:
    script = Script(2, keep=5)
    for _ in range(20):
        script.change()
    path = tmp_path / "drain.db"
    with serving(script) as server:
        store = Store(path)
        recorder = DrainRecorder(ClusterTransport(Access(api_url=server.url)), store, "shop", ["pods"])
        recorder.start()
        recorder.close()
        for _ in range(40):
            script.change()
        again = DrainRecorder(ClusterTransport(Access(api_url=server.url)), store, "shop", ["pods"])
        again.start()
        _until(path, script.version)
        again.close()
        (gap,) = store.gaps()
        assert "410" in gap.why
        assert gap.since <= gap.until
        assert {uid: version for uid, (_, version) in store.alive("pods").items()} == {
            uid: item["metadata"]["resourceVersion"] for uid, item in script.alive.items()
        }
        store.close()
    _, gaps = load([path])
    assert any("410" in gap for gap in gaps)


def test_killed_at_fifty_random_moments_the_file_holds_every_event_once(tmp_path: Path) -> None:
    script, path, chance = Script(3, cuts=0.02), tmp_path / "drain.db", random.Random(4)
    for _ in range(3):
        script.change()
    with serving(script) as server:
        kept_before = 0
        player = play(script, 10**6, 0.003)
        for moment in range(50):
            process = subprocess.Popen(
                [sys.executable, "-c", RECORD, server.url, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            assert process.stdout is not None
            assert process.stderr is not None
            if moment % 5 == 0:
                time.sleep(chance.uniform(0.05, 0.5))  # some while it starts
            else:
                process.stdout.readline()
                time.sleep(chance.uniform(0.0, 0.12))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            if path.exists() and path.stat().st_size:
                kept = _versions(path)
                assert len(kept) >= kept_before
                kept_before = len(kept)
        script.resting = True
        reached = script.version
        last = subprocess.Popen([sys.executable, "-c", RECORD, server.url, str(path)], stdout=subprocess.PIPE)
        _until(path, reached)
        last.kill()
        last.communicate()
        assert player.is_alive()
    kept = _versions(path)
    assert len(kept) == len(set(kept))
    watched = [version for version in _versions(path, "type NOT IN ('LISTED', 'VANISHED')") if version <= reached]
    assert watched[0] - 1 in script.lists
    assert watched == [number for number, _, _ in script.history if watched[0] <= number <= reached]
    found, gaps = load([path])
    assert sum("was killed" in gap for gap in gaps) >= 40
    assert not any("410" in gap for gap in gaps)
    assert found.moments


def test_the_same_change_is_kept_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "drain.db")
    change = ObjectState("pods", "u", "p", "7", "ADDED", 1.0, 1.0, b"{}")
    assert store.add([change, change], "pods", "7") == 1
    assert store.add([change], "pods", "7") == 0
    store.close()


def test_what_is_no_recording_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    assert is_database(tmp_path / "x.db")
    with pytest.raises(FormatError):
        load([tmp_path / "x.db"])
    with pytest.raises(SourceUnavailable):
        Store(tmp_path / "none" / "x.db")
