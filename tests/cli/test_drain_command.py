"""`svcpath drain watch` against a scripted API server: what it records is shown again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svcpath.cli.app import run
from svcpath.models.drain.semantics import semantics
from tests.drain.test_recorder import serving
from tests.fixtures.scripted_api import Script, play


def test_a_watched_namespace_is_recorded_and_exported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script, db = Script(7), tmp_path / "drain.db"
    with serving(script) as server:
        play(script, 10**6, 0.01)
        code = run(
            ["drain", "watch", "svc/web", "-n", "shop", "--db", str(db), "--api-url", server.url, "--duration", "1"]
        )
    assert code == 0
    capfd.readouterr()
    assert run(["drain", "timeline", "show", str(db)]) == 3
    capfd.readouterr()
    assert run(["drain", "timeline", "export", str(db)]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {"pod"} <= {row["kind"] for row in rows}


def test_an_api_server_that_is_not_there_is_exit_four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcpath.drain.recorder.DrainRecorder.start.__defaults__", (0.3,))
    assert run(["drain", "watch", "svc/web", "--db", str(tmp_path / "x.db"), "--api-url", "http://127.0.0.1:9"]) == 4


def test_wrong_targets_are_usage_errors(tmp_path: Path) -> None:
    assert run(["drain", "watch", "web", "--db", str(tmp_path / "x.db")]) == 2
    assert run(["rollout", "wait", "svc/web"]) == 2
    assert run(["drain", "timeline", "export", "--format", "xml", str(tmp_path)]) == 2


def test_every_protocol_says_what_finished_means_and_what_has_to_be_capped() -> None:
    assert {"http-keep-alive", "grpc", "websocket", "database-session", "message-consumer"} <= set(semantics())
    assert all(entry.finished and entry.cap and entry.unbounded for entry in semantics().values())
