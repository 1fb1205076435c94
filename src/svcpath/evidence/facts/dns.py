"""DNS answers, lookups and durations as recorded."""

from __future__ import annotations

import msgspec


class DnsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a recorded answers table.

    ``name`` lower case without the trailing dot; ``rcode`` as IANA names it (NOERROR, NXDOMAIN, SERVFAIL, REFUSED, ...)
    or TIMEOUT; ``answers`` the record data in order (empty with NOERROR: NODATA); ``delay_ms`` None if not recorded.
    """

    name: str
    type: str
    rcode: str
    answers: tuple[str, ...] = ()
    server: str = ""
    delay_ms: float | None = None
    line: int = 0


class DnsAnswers(msgspec.Struct, frozen=True, kw_only=True):
    rows: tuple[DnsAnswer, ...]


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """What one runtime made of one name: addresses, or the error as the application saw it.

    ``resolver`` names what resolved ("musl-1.2.3", "glibc-2.36", "python3", ...); ``code`` is the EAI number or "".
    ``unended``: it stands in a file's last line, which no newline ends, so that its last address may be cut.
    """

    resolver: str
    name: str
    addresses: tuple[str, ...] = ()
    code: str = ""
    error: str = ""
    at: str = ""
    seconds: float | None = None
    unended: bool = False


class Lookups(msgspec.Struct, frozen=True, kw_only=True):
    lookups: tuple[Lookup, ...]


class Durations(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds, one per sample, in recorded order. ``what`` is "lookup", "connect", or "" when the evidence only
    has bare numbers."""

    what: str
    seconds: tuple[float, ...]


class LookupQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What the application asked for: a name, a URL, a host and port. Fields not given are empty."""

    name: str = ""
    url: str = ""
    port: int = 0
    resolvers: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a recorded timeline: a lookup's answer or something that happened.

    ``start`` and ``end`` are seconds on the recording's own clock (equal for a moment); ``at`` is the time as written.
    A line that tells an answer has ``rcode`` (and ``answers`` with NOERROR); ``name`` is the name asked last when the
    line itself names none. ``event`` is the line's text after the time.
    """

    event: str
    at: str = ""
    start: float | None = None
    end: float | None = None
    name: str = ""
    rcode: str = ""
    answers: tuple[str, ...] = ()
    line: int = 0


class RecordedTimeline(msgspec.Struct, frozen=True):
    entries: tuple[TimelineEntry, ...]
