"""The scripted DNS server's actions, as recorded runs name them, turned into answers.

NXDOMAIN, NODATA, SERVFAIL, REFUSED, FORMERR, NOTIMP, DROP, LAME, A:addr[,addr], AAAA:addr, CNAME:target[=addr],
TC:action, TCDROP:action, WRONGID:action, DELAY:ms:action, UNREACHABLE.
"""

from __future__ import annotations

import msgspec

from svcpath.errors import FormatError
from svcpath.models.resolvers.base import Answer

RCODES = ("NXDOMAIN", "SERVFAIL", "REFUSED", "FORMERR", "NOTIMP")


def answer(action: str, kind: str, transport: str) -> Answer:
    """What the server sends for a question of ``kind`` over ``transport``; FormatError for an unknown action."""
    head, _, rest = action.partition(":")
    if action in RCODES:
        return Answer(action)
    if action == "NODATA":
        return Answer("NOERROR")
    if action in ("DROP", "TIMEOUT") or head == "WRONGID":
        return Answer("TIMEOUT")
    if action == "UNREACHABLE":
        return Answer("UNREACHABLE")
    if action == "LAME":
        return Answer("NOERROR", lame=True)
    if head in ("A", "AAAA"):
        if head != kind:
            return Answer("NOERROR")
        addresses = tuple(rest.split(","))
        return Answer("NOERROR", addresses, len(addresses))
    if head == "CNAME":
        target, equals, address = rest.partition("=")
        if equals and (":" in address) == (kind == "AAAA"):
            return Answer("NOERROR", (address,), 2, alias=target)
        return Answer("NOERROR", (), 1, target)
    if head in ("TC", "TCDROP"):
        if transport == "udp":
            return Answer("NOERROR", truncated=True)
        return Answer("CLOSED") if head == "TCDROP" else answer(rest, kind, transport)
    if head == "DELAY":
        milliseconds, _, inner = rest.partition(":")
        if milliseconds.isascii() and milliseconds.isdigit():
            late = answer(inner, kind, transport)
            return msgspec.structs.replace(late, delay=int(milliseconds) / 1000)
    raise FormatError(f"unknown action of the scripted server: {action[:60]!r}")
