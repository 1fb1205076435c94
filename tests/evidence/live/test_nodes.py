"""Nodes: looked at through what is there, and through a Pod of one's own only with leave, which never stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.sources.kube import ClusterSource, Options
from svcpath.evidence.sources.kube_client import Access
from svcpath.evidence.sources.until_fault import UntilFault
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api, serving

NFT = Need(Kind.NFT_LIST, node="w1", cost=Cost.EXEC)


@pytest.fixture
def bare(scripted: Api) -> Api:
    """A cluster without agents."""
    scripted.objects = [obj for obj in scripted.objects if not obj["metadata"]["name"].startswith("kube-proxy")]
    return scripted


@pytest.fixture
def with_leave(bare: Api, tmp_path: Path) -> Iterator[ClusterSource]:
    with (
        serving(bare),
        ClusterSource(Access(kubeconfig=bare.kubeconfig(tmp_path), timeout=20), Options(node_image="tools")) as source,
    ):
        yield source


def test_the_nodes_table_comes_through_its_kube_proxy_in_one_exec(scripted: Api, source: Source) -> None:
    needs = [Need(kind, node="w1", cost=Cost.EXEC) for kind in (Kind.NFT_LIST, Kind.SYSCTL, Kind.HAIRPIN_MODE)]
    with source(scripted) as cluster:
        found = cluster.observe(needs)
    assert [observed[0].state for observed in found] == [State.PRESENT] * 3
    assert {observed[0].provenance.node for observed in found} == {"w1"}
    assert len(scripted.execs) == 1


def test_without_an_agent_and_without_leave_nothing_is_added(bare: Api, source: Source) -> None:
    with source(bare) as cluster:
        found = cluster.observe([NFT])[0][0]
    assert found.state is State.UNREADABLE
    assert "--allow-node-pod" in found.why
    assert bare.jobs == []


def test_with_leave_a_pod_shows_the_node_and_is_gone_afterwards(bare: Api, with_leave: ClusterSource) -> None:
    assert with_leave.observe([NFT])[0][0].state is State.PRESENT
    assert len(bare.jobs) == 1
    assert bare.jobs[0]["spec"]["template"]["spec"]["nodeName"] == "w1"
    assert not any("job-name" in (obj["metadata"].get("labels") or {}) for obj in bare.objects)
    assert with_leave.added


def test_the_pod_ends_by_itself_and_holds_no_token(bare: Api, with_leave: ClusterSource) -> None:
    with_leave.observe([NFT])
    spec = bare.jobs[0]["spec"]
    assert spec["activeDeadlineSeconds"] <= 300
    assert spec["ttlSecondsAfterFinished"] == 0
    assert spec["template"]["spec"]["automountServiceAccountToken"] is False


@pytest.mark.parametrize("trouble", ["forbidden", "cut"])
def test_the_pod_is_removed_when_the_look_fails(bare: Api, with_leave: ClusterSource, trouble: str) -> None:
    bare.exec_trouble = trouble
    with_leave.observe([NFT])
    assert any(method == "DELETE" for method, _ in bare.seen)
    assert not any("job-name" in (obj["metadata"].get("labels") or {}) for obj in bare.objects)


def test_connections_can_start_from_a_node(scripted: Api, source: Source) -> None:
    for name in [name for name in scripted.looks if name.startswith("kube-proxy")]:
        scripted.looks[name]["dial"] = ("python3\nARGUMENTS\n", 0)
    need = Need(Kind.ATTEMPTS, node="w2", cost=Cost.PROBE, about=("tcp://10.0.0.1:80",) * 2)
    with source(scripted) as cluster:
        found = cluster.observe([need])[0][0]
    assert [attempt.client for attempt in found.fact.attempts] == ["node/w2"] * 2


class _Flaky:
    """Fails in the third round."""

    def __init__(self) -> None:
        self.rounds = 0
        self.forgotten = False

    def observe(self, needs: Sequence[Need]) -> list[tuple[Observation[Any], ...]]:
        self.rounds += 1
        outcome = "timeout" if self.rounds == 3 else "ok"
        attempt = Attempt(client="a/b", host="10.0.0.1", port=80, outcome=outcome, source_port=40000 + self.rounds)
        return [
            (Observation(need.kind, State.PRESENT, Attempts(attempts=(attempt,), repeated=True)),) for need in needs
        ]

    def forget_nodes(self) -> None:
        self.forgotten = True


def test_until_fault_keeps_the_round_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcpath.evidence.sources.until_fault.PAUSE", 0.0)
    flaky = _Flaky()
    source = UntilFault(cast(ClusterSource, flaky), 60.0)
    need = Need(Kind.ATTEMPTS, pod="a/b", cost=Cost.PROBE, about=("tcp://10.0.0.1:80",))
    (found,) = source.observe([need])
    assert (source.rounds, source.tried, source.failed, flaky.forgotten) == (3, 3, True, True)
    assert found[0].fact.attempts[0].source_port == 40003


def test_until_fault_repeats_nothing_but_connections() -> None:
    flaky = _Flaky()
    UntilFault(cast(ClusterSource, flaky), 60.0).observe([Need(Kind.SERVICE)])
    assert flaky.rounds == 1
