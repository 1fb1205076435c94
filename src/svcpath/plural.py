"""Numbers with their noun, so that one and many agree."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 endpoint``, ``2 endpoints``, ``1 query``, ``10,000 entries``; ``plural`` where the rules of ``forms`` don't hold."""
    return f"{number:,} {noun if number == 1 else plural or forms(noun)}"


def forms(noun: str) -> str:
    """The regular plural of the last word: query -> queries, address -> addresses, Pod -> Pods."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
