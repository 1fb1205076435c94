"""What hickory says about a name without asking: the special names of RFC 6761, and the error it shows for a name.

Rules from hickory-resolver caching_client.rs inner_lookup and hickory-proto rr/domain/usage.rs (0.25.2 and 0.26.3).
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import ResolverRule

HOSTS = ResolverRule(
    "/etc/hosts has that candidate (it is consulted for each candidate in turn)", "hickory hosts.rs (0.25.2)"
)
SPECIAL = ResolverRule(
    "localhost, invalid and onion are answered without a query", "hickory caching_client.rs (0.25.2)"
)


class CandidateFailure(msgspec.Struct, frozen=True):
    """Why a candidate has no address: the error's text and its kind."""

    text: str
    code: str


def no_records(name: str, kind: str) -> CandidateFailure:
    query = f'Query {{ name: Name("{_unicode(name)}."), query_type: {kind}, query_class: IN }}'
    return CandidateFailure(f"no records found for {query}", "no-records")


def _unicode(name: str) -> str:
    """Names are shown with their Unicode labels."""
    if "xn--" not in name:
        return name
    try:
        return ".".join(label.encode().decode("idna") for label in name.split("."))
    except UnicodeError:
        return name


def reserved(name: str) -> bool:
    return name.endswith((".invalid", ".onion")) or name in ("invalid", "onion")


def special(name: str, kind: str) -> tuple[str, ...]:
    if name == "localhost" or name.endswith(".localhost"):
        return ("127.0.0.1",) if kind == "A" else ("::1",)
    return ()
