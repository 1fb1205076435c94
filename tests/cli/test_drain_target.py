"""`svcpath drain run --target`: it watches, acts only when asked to and confirmed, and refuses an outage."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from svcpath.cli.app import run
from svcpath.drain.target import selects
from tests.fixtures.scripted_deployment import Cluster, serving


def _run(url: str, tmp_path: Path, *words: str) -> int:
    fixed = ["drain", "run", "--target", "deploy/web", "-n", "shop", "--api-url", url, "--db", str(tmp_path / "r.db")]
    return run([*fixed, "--timeout", "20", *words])


def test_it_changes_nothing_and_answers_from_what_the_user_did(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster()

    def user() -> None:
        time.sleep(1.5)
        cluster.restart()

    with serving(cluster) as url:
        threading.Thread(target=user, daemon=True).start()
        code = _run(url, tmp_path)
    out = capfd.readouterr()
    assert (code, cluster.asked) == (0, [])
    assert "✔ 3." in out.out
    assert "every container ended by itself" in out.out
    assert out.out.count("not observed") >= 4
    assert "watching deploy/web" in out.err


def test_a_container_that_is_killed_fails_question_three(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster(exit_code=137, grace=1, leaves=2.2)
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "3", "--act", "--yes") == 1
    out = capfd.readouterr()
    assert "will delete Pod web-1, one of 2 ready Pods of deploy/web in namespace shop" in out.err
    assert "web-1/app was killed" in out.out


def test_a_kill_before_the_grace_period_is_over_is_another_matter(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(Cluster(exit_code=137, grace=30)) as url:
        assert _run(url, tmp_path, "--scenario", "3", "--act", "--yes") == 0
    assert "! 3." in (out := capfd.readouterr().out)
    assert "before its grace period of 30 s" in out


def test_with_act_one_pod_is_deleted_by_its_uid_and_no_other(tmp_path: Path) -> None:
    cluster = Cluster()
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "3", "--act", "--yes") == 0
    assert [(method, path) for method, path, _ in cluster.asked] == [("DELETE", "/api/v1/namespaces/shop/pods/web-1")]
    assert cluster.asked[0][2]["preconditions"] == {"uid": "p1"}


def test_a_restart_names_every_pod_that_goes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster()
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "7", "--act", "--yes") == 0
    assert [method for method, _, _ in cluster.asked] == ["PATCH"]
    assert "replaces web-1, web-2" in capfd.readouterr().err


def test_without_a_terminal_and_without_yes_nothing_is_done(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster()
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "2", "--act") == 2
    assert cluster.asked == []
    assert "--yes" in capfd.readouterr().err
    assert not (tmp_path / "r.db").exists()


@pytest.mark.parametrize(
    ("cluster", "scenario", "why"),
    [
        (lambda: Cluster(1), "2", "replicas is 1"),
        (lambda: Cluster(3, strategy={"type": "Recreate"}), "7", "Recreate"),
        (lambda: Cluster(2, strategy={"rollingUpdate": {"maxUnavailable": "100%"}}), "7", "all 2 Pods"),
        (lambda: Cluster(2, paused=True), "7", "paused"),
    ],
)
def test_an_outage_is_refused(
    cluster: Callable[[], Cluster], scenario: str, why: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = cluster()
    with serving(made) as url:
        assert _run(url, tmp_path, "--scenario", scenario, "--act", "--yes") == 2
    assert made.asked == []
    assert why in capfd.readouterr().err


@pytest.mark.parametrize(("allowed", "why"), [(0, "allows no disruption"), (None, "no status yet")])
def test_a_budget_that_allows_nothing_is_heeded_though_a_delete_goes_past_it(
    allowed: int | None, why: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster(3)
    cluster.budget(allowed)
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "2", "--act", "--yes") == 2
        assert why in capfd.readouterr().err
        assert cluster.asked == []
        assert _run(url, tmp_path, "--scenario", "3", "--act", "--yes", "--force") == 0
    assert len(cluster.asked) == 1


def test_a_budget_with_room_stands_in_no_way(tmp_path: Path) -> None:
    cluster = Cluster(3)
    cluster.budget(1)
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "3", "--act", "--yes") == 0


def test_a_watch_in_which_nothing_happens_is_undecided(tmp_path: Path) -> None:
    with serving(Cluster()) as url:
        assert _run(url, tmp_path, "--timeout", "1") == 3


def test_what_can_not_be_begun_or_found_is_a_usage_error(tmp_path: Path) -> None:
    with serving(Cluster()) as url:
        assert _run(url, tmp_path, "--scenario", "6", "--act", "--yes") == 2
        fixed = ["drain", "run", "--api-url", url, "-n", "shop", "--db", str(tmp_path / "x.db"), "--target"]
        assert run([*fixed, "deploy/other"]) == 2
        assert run([*fixed, "svc/web"]) == 2
    assert run(["drain", "run", "--act", "--lab", "none"]) == 2


def test_selectors_select_as_the_api_does() -> None:
    labels = {"app": "web", "tier": "front"}
    expressions = [
        ({"key": "app", "operator": "In", "values": ["web", "x"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["web"]}, False),
        ({"key": "other", "operator": "NotIn", "values": ["web"]}, True),
        ({"key": "tier", "operator": "Exists"}, True),
        ({"key": "tier", "operator": "DoesNotExist"}, False),
        ({"key": "tier", "operator": "Gt", "values": ["1"]}, False),
    ]
    for expression, fits in expressions:
        assert selects({"matchExpressions": [expression]}, labels) is fits
    assert selects({}, labels)
    assert not selects(None, labels)
    assert not selects({"matchLabels": {"app": "api"}}, labels)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code", "asked"), [("n\n", 2, 0), ("y\n", 0, 1)])
def test_on_a_terminal_it_asks_and_takes_no_for_an_answer(
    typed: str, code: int, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    monkeypatch.setattr("sys.stdin", _Terminal(typed))
    with serving(cluster) as url:
        assert _run(url, tmp_path, "--scenario", "3", "--act") == code
    assert len(cluster.asked) == asked
