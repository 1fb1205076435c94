"""A node whose kubelet is silent is waited for once, not once a look; the node beside it loses nothing by that."""

from __future__ import annotations

from typing import Any

import pytest

import svcpath
from svcpath.evidence.facts.observation import Reason, Trouble
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_exec import Executed
from svcpath.evidence.sources.kubelets import AGAIN, HARDLY, Kubelets
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api

LATE = Trouble(Reason.UNREACHED, "the command did not end in 15 s")
SILENT = Executed(b"", b"", None, LATE, silent=True)
FINE = Executed(b"text", b"", 0)


def on_two_nodes() -> Kubelets:
    kubelets = Kubelets()
    for pod, node in (("a/one", "w1"), ("a/two", "w1"), ("a/three", "w1"), ("a/far", "w2")):
        kubelets.place(pod, node)
    return kubelets


def test_a_node_is_given_less_time_after_one_silent_pod_and_hardly_any_after_two() -> None:
    kubelets = on_two_nodes()
    assert kubelets.patience("a/one", 15) == 15
    kubelets.answered("a/one", SILENT, 15)
    assert kubelets.patience("a/two", 15) == AGAIN
    kubelets.answered("a/one", SILENT, AGAIN)
    assert kubelets.patience("a/two", 15) == AGAIN, "the same Pod again says nothing more of its node"
    kubelets.answered("a/two", SILENT, AGAIN)
    assert kubelets.patience("a/three", 15) == HARDLY
    assert kubelets.patience("a/far", 15) == 15


def test_an_answer_clears_the_node() -> None:
    kubelets = on_two_nodes()
    kubelets.answered("a/one", SILENT, 15)
    kubelets.answered("a/two", FINE, AGAIN)
    assert kubelets.patience("a/one", 15) == 15


def test_a_command_that_said_something_and_did_not_end_is_no_silent_node() -> None:
    kubelets = on_two_nodes()
    kubelets.answered("a/one", Executed(b"half", b"", None, LATE), 15)
    assert kubelets.patience("a/two", 15) == 15


@pytest.mark.parametrize(("status", "time"), [(500, AGAIN), (502, AGAIN), (0, AGAIN), (403, 15), (404, 15)])
def test_what_the_api_server_says_itself_is_not_the_kubelet_s_silence(status: int, time: float) -> None:
    kubelets = on_two_nodes()
    kubelets.failed("a/one", ApiTrouble("no", status=status), 15)
    assert kubelets.patience("a/two", 15) == time


def test_a_shorter_wait_says_what_it_rests_on() -> None:
    kubelets = on_two_nodes()
    assert kubelets.answered("a/one", SILENT, 15).trouble == SILENT.trouble
    short = Executed(b"", b"", None, Trouble(Reason.UNREACHED, "the command did not end in 5 s"), silent=True)
    asked = kubelets.answered("a/two", short, AGAIN).trouble
    assert asked == Trouble(
        Reason.UNREACHED, "the command did not end in 5 s, and an earlier one on node w1 gave nothing in 15 s"
    )


def test_a_run_waits_for_a_silent_node_once(scripted: Api, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [obj for obj in scripted.objects if obj["kind"] == "Pod"]
    backend = next(pod for pod in pods if pod["metadata"]["name"].startswith("echo-server"))
    node = backend["spec"]["nodeName"]
    there = {pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName") == node} - {"client"}
    scripted.silent = frozenset(there)
    given: list[tuple[str, float, bool]] = []
    ended: list[str] = []
    execute = KubeClient.execute

    async def quickly(
        self: KubeClient, namespace: str, pod: str, *words: Any, seconds: float = 15.0, **named: Any
    ) -> Executed:
        given.append((pod, seconds, bool(ended)))
        try:
            return await execute(self, namespace, pod, *words, seconds=0.3 if pod in there else seconds, **named)
        finally:
            ended.extend([pod] if pod in there else [])

    monkeypatch.setattr(KubeClient, "execute", quickly)
    with source(scripted) as cluster:
        report = svcpath.diagnose(cluster, "svc/wrong-port", namespace="service-ops", client="pod/client")
    # Looks that begin side by side wait side by side; none begins to wait as long once one has got nothing.
    whole = [known for pod, seconds, known in given if pod in there and seconds > AGAIN]
    assert whole, given
    assert not any(whole), given
    assert report.verdict.code == "SP403", "the Pod of the other node still tells"
