"""Recorded DNS answers as a table whose header names its columns, with or without the leading ``#``.

    # name type rcode answer                     # server name type rcode answer delay_ms

``rcode`` is IANA's name, or TIMEOUT; NODATA is NOERROR without an answer. An answer column of ``-`` or ``(empty)``
holds none; several are parted by blanks or commas. Rows without a header have the four columns of the first example.
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.dns import DnsAnswer, DnsAnswers
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

COLUMNS = frozenset({"server", "name", "type", "rcode", "answer", "delay_ms"})
_SYNONYMS = {"answers": "answer", "delay": "delay_ms", "ms": "delay_ms", "status": "rcode", "qname": "name"}
_DEFAULT = ("name", "type", "rcode", "answer")
RCODES = frozenset(
    [
        "NOERROR",
        "FORMERR",
        "SERVFAIL",
        "NXDOMAIN",
        "NOTIMP",
        "REFUSED",
        "YXDOMAIN",
        "YXRRSET",
        "NXRRSET",
        "NOTAUTH",
        "NOTZONE",
        "TIMEOUT",
        "NODATA",
    ]
)
_TYPES = frozenset(
    [
        "A",
        "AAAA",
        "CNAME",
        "SRV",
        "PTR",
        "TXT",
        "MX",
        "NS",
        "SOA",
        "HTTPS",
        "SVCB",
        "CAA",
        "NAPTR",
        "HINFO",
        "ANY",
        "DNAME",
    ]
)
_WHOLE_ANSWERS = frozenset(["SRV", "TXT", "MX", "SOA", "CAA", "NAPTR", "HTTPS", "SVCB", "HINFO"])
_EMPTY = frozenset({"", "-", "(empty)", "empty", "(none)", "none", "nodata", "(nodata)"})


def _header(line: str) -> tuple[str, ...] | None:
    words = tuple(_SYNONYMS.get(word.lower(), word.lower()) for word in line.lstrip("# \t;").split())
    if {"name", "type", "rcode"} <= set(words) and set(words) <= COLUMNS and len(set(words)) == len(words):
        return words
    return None


def is_answers(text: Text) -> bool:
    if any(_header(line) for line in text.lines[:20]):
        return True
    rows = [row(line.split(), _DEFAULT, 0) for line in text.sample[:20]]
    return bool(rows) and all(rows)


def read_answers(text: Text) -> list[Item]:
    columns: tuple[str, ...] = _DEFAULT
    rows: list[DnsAnswer] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        named = _header(line)
        if named:
            columns = named
            continue
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        answer = row(line.split(), columns, number)
        if answer is None:
            bad.append(number)
        else:
            rows.append(answer)
    return [
        Item(Kind.DNS_ANSWERS, DnsAnswers(rows=tuple(rows))),
        *not_understood("DNS answers", bad, len(rows)),
    ]


def row(words: list[str], columns: tuple[str, ...], line: int) -> DnsAnswer | None:
    """One row; the answer takes all words between the columns before and after it. None if it does not fit."""
    at = columns.index("answer") if "answer" in columns else len(columns)
    after = columns[at + 1 :]
    if len(words) < at:
        return None
    fields = dict(zip(columns[:at], words[:at], strict=True))
    rest = words[at:]
    # Trailing columns may be missing, as the answer may: a number in the place of delay_ms is the delay.
    if after and len(rest) >= len(after):
        tail = rest[len(rest) - len(after) :]
        if "delay_ms" not in after or _number(tail[after.index("delay_ms")]) is not None:
            fields.update(zip(after, tail, strict=True))
            rest = rest[: len(rest) - len(after)]
    rcode = fields.get("rcode", "").upper()
    rtype = fields.get("type", "").upper()
    if rcode not in RCODES or not (rtype in _TYPES or re.fullmatch(r"TYPE\d+", rtype)):
        return None
    delay = fields.get("delay_ms", "")
    if delay not in ("", "-") and _number(delay) is None:
        return None
    return DnsAnswer(
        name=fields["name"].lower().rstrip("."),
        type=rtype,
        rcode="NOERROR" if rcode == "NODATA" else rcode,
        answers=answers(rest, rtype),
        server=fields.get("server", "").replace("-", "", 1)
        if fields.get("server") == "-"
        else fields.get("server", ""),
        delay_ms=_number(delay) if delay not in ("", "-") else None,
        line=line,
    )


def answers(words: list[str], rtype: str) -> tuple[str, ...]:
    joined = " ".join(words)
    if joined.lower() in _EMPTY:
        return ()
    if "," in joined or rtype in _WHOLE_ANSWERS:
        return tuple(part.strip() for part in joined.split(",") if part.strip())
    return tuple(words)


def _number(word: str) -> float | None:
    if re.fullmatch(r"\d+(\.\d+)?(ms)?", word):
        return float(word.removesuffix("ms"))
    return None
