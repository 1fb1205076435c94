"""The API server's audit log, read back: who asked for what, whatever the asker says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

#: The user of the lab's kubeconfig; a run of svcpath asks as it, or through it as somebody else.
ADMIN = "svcpath-lab-admin"


#: Field managers that write whenever they like: status, slices, labels of nodes.
COMPONENTS = frozenset({"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"})


class Reference(msgspec.Struct, rename="camel"):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _User(msgspec.Struct):
    username: str = ""


class Event(msgspec.Struct, rename="camel"):
    """audit.k8s.io/v1 Event, as far as it is used here."""

    stage: str
    verb: str
    user: _User
    object_ref: Reference = msgspec.field(default_factory=Reference)
    audit_id: str = msgspec.field(default="", name="auditID")
    user_agent: str = ""

    @property
    def what(self) -> str:
        """resource or resource/subresource."""
        kept = self.object_ref
        return f"{kept.resource}/{kept.subresource}" if kept.subresource else kept.resource


@dataclass
class Heard:
    """Requests of the lab's user in the time of a ``listening`` block, each once; whole when the block has ended."""

    requests: list[Event] = field(default_factory=list)

    def of(self, *resources: str) -> list[Event]:
        return [request for request in self.requests if request.what in resources]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """(verb, resource) of all that was asked about objects."""
        return {(request.verb, request.what) for request in self.requests if request.what}


@contextmanager
def listening(log: Path) -> Iterator[Heard]:
    """The log is written before a response ends, so what the block asked is in it when the block ends."""
    heard = Heard()
    start = log.stat().st_size
    yield heard
    with log.open("rb") as file:
        # A log that was turned over meanwhile begins again.
        file.seek(start if start <= log.stat().st_size else 0)
        lines = file.read().split(b"\n")[:-1]
    once: dict[str, Event] = {}
    for line in lines:
        event = msgspec.json.decode(line, type=Event)
        if event.user.username == ADMIN:
            once.setdefault(event.audit_id, event)
    heard.requests = list(once.values())


def strangers(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Objects whose resourceVersion changed, with those of their field managers that are no component of the cluster.

    A write updates the time of its manager's entry in metadata.managedFields (meta/v1 ManagedFieldsEntry), so the entries that
    are new name who wrote. An object that is gone has no one to name.
    """
    old, new = ({_name(entry): entry["metadata"] for entry in lines} for lines in (before, after))
    found: dict[str, str] = dict.fromkeys(old.keys() - new.keys(), "no one: it is gone")
    for name, meta in new.items():
        if name in old and old[name]["resourceVersion"] == meta["resourceVersion"]:
            continue
        entries = _entries(meta) - (_entries(old[name]) if name in old else frozenset())
        managers = {json.loads(entry)["manager"] for entry in entries}
        if not entries or managers - COMPONENTS:
            found[name] = ", ".join(sorted(managers - COMPONENTS)) or "no one"
    return found


def _name(obj: dict[str, Any]) -> str:
    return f"{obj['kind']} {obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _entries(meta: dict[str, Any]) -> frozenset[str]:
    return frozenset(json.dumps(entry, sort_keys=True) for entry in meta.get("managedFields") or ())
