"""A client whose node no command reaches: nothing that was seen of others becomes a verdict about its connections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from svcpath.api import diagnose
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, Trouble, unreadable
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.records import Report
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod

LATE = Trouble(Reason.UNREACHED, "the command did not end in 15 s")
CLIENT_KINDS = (Kind.RESOLV_CONF, Kind.HOSTS, Kind.NSSWITCH_CONF, Kind.ENVIRONMENT, Kind.RUNTIME, Kind.LOOKUPS)


class Cut:
    """Evidence in which every look into the client ends with ``trouble``, as on a running cluster."""

    def __init__(self, made: Cluster, trouble: Trouble) -> None:
        self.held = BytesSource(made.evidence())
        self.trouble = trouble

    def observe(self, needs: Sequence[Need]) -> list[tuple[Observation[Any], ...]]:
        return [self._cut(need) or self.held.observe([need])[0] for need in needs]

    def _cut(self, need: Need) -> tuple[Observation[Any], ...]:
        if need.kind not in CLIENT_KINDS or need.pod != "shop/client":
            return ()
        where = Provenance(source="kube", command="kubectl -n shop exec client -- cat /etc/resolv.conf", pod=need.pod)
        return (unreadable(need.kind, self.trouble, where),)


def _diagnosed(trouble: Trouble, *, sick: bool = True, sockets: bool = True) -> Report:
    """The client and web-1 on w1, web-2 on w2; web-1 is not ready where ``sick``."""
    made = cluster()
    made.add(pod("client", ("10.244.1.50",), labels={"app": "client"}, node="w1"))
    if sick:
        status = made.get("Pod", "web-1")["status"]
        status["conditions"] = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]
        status["containerStatuses"][0]["ready"] = False
    if not sockets:
        made.sockets = {}
    return diagnose(Cut(made.settle(), trouble), "svc/web", namespace="shop", client="pod/client")


@pytest.mark.parametrize(
    "why",
    [
        "the command did not end in 15 s",
        "HTTP 502: it does not reach the kubelet of the Pod's node",
        "the API server does not reach the kubelet at 172.30.0.13:10250: dial tcp 172.30.0.13:10250: i/o timeout",
    ],
)
@pytest.mark.parametrize("sick", [True, False])
def test_a_node_that_no_command_reaches_leaves_the_verdict_open_and_says_what_to_see(why: str, sick: bool) -> None:
    report = _diagnosed(Trouble(Reason.UNREACHED, why), sick=sick)
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == ("inconclusive", None, "SP624")
    found = next(found for found in report.findings if found.code == "SP624")
    assert "node w1" in found.sentence
    causes = [hypothesis.cause for hypothesis in found.hypotheses]
    assert "connection tracking" in causes[0]
    assert found.hypotheses[0].disproof is not None
    assert "nf_conntrack_count" in found.hypotheses[0].disproof
    assert {hypothesis.confidence for hypothesis in found.hypotheses} == {"possible"}
    assert ("not ready" in found.sentence) is sick


@pytest.mark.parametrize("reason", [Reason.DENIED, Reason.NOT_ALLOWED])
def test_a_look_that_was_not_allowed_says_nothing_of_the_node(reason: Reason) -> None:
    report = _diagnosed(Trouble(reason, "no right to exec in Pods"))
    assert (report.verdict.status, report.verdict.code) == ("warning", "SP314")


def test_where_no_command_works_anywhere_the_node_is_not_singled_out() -> None:
    assert "SP624" not in {found.code for found in _diagnosed(LATE, sockets=False).findings}
