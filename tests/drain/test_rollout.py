"""`rollout wait` ends when old Pods are gone, not when the counters say complete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from svcpath.drain import rollout
from svcpath.errors import UnknownTarget
from svcpath.evidence.facts.observation import Reason, Trouble
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_exec import Executed

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000 100 0 0 10 0
   1: 0101F40A:1F90 0202F40A:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:9C41 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0000000000000000 20 4 30 10 -1
"""


def _deployment(updated: int) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "web",
            "uid": "d",
            "generation": 2,
            "annotations": {"deployment.kubernetes.io/revision": "2"},
        },
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"observedGeneration": 2, "replicas": 1, "updatedReplicas": updated, "availableReplicas": updated},
    }


def _pod(name: str, owner: str, *, leaving: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "ownerReferences": [{"uid": owner, "controller": True}]}
    if leaving:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    return {"metadata": metadata, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Running"}}


SETS = [
    {
        "metadata": {
            "uid": f"r{revision}",
            "ownerReferences": [{"uid": "d"}],
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
        }
    }
    for revision in (1, 2)
]


class Scripted:
    """A cluster whose answers change at every look at the Deployment."""

    def __init__(
        self, looks: list[tuple[int, list[dict[str, Any]]]], exec_error: ApiTrouble | Trouble | None = None
    ) -> None:
        self.looks = looks
        self.at = -1
        self.exec_error = exec_error

    def get(self, path: str) -> bytes:
        if "/deployments/" in path:
            self.at = min(self.at + 1, len(self.looks) - 1)
            return json.dumps(_deployment(self.looks[self.at][0])).encode()
        assert path.endswith("?labelSelector=app%3Dweb")
        return json.dumps({"items": self.looks[self.at][1] if "/pods" in path else SETS}).encode()

    def execute(self, namespace: str, pod: str, container: str, command: Sequence[str], seconds: float) -> Executed:
        if isinstance(self.exec_error, ApiTrouble):
            raise self.exec_error
        return Executed(b"" if self.exec_error else TCP.encode(), b"", None if self.exec_error else 0, self.exec_error)


NEW, OLD, LEAVING = _pod("new", "r2"), _pod("old", "r1"), _pod("old", "r1", leaving=True)
LOOKS = [(0, [NEW, OLD]), (1, [NEW, LEAVING]), (1, [NEW, LEAVING]), (1, [NEW])]


def _wait(cluster: Scripted, timeout: float = 60) -> rollout.Over:
    return rollout.wait(cluster, "shop", "web", timeout=timeout, say=lambda text: None, every=0.01)


def test_it_goes_on_beyond_complete_until_the_old_pod_is_gone() -> None:
    found = _wait(Scripted(LOOKS))
    assert found.reported is not None
    assert found.pods_gone is not None
    assert found.reported < found.pods_gone
    assert (found.over, found.observed, found.most_connections) == (True, True, 1)


def test_a_pod_that_can_not_be_looked_into_is_not_observed() -> None:
    found = _wait(Scripted(LOOKS, ApiTrouble('forbidden: pods "old" is forbidden', status=403)))
    assert (found.over, found.observed, found.connections_gone) == (True, False, None)
    assert "forbidden" in found.why


@pytest.mark.parametrize(
    "ended",
    [
        ApiTrouble("not found", status=404),
        ApiTrouble("cannot exec in a completed pod", status=400),
        Trouble(Reason.FAILED, 'unable to upgrade connection: container not found ("app")'),
    ],
    ids=["the Pod is gone", "the Pod is complete", "the container is gone"],
)
def test_a_container_that_has_ended_has_no_connections_left(ended: ApiTrouble | Trouble) -> None:
    found = _wait(Scripted(LOOKS, ended))
    assert (found.over, found.observed, found.most_connections) == (True, True, 0)


def test_pods_that_stay_are_named_when_the_time_is_used_up() -> None:
    found = _wait(Scripted(LOOKS[:2]), timeout=0.05)
    assert (found.over, found.left) == (False, ("old",))


def test_a_deployment_that_is_not_there_is_a_wrong_target() -> None:
    class Missing(Scripted):
        def get(self, path: str) -> bytes:
            raise ApiTrouble("not found", status=404)

    with pytest.raises(UnknownTarget):
        _wait(Missing(LOOKS))
