"""A recording is read as it is: nothing of it changes, and what is no recording is called so."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from svcpath.cli.app import run
from svcpath.drain.store import ObjectState, Store
from svcpath.errors import FormatError

ZERO = 1767225600.0  # 2026-01-01T00:00:00Z


def _pod(version: int, *, deleted: bool, code: int | None = None) -> bytes:
    metadata = {"name": "a", "namespace": "shop", "uid": "u", "resourceVersion": str(version)}
    if deleted:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:20Z", "deletionGracePeriodSeconds": 20}  # type: ignore[dict-item]
    ended = [{"name": "app", "state": {"terminated": {"exitCode": code, "finishedAt": "2026-01-01T00:00:10Z"}}}]
    status = {"phase": "Running", "containerStatuses": ended if code is not None else []}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}).encode()


def _recording(path: Path, *, whole: bool = True) -> Path:
    store = Store(path)
    store.begin(0.0)
    bodies = [_pod(1, deleted=False), _pod(2, deleted=True), *([_pod(3, deleted=True, code=0)] if whole else [])]
    for number, body in enumerate(bodies, 1):
        kind = "LISTED" if number == 1 else "MODIFIED"
        at = ZERO + (number - 2) * 5 + 0.1
        store.add([ObjectState("pods", "u", "a", str(number), kind, at, at, body)], "pods", str(number))
    store.end()
    store.close()
    return path


def test_reading_changes_nothing_and_leaves_nothing_beside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _recording(tmp_path / "drain.db")
    before = path.read_bytes()
    path.chmod(0o444)
    assert run(["drain", "timeline", "show", str(path)]) == 0
    assert run(["drain", "timeline", "export", str(path)]) == 0
    assert "DRAINED" in capfd.readouterr().out
    assert (path.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (before, ["drain.db"])


def test_a_recording_under_way_is_read_with_what_is_still_in_its_log(tmp_path: Path) -> None:
    path = tmp_path / "drain.db"
    store = Store(path)
    store.remark("client", "hello", ZERO)
    reader = Store(path, reading=True)
    assert [remark.text for remark in reader.remarks()] == ["hello"]
    reader.close()
    store.close()


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_database_of_something_else_is_left_alone(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE orders (id INTEGER)")
    db.close()
    before = path.read_bytes()
    assert run(["drain", "timeline", command, str(path)]) == 4
    assert "something else" in capfd.readouterr().err
    with pytest.raises(FormatError):
        Store(path)
    assert path.read_bytes() == before


def _changed(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        db = sqlite3.connect(path)
        db.executescript(sql)
        db.close()

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_changed("DROP TABLE connections; CREATE TABLE connections (source TEXT)"), "has no"),
        (_changed("DROP TABLE gaps"), "has no"),
        (_changed("UPDATE meta SET value = '0'"), "version 0"),
        (_changed("UPDATE events SET body = 'text', wall = 'x' WHERE id = 2"), "damaged"),
        (_changed("UPDATE events SET body = x'7b7b' WHERE id = 2"), "event 2"),
        (lambda path: path.write_bytes(path.read_bytes()[:4096]), "malformed"),
        (lambda path: path.write_bytes(b""), "no recording"),
        (lambda path: path.write_bytes(b"hello"), "no recording"),
    ],
)
def test_a_damaged_recording_says_what_is_wrong_with_it(
    damage: Callable[[Path], None], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = _recording(tmp_path / "drain.db")
    damage(path)
    for command in ("show", "export"):
        assert run(["drain", "timeline", command, str(path)]) == 4
        error = capfd.readouterr().err
        assert message in error
        assert "drain.db" in error


def test_a_recording_that_ends_before_its_pod_does_is_not_called_drained(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["drain", "timeline", "show", str(_recording(tmp_path / "half.db", whole=False))]) == 3
    shown = capfd.readouterr().out
    assert "NOT OVER" in shown
    assert "DRAINED" not in shown
