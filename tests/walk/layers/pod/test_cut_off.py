"""A backend that a connection does not reach, on a node that takes no command either: the node is named as a cause."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from svcpath.api import diagnose
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, Trouble, unreadable
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports import records
from tests.fixtures.cluster import cluster
from tests.fixtures.objects import pod


class Unread:
    """Evidence in which the look at web-2's sockets ended with ``trouble``, as on a running cluster."""

    def __init__(self, outcome: str, trouble: Trouble | None) -> None:
        made = cluster()
        made.add(pod("client", ("10.244.1.50",), labels={"app": "client"}, node="w1"))
        rows = [
            {"client": "shop/client", "port": 8080, "host": "10.244.1.11", "outcome": "ok", "status": 200},
            {"client": "shop/client", "port": 8080, "host": "10.244.2.12", "outcome": outcome},
        ]
        made.files["client.attempts.json"] = json.dumps({"schema": "svcpath.attempts/v1", "attempts": rows})
        self.held = BytesSource(made.settle().evidence())
        self.trouble = trouble

    def observe(self, needs: Sequence[Need]) -> list[tuple[Observation[Any], ...]]:
        return [self._cut(need) or self.held.observe([need])[0] for need in needs]

    def _cut(self, need: Need) -> tuple[Observation[Any], ...]:
        if self.trouble is None or need.kind is not Kind.SOCKETS or need.pod != "shop/web-2":
            return ()
        where = Provenance(source="kube", command="kubectl -n shop exec web-2 -- cat /proc/net/tcp", pod=need.pod)
        return (unreadable(need.kind, self.trouble, where),)


def _found(outcome: str, trouble: Trouble | None) -> records.Finding:
    report = diagnose(Unread(outcome, trouble), "svc/web", namespace="shop", client="pod/client")
    assert report.verdict.status == "fault", report.verdict
    return next(found for found in report.findings if found.code == report.verdict.code)


@pytest.mark.parametrize(
    "why",
    [
        "the command did not end in 15 s",
        "the command did not end in 1 s, and an earlier one on node w2 gave nothing in 15 s",
        "the API server does not reach the kubelet at 10.0.0.12:10250: i/o timeout",
    ],
)
@pytest.mark.parametrize("outcome", ["timeout", "no-route"])
def test_the_node_is_supported_as_a_cause_and_one_command_decides(outcome: str, why: str) -> None:
    rival = _found(outcome, Trouble(Reason.UNREACHED, why)).hypotheses[1]
    assert (rival.confidence, rival.cause.partition(" is ")[0]) == ("supported", "node w2")
    assert [shown.sentence for shown in rival.supports] == [
        "no connection to 10.244.2.12 got through",
        f"a command in web-2 on node w2: {why}",
    ]
    assert rival.disproof == "kubectl -n shop exec web-2 -- true"


@pytest.mark.parametrize("reason", [None, Reason.DENIED, Reason.NOT_ALLOWED])
def test_a_node_that_was_not_asked_or_answered_is_not_named(reason: Reason | None) -> None:
    trouble = Trouble(reason, "the API server does not reach the kubelet, one could think") if reason else None
    assert not [
        hypothesis for hypothesis in _found("timeout", trouble).hypotheses if hypothesis.cause.startswith("node ")
    ]


def test_a_refusal_comes_from_somebody_so_the_node_is_not_named() -> None:
    found = _found("refused", Trouble(Reason.UNREACHED, "the command did not end in 15 s"))
    assert not [hypothesis for hypothesis in found.hypotheses if hypothesis.cause.startswith("node ")]
