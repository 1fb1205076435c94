"""The API server's audit log, read back: who asked for what, whatever the asker says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

#: The user of the lab's kubeconfig; a run of svcpath asks as it, or through it as somebody else.
ADMIN = "svcpath-lab-admin"


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
        held = self.object_ref
        return f"{held.resource}/{held.subresource}" if held.subresource else held.resource


@dataclass
class Heard:
    """Requests of the lab's user in the time of a ``listening`` block, each once; whole when the block has ended."""

    requests: list[Event] = field(default_factory=list)

    def of(self, *resources: str) -> list[Event]:
        return [one for one in self.requests if one.what in resources]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """(verb, resource) of all that was asked about objects."""
        return {(one.verb, one.what) for one in self.requests if one.what}


@contextmanager
def listening(log: Path) -> Iterator[Heard]:
    """The log is written before a response ends, so what the block asked is in it when the block ends."""
    heard = Heard()
    start = log.stat().st_size
    yield heard
    with log.open("rb") as file:
        # A log that was turned over meanwhile begins anew.
        file.seek(start if start <= log.stat().st_size else 0)
        lines = file.read().split(b"\n")[:-1]
    once: dict[str, Event] = {}
    for line in lines:
        event = msgspec.json.decode(line, type=Event)
        if event.user.username == ADMIN:
            once.setdefault(event.audit_id, event)
    heard.requests = list(once.values())
