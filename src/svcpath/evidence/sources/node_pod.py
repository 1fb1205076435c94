"""A short-lived Pod on a node's network, for clusters without an agent Pod to look through. Only with --allow-node-pod.

It belongs to a Job that ends after LIFETIME seconds and is removed with its Pod when it ends (ttlSecondsAfterFinished 0), so
that nothing stays even when this process is killed or its connection lost; on every other way out it is deleted at once.
It gets NET_ADMIN, which reading rules takes, and no token.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.formats.kubernetes import read_page
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient

NAMESPACE = "kube-system"
#: Seconds after which the Job ends by itself.
LIFETIME = 120
_START = 30.0
RULE = 'the rule: {apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "delete"]} in namespace kube-system'


class NodePod(msgspec.Struct, frozen=True):
    """The Pod while it is there."""

    pod: str
    container: str


@asynccontextmanager
async def node_pod(client: KubeClient, node: str, image: str) -> AsyncIterator[NodePod]:
    """Run the Pod for the time of the block. Raises ApiTrouble with the reason when it does not start."""
    name = f"svcpath-{secrets.token_hex(4)}"
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
    try:
        await client.request("POST", path, body=msgspec.json.encode(_job(name, node, image)))
    except ApiTrouble as error:
        if error.status == 403:
            raise ApiTrouble(f"forbidden: no right to create jobs.batch; {RULE}", status=403) from error
        raise
    try:
        yield NodePod(f"{NAMESPACE}/{await _running(client, name)}", "look")
    finally:
        client.extend(10)
        removal = asyncio.ensure_future(
            client.request("DELETE", f"{path}/{name}", [("propagationPolicy", "Background")])
        )
        # What can't be deleted now ends by its own deadline.
        with contextlib.suppress(ApiTrouble):
            await asyncio.shield(removal)


async def _running(client: KubeClient, name: str) -> str:
    query = [("labelSelector", f"job-name={name}")]
    deadline = asyncio.get_running_loop().time() + min(_START, client.remaining())
    why = "it was not scheduled"
    while asyncio.get_running_loop().time() < deadline:
        try:
            page = read_page(await client.get(f"/api/v1/namespaces/{NAMESPACE}/pods", query))
        except FormatError as error:
            raise ApiTrouble(f"the node Pod's state can't be read: {error}") from error
        for item in page.items:
            pod = item.value
            if isinstance(pod, api.Pod):
                if pod.status.phase == "Running":
                    return pod.name
                why = _waiting(pod) or f"it is {pod.status.phase}"
        await asyncio.sleep(0.3)
    raise ApiTrouble(f"the node Pod did not start in {_START:.0f} s: {why}")


def _waiting(pod: api.Pod) -> str:
    for status in pod.status.container_statuses or ():
        if status.state is not None and status.state.waiting is not None:
            return f"{status.state.waiting.reason}: {status.state.waiting.message or ''}".strip(": ")
    return ""


def _job(name: str, node: str, image: str) -> dict[str, Any]:
    container = {
        "name": "look",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", str(LIFETIME)],
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN", "NET_RAW"]},
        },
        "resources": {"limits": {"memory": "128Mi"}},
    }
    spec = {
        "nodeName": node,
        "hostNetwork": True,
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    labels = {"app.kubernetes.io/managed-by": "svcpath"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "activeDeadlineSeconds": LIFETIME,
            "ttlSecondsAfterFinished": 0,
            "backoffLimit": 0,
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
