"""Host and port that an application names, by its URL or its query."""

from __future__ import annotations

import urllib.parse

from svcpath.evidence.facts.dns import LookupQuestion

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "grpc": 80, "redis": 6379, "postgres": 5432}


def asked_port(query: LookupQuestion) -> int:
    """The port the application connects to, 0 when the query does not tell."""
    if query.port:
        return query.port
    if not query.url:
        return 0
    try:
        parts = urllib.parse.urlsplit(query.url)
        return parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return 0


def asked_host(query: LookupQuestion) -> str:
    """The host the application names, without brackets; empty when the query does not tell."""
    if query.url:
        try:
            return urllib.parse.urlsplit(query.url).hostname or query.name
        except ValueError:
            return query.name
    return query.name
