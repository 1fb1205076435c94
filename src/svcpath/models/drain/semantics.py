"""What "finished" means per protocol, and what has to be capped: the data that budget, scenarios and docs share."""

from __future__ import annotations

import functools
import importlib.resources

import msgspec

from svcpath.evidence.facts.kubernetes import Service


class Semantics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One protocol. ``unit`` is what the longest request term bounds; ``unbounded`` what stays unknown without ``cap``;
    ``scenario`` the number of the scenario that proves it."""

    title: str
    unit: str
    finished: str
    after_removal: str
    cap: str
    unbounded: str
    scenario: int


@functools.cache
def semantics() -> dict[str, Semantics]:
    """All protocols by key. The file ships with the package; a damaged one is an internal error."""
    text = importlib.resources.files("svcpath.models.drain").joinpath("semantics.yaml").read_bytes()
    return msgspec.yaml.decode(text, type=dict[str, Semantics])


_WORDS = {
    "grpc": "grpc",
    "h2c": "grpc",
    "http2": "grpc",
    "ws": "websocket",
    "wss": "websocket",
    "websocket": "websocket",
    "mysql": "database-session",
    "postgres": "database-session",
    "postgresql": "database-session",
    "pgsql": "database-session",
    "redis": "database-session",
    "mongo": "database-session",
    "mongodb": "database-session",
    "amqp": "message-consumer",
    "kafka": "message-consumer",
    "http": "http-keep-alive",
    "https": "http-keep-alive",
    "web": "http-keep-alive",
}


def protocols_of(service: Service) -> tuple[str, ...]:
    """Keys of the protocols that a Service's ports name by appProtocol or port name; nothing is guessed from numbers."""
    found: dict[str, None] = {}
    for port in service.ports:
        if port.protocol == "UDP":
            found["udp"] = None
        words = [(port.app_protocol or "").rpartition("/")[2].lower(), *port.name.lower().split("-")]
        key = next((_WORDS[word] for word in words if word in _WORDS), None)
        if key is not None:
            found[key] = None
    return tuple(found)
