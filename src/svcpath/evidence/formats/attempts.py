"""Recorded connection attempts: svcpath's own JSON, curl lines, and sentences an engineer notes down.

Own form (docs/evidence.md): ``{"schema": "svcpath.attempts/v1", "attempts": [{"host", "port", "outcome", ...}]}``.
curl lines: ``TIME URL BODY  code=200 exit=0 remote=10.0.0.1:80 connect=0.002`` (curl -w). Sentences:
``pod: NAME (IP)``, ``[WHO:] curl TARGET -> OUTCOME``, ``client keeps connecting to IP:PORT``.
Exit codes: libcurl-errors(3). curl's exit 7 does not say why it could not connect; without a reason in the text a
failure within a second is a refusal, a later one stays an error.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.connections import Attempt, Attempts

SCHEMA = "svcpath.attempts/v1"
OUTCOMES = frozenset(
    {"ok", "http-error", "refused", "timeout", "reset", "no-route", "dns-failure", "tls-error", "error", "unknown"}
    | {"stalled", "unanswered"}
)

_CURL = re.compile(
    r"(?:(?P<at>\d{4}-\d\d-\d\dT\S+)\s+)?(?P<url>[a-z]+://\S+)\s+(?P<body>.*?)\s*"
    r"\bcode=(?P<code>\d{3})\s+exit=(?P<exit>\d+)(?:\s+remote=(?P<remote>\S*))?(?:\s+connect=(?P<connect>\d+(?:\.\d+)?))?"
)
_SENTENCE = re.compile(
    r"(?:(?P<who>[^:>]{1,80}?):\s+)?(?P<tool>curl|wget|nc|ncat|telnet|connect|grpcurl)\s+(?P<target>.+?)\s*"
    r"(?:->|=>|:|→)\s+(?P<outcome>\S.*)"
)
_WHO = re.compile(
    r"(?:pod|client|from)(?:\s*[:=]\s*|\s+)(?P<name>[A-Za-z0-9][\w./-]*)(?:\s*\((?P<ip>[0-9A-Fa-f.:]+)\))?\s*"
)
_KEEPS = re.compile(
    r"(?:(?P<who>[\w./-]+)\s+)?(?:keeps? connecting|still connects?|connects?|connected|connection) to\s+"
    r"(?P<target>\S+)\s*"
)
_WORDS = (
    ("timeout", re.compile(r"time[d -]*\s?out|timeout|\bETIMEDOUT\b|deadline", re.I)),
    ("refused", re.compile(r"refused|ECONNREFUSED", re.I)),
    ("reset", re.compile(r"reset|ECONNRESET|broken pipe|EPIPE", re.I)),
    ("no-route", re.compile(r"no route|unreachable|EHOSTUNREACH|ENETUNREACH", re.I)),
    (
        "dns-failure",
        re.compile(r"could ?n[o']t resolve|name or service|NXDOMAIN|resolution|SERVFAIL|ENOTFOUND|EAI_", re.I),
    ),
    ("tls-error", re.compile(r"\b(tls|ssl|certificate|x509)\b", re.I)),
    ("http-error", re.compile(r"empty reply|bad gateway|malformed|http2? error", re.I)),
)
_EXITS = {
    "6": "dns-failure",
    "28": "timeout",
    "35": "tls-error",
    "51": "tls-error",
    "60": "tls-error",
    "52": "http-error",
    "1": "http-error",
    "8": "http-error",
    "16": "http-error",
    "22": "http-error",
    "55": "reset",
    "56": "reset",
}
#: Scheme, host and port of a URL (RFC 3986, section 3.2), user information passed over.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^@/\s]*@)?(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)(?::(?P<port>\d{1,5}))?(?=[/?#\s]|\Z)"
)
_SCHEME_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "grpc": 0, "tcp": 0}


class _Recorded(msgspec.Struct, rename=None):
    host: str
    port: int
    outcome: str
    client: str = ""
    address: str = ""
    protocol: str = "TCP"
    status: int = 0
    body: str = ""
    seconds: float | None = None
    source_address: str = ""
    source_port: int = 0
    at: str = ""
    error: str = ""
    padded: int = 0
    segment: int = 0
    unacknowledged: int | None = None


def from_json(value: dict[str, Any]) -> Attempts:
    """The document of svcpath.attempts/v1. Raises FormatError for a wrong type or an unknown outcome."""
    rows = value.get("attempts")
    if not isinstance(rows, list):
        raise FormatError(f"{SCHEMA}: attempts must be a list")
    attempts: list[Attempt] = []
    for index, row in enumerate(rows):
        try:
            recorded = msgspec.convert(row, _Recorded)
        except msgspec.ValidationError as error:
            raise FormatError(f"{SCHEMA}: attempts[{index}]: {error}") from error
        if recorded.outcome not in OUTCOMES:
            known = ", ".join(sorted(OUTCOMES))
            raise FormatError(f"{SCHEMA}: attempts[{index}]: outcome {recorded.outcome!r} is none of {known}")
        if not 0 <= recorded.port < 65536:
            raise FormatError(f"{SCHEMA}: attempts[{index}]: port {recorded.port} is out of range")
        attempts.append(Attempt(**msgspec.structs.asdict(recorded)))
    return Attempts(attempts=tuple(attempts))


def target(word: str) -> tuple[str, int] | None:
    """Host and port of a URL, ``host:port``, ``[v6]:port`` or ``host port``; port 0 if none is given or implied."""
    word = word.strip().strip("'\"")
    words = [part.strip("'\"") for part in word.split() if not part.startswith("-")]
    url = next((part for part in words if "://" in part), "")
    if url:
        word = url
    else:
        if len(words) >= 2 and words[-1].isdecimal():
            host = f"[{words[-2]}]" if ":" in words[-2] else words[-2]
            word = f"{host}:{words[-1]}"
        elif words:
            word = words[-1]
        word = f"tcp://{word}" if not _bare_ipv6(word) else f"tcp://[{word}]"
    match = _URL.match(word)
    if match is None:
        return None
    port = int(match["port"] or 0) or _SCHEME_PORTS.get(match["scheme"].lower(), 0)
    return (match["host"].strip("[]").lower(), port) if port < 65536 else None


def _bare_ipv6(word: str) -> bool:
    try:
        return ipaddress.ip_address(word).version == 6
    except ValueError:
        return False


def outcome_of(text: str) -> tuple[str, int]:
    """Outcome and HTTP status of what someone wrote down as the result."""
    for outcome, pattern in _WORDS:
        if pattern.search(text):
            return outcome, 0
    status = re.match(r"(?:HTTP/[\d.]+\s+)?([1-5]\d\d)\b", text.strip())
    if status:
        code = int(status.group(1))
        return ("ok" if code < 400 else "http-error"), code
    if re.match(r"(?:ok|connected|succeeded|success|open|works|answers)\b", text.strip(), re.I):
        return "ok", 0
    return "error", 0


def curl_line(line: str, number: int) -> Attempt | None:
    match = _CURL.match(line.strip())
    if match is None:
        return None
    where = target(match["url"])
    if where is None:
        return None
    status = int(match["code"])
    body = match["body"].strip()
    remote = target(match["remote"]) if match["remote"] and not match["remote"].startswith(":") else None
    outcome = _curl_outcome(match["exit"], status, body)
    return Attempt(
        client="",
        host=where[0],
        port=where[1],
        outcome=outcome,
        address=address_of(remote[0]) if remote else address_of(where[0]),
        status=status,
        body="" if outcome not in ("ok", "http-error") else body[:200],
        error=body[:300] if outcome not in ("ok", "http-error") else "",
        seconds=float(match["connect"]) if match["connect"] and match["exit"] == "0" else None,
        at=match["at"] or "",
        line=number,
    )


def _curl_outcome(code: str, status: int, text: str) -> str:
    if code == "0":
        return "http-error" if status >= 400 else "ok"
    outcome, _ = outcome_of(text)
    if code in ("7", "28", "56") and outcome in ("refused", "timeout", "reset", "no-route", "dns-failure"):
        return outcome
    if code == "7":
        after = re.search(r"after (\d{1,9}) ms", text)
        return "refused" if after and int(after.group(1)) < 1000 else "error"
    return _EXITS.get(code, "error")


def who(line: str) -> tuple[str, str] | None:
    """Name and address of a line that says who connects: ``pod: self-1 (10.244.2.23)``."""
    match = _WHO.fullmatch(line.strip())
    if match is None:
        return None
    return match["name"], address_of(match["ip"] or "")


def sentence(line: str, number: int, client: tuple[str, str]) -> Attempt | None:
    """``curl TARGET -> OUTCOME`` or ``client keeps connecting to TARGET``; ``client`` is who was named before."""
    match = _SENTENCE.fullmatch(line.strip())
    if match:
        where = target(match["target"])
        if where is None:
            return None
        outcome, status = outcome_of(match["outcome"])
        name, source = _named(match["who"], client)
        return Attempt(
            client=name,
            host=where[0],
            port=where[1] or (80 if match["tool"] in ("curl", "wget") else 0),
            outcome=outcome,
            address=address_of(where[0]),
            status=status,
            source_address=source,
            error="" if outcome == "ok" else match["outcome"].strip(),
            line=number,
        )
    match = _KEEPS.fullmatch(line.strip())
    if match:
        where = target(match["target"])
        if where is None or not where[1]:
            return None
        name, source = _named(match["who"] if match["who"] != "client" else None, client)
        return Attempt(
            client=name,
            host=where[0],
            port=where[1],
            outcome="unknown",
            address=address_of(where[0]),
            source_address=source,
            error=line.strip(),
            line=number,
        )
    return None


def _named(words: str | None, client: tuple[str, str]) -> tuple[str, str]:
    """Who a sentence is about: "other pod" is "other", "pod X" is X, nothing is the client named before."""
    if not words:
        return client
    if re.search(r"\b(other|another|different|any|every)\b", words, re.I):
        return "other", ""
    if re.search(r"\b(same|this|self|itself)\b", words, re.I):
        return client
    name = re.sub(r"^from\s+", "", words.strip(), flags=re.I)
    name = re.sub(r"^(?:pod|client)[\s/]+", "", name, flags=re.I)
    return re.sub(r"^node\s+", "node/", name, flags=re.I), ""
