"""Recorded connection attempts."""

from __future__ import annotations

import enum
import re

import msgspec

#: How the error of an attempt begins that connected, was greeted in HTTP, and got nothing back.
NO_REPLY = "no reply in"


class Unanswered(enum.Enum):
    """What came instead of an HTTP reply to a greeting in HTTP."""

    SILENCE = "silence"
    END = "end"  #: the connection ended or was reset, or what came is no HTTP


#: The words of curl, Python and the dial scripts of this project for the second.
_ENDED = re.compile(r"closed without|no HTTP reply|empty reply|reset by peer|remote end closed", re.I)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to connect, and how it ended.

    ``host`` is what the client named (a name or an address without brackets), ``address`` the address it connected to
    (empty if unknown), ``outcome`` one of: ok, http-error (connected, status >= 400 or broken reply), refused, timeout,
    reset, no-route, dns-failure, tls-error, stalled (connected, and what was sent got no answer in time), unanswered (a
    datagram that nothing came back for: that says nothing), error, unknown (the evidence says where it connects, not how
    it ends).
    ``padded`` is the size of a request that was made large on purpose, to fill whole segments of ``segment`` bytes, and
    ``unacknowledged`` what of it the other side's kernel had not confirmed at the end (None: not known).
    ``client`` is the Pod ("namespace/name" or name), "other" for
    "some other Pod", or "". ``status`` is the HTTP status (0: none), ``body`` the first bytes of the reply.
    """

    client: str
    host: str
    port: int
    outcome: str
    address: str = ""
    protocol: str = "TCP"
    status: int = 0
    body: str = ""
    seconds: float | None = None
    source_address: str = ""
    source_port: int = 0
    at: str = ""
    error: str = ""
    line: int = 0
    padded: int = 0
    segment: int = 0
    unacknowledged: int | None = None

    @property
    def unanswered(self) -> Unanswered | None:
        """Connected, greeted in HTTP, and no HTTP came back: what came instead. None where a reply came, or nothing tells."""
        if self.outcome != "http-error" or self.status:
            return None
        if self.error.lower().startswith(NO_REPLY):
            return Unanswered.SILENCE
        return Unanswered.END if _ENDED.search(self.error) else None


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """``repeated``: the attempts were made one after another to learn which share fails, so that each of them counts, not the
    newest alone."""

    attempts: tuple[Attempt, ...]
    repeated: bool = False
