"""How hickory reads resolv.conf: the crate resolv-conf 0.7 (lib.rs parse_with_errors, ip.rs ScopedIp) and hickory's
system_conf/unix.rs; and what hickory-proto's name.rs takes for a name.

The versions part over a line that is not understood: 0.25 gives the whole configuration up, 0.26 logs a warning and
keeps the rest.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import ipv4_literal, ipv6_literal, split_lines, to_ascii, unescaped

KNOWN_OPTIONS = frozenset(
    (
        "debug",
        "rotate",
        "no-check-names",
        "inet6",
        "ip6-bytestring",
        "ip6-dotint",
        "no-ip6-dotint",
        "edns0",
        "single-request",
        "single-request-reopen",
        "no-reload",
        "trust-ad",
        "no-tld-query",
        "use-vc",
        "no-aaaa",
    )
)
TOO_LONG = ("label bytes exceed", "name label data exceed")
LABEL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


class HickoryConfig(msgspec.Struct, frozen=True):
    servers: tuple[str, ...] = ()
    domain: str = ""
    search: tuple[str, ...] = ()
    ndots: int = 1
    timeout: int = 5
    attempts: int = 2
    edns: bool = False
    error: str = ""


@lru_cache(maxsize=256)
def parse(text: str | None, hostname: str, *, strict: bool) -> HickoryConfig:
    """``strict`` is 0.25: the first line or option that is not understood fails the whole configuration."""
    if text is None:
        return HickoryConfig(error="No such file or directory (os error 2)")
    numbers: dict[str, int] = {"ndots": 1, "timeout": 5, "attempts": 2}
    servers: list[str] = []
    flags: set[str] = set()
    domain = last = ""
    for number, raw in enumerate(split_lines(text)):
        words = raw.partition(";")[0].partition("#")[0].split()
        if not words:
            continue
        keyword, values = words[0], words[1:]
        problem = ""
        if keyword == "nameserver":
            problem = _server(values, servers, number)
        elif keyword == "domain":
            problem = _single(values, number)
            if values:
                domain = last = values[0]
        elif keyword == "search":
            last = " ".join(word for word in values if "," not in word)
        elif keyword == "options":
            problem = _options(values, numbers, flags, number)
        else:
            problem = _rest(keyword, values, number)
        if strict and problem:
            return HickoryConfig(error=f"Error parsing resolv.conf: {problem}")
    if not servers:
        return HickoryConfig(error="no nameservers found in config")
    suffixes = tuple(word for word in last.split() if word != "--")
    for suffix in suffixes:
        problem = name_problem(suffix)
        if problem:
            return HickoryConfig(error=f"Error parsing resolv.conf: {problem if strict else decoding(problem)}")
    _, dot, host_domain = hostname.partition(".")
    system = domain or (host_domain if dot else "")
    return HickoryConfig(
        tuple(servers),
        "" if name_problem(system) else system,
        suffixes,
        numbers["ndots"],
        numbers["timeout"],
        numbers["attempts"],
        "edns0" in flags,
    )


def _single(values: list[str], number: int) -> str:
    if not values:
        return f"directive at line {number} is improperly formatted or contains invalid value"
    return f"extra data at the end of line {number}" if len(values) > 1 else ""


def _server(values: list[str], servers: list[str], number: int) -> str:
    address, percent, scope = (values[0] if values else "").partition("%")
    known = address_of(address)
    bad_scope = percent and (":" not in known or not scope.partition("%")[0].isalnum())
    if values and (not known or bad_scope):
        return _bad_address(number)
    if values:
        servers.append(known)
    return _single(values, number)


def _bad_address(number: int) -> str:
    return f"directive at line {number} contains invalid IP: invalid IP address syntax"


def _options(values: list[str], numbers: dict[str, int], flags: set[str], number: int) -> str:
    """Every option that is understood holds; the first that is not is the problem."""
    problem = ""
    for word in values:
        key, colon, value = word.partition(":")
        if key in numbers and colon:
            digits = value.removeprefix("+")
            if not (digits.isascii() and digits.isdigit()) or int(digits[:20]) > 0xFFFFFFFF:
                problem = problem or f"directive options at line {number} contains invalid value of some option"
            else:
                numbers[key] = int(digits)
        elif key in KNOWN_OPTIONS:
            flags.add(key)
        else:
            problem = problem or f"option at line {number} is not recognized"
    return problem


def _rest(keyword: str, values: list[str], number: int) -> str:
    if keyword == "sortlist":
        for word in values:
            address, slash, mask = word.partition("/")
            if not address_of(address) or (slash and not _mask(address, mask)):
                return _bad_address(number)
    elif keyword == "family":
        if any(word not in ("inet4", "inet6") for word in values):
            return f"directive at line {number} is improperly formatted or contains invalid value"
    elif keyword != "lookup":
        return f"directive at line {number} is not recognized"
    return ""


def _mask(address: str, mask: str) -> bool:
    """A mask is an address itself: 10.0.0.0/255.0.0.0, and 10.0.0.0/8 is an error."""
    try:
        return ipaddress.ip_address(mask).version == ipaddress.ip_address(address).version
    except ValueError:
        return False


def address_of(text: str) -> str:
    """Rust's IpAddr: no scope, no leading zeros."""
    v6 = ipv6_literal(text)
    return ipv4_literal(text) or (v6[0] if v6 and not v6[1] else "")


def name_problem(name: str) -> str:
    """What the name parser of hickory-proto says, or ""."""
    bare = to_ascii(unescaped(name).removesuffix("."))
    total = 1
    for label in bare.split(".") if bare else ():
        if len(label) > 63:
            return f"label bytes exceed 63: {len(label)}"
        if not label or label[0] == "-":
            return f"Malformed label: {label}"
        strange = next((character for character in label if character <= " " or character == "\x7f"), "")
        if strange:
            return f"unrecognized char: {strange}"
        if label != "*" and not LABEL.issuperset(label if label[0] != "_" else label.replace("_", "")):
            return "Label contains invalid characters: Err(Errors)"
        total += len(label) + 1
        if total > 255:
            return f"name label data exceed 255: {total}"
    return ""


def decoding(problem: str) -> str:
    """The same problem in 0.26's words: the limits of RFC 1035 are errors of its decoder."""
    return f"decoding error: {problem}" if problem.startswith(TOO_LONG) else problem
