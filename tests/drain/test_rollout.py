"""`rollout wait` ends when old Pods are gone, not when the counters say complete."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from svcpath.drain import rollout
from svcpath.drain.transport import KubectlTransport
from svcpath.errors import UnknownTarget

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


class Scripted(KubectlTransport):
    """kubectl whose answers change at every look at the Deployment."""

    def __init__(self, looks: list[tuple[int, list[dict[str, Any]]]], exec_error: str = "") -> None:
        super().__init__()
        self.looks = looks
        self.at = -1
        self.exec_error = exec_error

    def run(
        self, *arguments: str, stdin: bytes | None = None, timeout: float = 60.0
    ) -> subprocess.CompletedProcess[bytes]:
        out, error = b"", b""
        if "deployment" in arguments:
            self.at = min(self.at + 1, len(self.looks) - 1)
            out = json.dumps(_deployment(self.looks[self.at][0])).encode()
        elif "pods" in arguments:
            out = json.dumps({"items": self.looks[self.at][1]}).encode()
        elif "replicasets" in arguments:
            out = json.dumps({"items": SETS}).encode()
        elif "exec" in arguments:
            out, error = (b"", self.exec_error.encode()) if self.exec_error else (TCP.encode(), b"")
        return subprocess.CompletedProcess(arguments, 1 if error else 0, out, error)


NEW, OLD, LEAVING = _pod("new", "r2"), _pod("old", "r1"), _pod("old", "r1", leaving=True)
LOOKS = [(0, [NEW, OLD]), (1, [NEW, LEAVING]), (1, [NEW, LEAVING]), (1, [NEW])]


def _wait(kubectl: Scripted, timeout: float = 60) -> rollout.Over:
    return rollout.wait(kubectl, "shop", "web", timeout=timeout, say=lambda text: None, every=0.01)


def test_it_goes_on_beyond_complete_until_the_old_pod_is_gone() -> None:
    found = _wait(Scripted(LOOKS))
    assert found.reported is not None
    assert found.pods_gone is not None
    assert found.reported < found.pods_gone
    assert (found.over, found.observed, found.most_connections) == (True, True, 1)


def test_a_pod_that_can_not_be_looked_into_is_not_observed() -> None:
    found = _wait(Scripted(LOOKS, 'Error from server (Forbidden): pods "old" is forbidden'))
    assert (found.over, found.observed, found.connections_gone) == (True, False, None)
    assert "forbidden" in found.why


def test_a_container_that_has_ended_has_no_connections_left() -> None:
    found = _wait(Scripted(LOOKS, 'error: unable to upgrade connection: container not found ("app")'))
    assert (found.over, found.observed, found.most_connections) == (True, True, 0)


def test_pods_that_stay_are_named_when_the_time_is_used_up() -> None:
    found = _wait(Scripted(LOOKS[:2]), timeout=0.05)
    assert (found.over, found.left) == (False, ("old",))


def test_a_deployment_that_is_not_there_is_a_wrong_target() -> None:
    class Missing(Scripted):
        def run(self, *arguments: str, stdin: bytes | None = None, timeout: float = 60.0) -> Any:
            return subprocess.CompletedProcess(arguments, 1, b"", b'Error from server (NotFound): "web" not found')

    with pytest.raises(UnknownTarget):
        _wait(Missing(LOOKS))
