"""Records and responses of the CoreDNS model."""

from __future__ import annotations

import msgspec


class ResourceRecord(msgspec.Struct, frozen=True):
    """A resource record: owner with its final dot, type, and data in presentation form."""

    name: str
    type: str
    data: str


class Response(msgspec.Struct, frozen=True):
    """``plugin`` answered, at the Corefile's ``line`` (0: the server itself)."""

    rcode: str
    answers: tuple[ResourceRecord, ...] = ()
    authoritative: bool = False
    plugin: str = ""
    line: int = 0
    note: str = ""
