"""diagnose is asked as a user would: a target, and a recording or a kubeconfig; nothing that gives the fault away."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from svcpath.reports.score import Diagnosed
from svcpath_lab import command
from svcpath_lab.command import Completed
from svcpath_lab.errors import LabError
from svcpath_lab.faults import make
from svcpath_lab.faults.fault import Expect, Fault, FaultTarget
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import Provider
from svcpath_lab.score import ask
from svcpath_lab.score import run as score_run
from svcpath_lab.score.run import Run

SAID = {"verdict": {"status": "fault", "layer": "endpoints", "code": "SP301", "confidence": "proven", "summary": "s"}}
FAULT = Fault(about="a typo", name="selector-typo", expect=Expect(layer="endpoints", codes=("SP301",)), settle=0)


class _Cluster:
    images: ClassVar[dict[str, str]] = {"tools": "t", "client": "c"}

    def __init__(self, context: str = "") -> None:
        self.context = context

    def kubectl(self) -> Kubectl:
        return Kubectl(Path("/bin/true"), Path("/lab/kubeconfig"), self.context)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    """What was started, with its options; every command says the same report."""
    calls: list[tuple[list[str], dict[str, Any]]] = []

    def run(argv: Sequence[str | Path], **options: Any) -> Completed:
        words = [str(word) for word in argv]
        calls.append((words, options))
        return Completed(tuple(words), 1, json.dumps(SAID), "")

    monkeypatch.setattr(command, "run", run)
    return calls


def _ground(context: str = "") -> Ground:
    made = _Cluster(context)
    return Ground(cast(Provider, made), made.kubectl(), FaultScene.draw(random.Random(5)))


def test_the_cluster_is_given_by_kubeconfig_and_context_alone(
    asked: list[tuple[list[str], dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/somebody/config")
    monkeypatch.setenv("SVCPATH_TEST_LAB", "lab")
    ground = _ground("kind-x")
    given = ask.on_cluster(ground, FAULT)
    assert (given.status, given.layer, given.code, given.confidence) == ("fault", "endpoints", "SP301", "proven")
    ((words, options),) = asked
    scene = ground.scene
    assert words[3:] == [
        *("diagnose", f"svc/{scene.service}", "-n", scene.namespace, "--from", f"pod/{scene.client}"),
        *("--kubeconfig", "/lab/kubeconfig", "--context", "kind-x", "-o", "json"),
    ]
    assert not {name for name in options["environment"] if name.startswith(("SVCPATH_", "KUBECONFIG"))}
    assert "selector" not in " ".join(words)


def test_a_recording_is_given_by_its_folder_and_the_targets_own_options(
    asked: list[tuple[list[str], dict[str, Any]]],
) -> None:
    ground = _ground()
    target = FaultTarget(service="other", client="node/w1", port="<port_text>", lookup="<service>.x", resolver="musl")
    ask.on_recording(ground, Fault(about="", expect=Expect(layer="ports"), target=target), Path("/evidence"))
    ((words, _),) = asked
    assert "--kubeconfig" not in words
    assert words[words.index("--from") + 1] == "node/w1"
    assert words[words.index("--evidence") + 1] == "/evidence"
    assert words[words.index("--port") + 1] == str(ground.scene.port)
    assert words[words.index("--lookup") + 1] == f"{ground.scene.service}.x"
    assert words[words.index("--resolver") + 1] == "musl"


def test_a_diagnosis_that_breaks_off_is_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Completed(("svcpath",), 70, "", "Traceback\nKeyError: x\n")
    monkeypatch.setattr(command, "run", lambda argv, **options: broken)
    given = ask.on_cluster(_ground(), FAULT)
    assert (given.status, given.summary) == ("error", "exit 70: KeyError: x")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, asked: list[tuple[list[str], dict[str, Any]]]) -> list[str]:
    """A run whose scene and recording cost nothing; what is done, in order."""
    done: list[str] = []
    del asked
    on_cluster = ask.on_cluster

    def undo(ground: Ground, fault: Fault) -> list[str]:
        done.append("undo")
        return []

    def live(ground: Ground, fault: Fault) -> Diagnosed:
        done.append("live")
        return on_cluster(ground, fault)

    monkeypatch.setattr(make, "stand", lambda ground, fault, lab: done.append("stand"))
    monkeypatch.setattr(make, "undo", undo)
    monkeypatch.setattr(score_run, "record", lambda *words: done.append("record"))
    monkeypatch.setattr(ask, "on_cluster", live)
    return done


def _run(evidence: tuple[str, ...] = ask.EVIDENCE, until: float | None = None) -> Run:
    made = cast(Provider, _Cluster())
    return Run(made, "lab", "nftables", random.Random(1), lambda line: None, evidence=evidence, until=until)


def test_a_fault_is_judged_on_both_kinds_of_evidence_the_live_one_while_it_stands(stage: list[str]) -> None:
    rows = _run().rows([FAULT])
    assert [(row.evidence, row.mark) for row in rows] == [("recorded", "right"), ("live", "right")]
    assert stage == ["stand", "record", "live", "undo"]


@pytest.mark.parametrize("kind", ask.EVIDENCE)
def test_one_kind_of_evidence_alone_takes_no_look_of_the_other(stage: list[str], kind: str) -> None:
    rows = _run(evidence=(kind,)).rows([FAULT])
    assert [row.evidence for row in rows] == [kind]
    assert ("record" in stage, "live" in stage) == (kind == "recorded", kind == "live")


def test_a_fault_that_breaks_off_is_undone_and_named_and_the_next_is_made(
    stage: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stand(ground: Ground, fault: Fault, lab: str) -> None:
        if fault.name == "bad":
            raise LabError("no room")

    monkeypatch.setattr(make, "stand", stand)
    run = _run()
    rows = run.rows([Fault(about="", name="bad", expect=Expect(layer="pod")), FAULT])
    assert [row.fault for row in rows] == ["selector-typo", "selector-typo"]
    assert run.not_made == {"bad": "no room"}
    assert stage[0] == "undo"


def test_after_its_time_a_run_begins_no_fault_and_names_what_it_left_out(stage: list[str]) -> None:
    run = _run(until=time.monotonic() - 1)
    assert run.rows([FAULT]) == ()
    assert run.not_made == {"selector-typo": "no time was left"}
    assert stage == []
