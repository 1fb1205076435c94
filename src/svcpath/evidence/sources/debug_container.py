"""An ephemeral container beside one that has no shell. Only with --allow-debug-container.

It shares the Pod's network and, through targetContainerName, the target's processes. Kubernetes keeps ephemeral containers
in the Pod's spec for as long as the Pod lives: that can't be undone, and the report says so. It ends by itself.
"""

from __future__ import annotations

import asyncio
import secrets

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient

LIFETIME = 300
_START = 40.0
RULE = 'the rule: {apiGroups: [""], resources: ["pods/ephemeralcontainers"], verbs: ["patch"]}'


class _State(msgspec.Struct):
    running: msgspec.UnsetType | dict[str, str] | None = msgspec.UNSET
    waiting: dict[str, str] | None = None
    terminated: dict[str, object] | None = None


class _Container(msgspec.Struct):
    name: str = ""
    state: _State = msgspec.field(default_factory=_State)


class _Status(msgspec.Struct, rename="camel"):
    ephemeral_container_statuses: tuple[_Container, ...] = ()


class _Pod(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


async def attach(client: KubeClient, pod: str, target: str, image: str) -> str:
    """Add the container and wait until it runs; returns its name. Raises ApiTrouble with the reason."""
    namespace, _, name = pod.rpartition("/")
    container = f"svcpath-{secrets.token_hex(4)}"
    body = {
        "spec": {
            "ephemeralContainers": [
                {
                    "name": container,
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sleep", str(LIFETIME)],
                    "targetContainerName": target,
                    "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
                }
            ]
        }
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    try:
        await client.request(
            "PATCH",
            f"{path}/ephemeralcontainers",
            body=msgspec.json.encode(body),
            content_type="application/strategic-merge-patch+json",
        )
    except ApiTrouble as error:
        if error.status == 403:
            raise ApiTrouble(f"forbidden: no right to add a debug container; {RULE}", status=403) from error
        raise
    deadline = asyncio.get_running_loop().time() + min(_START, client.remaining())
    why = "it was not started"
    while asyncio.get_running_loop().time() < deadline:
        try:
            current = msgspec.json.decode(await client.get(path), type=_Pod)
        except msgspec.MsgspecError as error:
            raise FormatError(f"the Pod's state can't be read: {error}") from error
        mine = next(
            (status for status in current.status.ephemeral_container_statuses if status.name == container), None
        )
        if mine is not None and isinstance(mine.state.running, dict):
            return container
        if mine is not None and mine.state.terminated is not None:
            raise ApiTrouble(f"the debug container ended at once: {mine.state.terminated.get('reason', '')}")
        if mine is not None and mine.state.waiting is not None:
            why = ": ".join(
                part for part in (mine.state.waiting.get("reason"), mine.state.waiting.get("message")) if part
            )
        await asyncio.sleep(0.3)
    raise ApiTrouble(f"the debug container did not start in {_START:.0f} s: {why}")
