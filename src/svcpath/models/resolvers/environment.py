"""What surrounds a resolver in its Pod, as raw text, and the address literals that never reach DNS.

resolv.conf, hosts and nsswitch.conf stay text here: each resolver parses its own, since they differ in just that.
"""

from __future__ import annotations

import ipaddress
import re

import msgspec

UNSPEC, INET, INET6 = "unspec", "inet", "inet6"
C_SPACE = " \t\n\v\f\r"


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """``None`` means that the file does not exist (``resolv_conf``, ``nsswitch``); an empty one is "".

    ``variables`` are those of the process (LOCALDOMAIN, RES_OPTIONS, GODEBUG, ...); ``hostaliases`` is the text of the
    file that HOSTALIASES names. ``family`` is the address family that the application asks for.
    """

    resolv_conf: str | None = ""
    hosts: str = ""
    nsswitch: str | None = None
    hostname: str = ""
    variables: dict[str, str] = {}
    hostaliases: str = ""
    family: str = UNSPEC

    @property
    def types(self) -> tuple[str, ...]:
        return {UNSPEC: ("A", "AAAA"), INET: ("A",), INET6: ("AAAA",)}[self.family]


_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def fold(name: str) -> str:
    """DNS' own case folding: ASCII letters alone (RFC 4343)."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


def to_ascii(name: str) -> str:
    """Labels in their IDNA form (RFC 3490), as runtimes that take Unicode names send them."""
    if name.isascii():
        return name
    labels = []
    for label in name.split("."):
        try:
            labels.append(label if label.isascii() else label.encode("idna").decode())
        except UnicodeError:
            labels.append(label)
    return ".".join(labels)


def octets(name: str) -> int:
    """Length of a name on the wire's terms: resolvers count bytes, not characters."""
    return len(name) if name.isascii() else len(name.encode("utf-8", "surrogateescape"))


def inet_aton(text: str) -> str | None:
    """The address that inet_aton(3) reads ("127.1", "0x7f.1", octal parts), or None."""
    parts = text.split(".")
    if not text or len(parts) > 4:
        return None
    values = []
    for part in parts:
        value = _c_number(part)
        if value is None:
            return None
        values.append(value)
    if any(value > 255 for value in values[:-1]):
        return None
    shift = 8 * (5 - len(values))
    if values[-1] >= 1 << shift:
        return None
    number = values[-1]
    for index, value in enumerate(values[:-1]):
        number |= value << (24 - 8 * index)
    return str(ipaddress.IPv4Address(number))


def _c_number(part: str) -> int | None:
    if not part or not part.isascii() or not part.isalnum():
        return None
    try:
        if part[:2].lower() == "0x":
            return int(part[2:], 16)
        return int(part, 8 if part[0] == "0" and len(part) > 1 else 10)
    except ValueError:
        return None


def ipv6_literal(text: str) -> tuple[str, str] | None:
    """(address, scope) of an IPv6 literal; scope is "" without one. None if it is no IPv6 address."""
    address, percent, scope = text.partition("%")
    if percent and not scope:
        return None
    try:
        return str(ipaddress.IPv6Address(address)), scope
    except ValueError:
        return None


#: Interfaces that every Pod has. A scope that names another one is taken for a name that the kernel does not know.
INTERFACES = ("lo", "eth0")


def known_scope(address: str, scope: str) -> bool:
    """Whether libc takes ``scope`` after the "%" of an IPv6 literal: a number, or, for a link-local address, an interface
    (musl lookup_ipliteral.c __lookup_ipliteral; glibc inet/inet6_scopeid_pton.c)."""
    if scope == "" or (scope.isascii() and scope.isdigit()):
        return int(scope or "0") <= 0xFFFFFFFF
    return is_link_local(address) and scope in INTERFACES


def is_link_local(address: str) -> bool:
    parsed = ipaddress.IPv6Address(address)
    return parsed.is_link_local or (parsed.is_multicast and parsed.packed[1] & 0xF == 2)


def unmapped(address: str) -> str:
    """The IPv4 address within an IPv4-mapped one (::ffff:10.0.0.1), or the address as it is."""
    if ":" not in address:
        return address
    mapped = ipaddress.IPv6Address(address).ipv4_mapped
    return str(mapped) if mapped is not None else address


def ipv4_literal(text: str) -> str | None:
    """A dotted quad as inet_pton(3) reads it: four decimal parts, no leading zeros."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        return None


def is_address(text: str) -> bool:
    return ipv4_literal(text) is not None or ipv6_literal(text) is not None


def fits(address: str, family: str) -> bool:
    return family == UNSPEC or (":" in address) == (family == INET6)


def split_lines(text: str) -> list[str]:
    """Lines at "\\n" alone, as fgets(3) sees them (str.splitlines would split at \\r, \\x0b, \\x85, ...)."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def c_fields(text: str, spaces: str = C_SPACE) -> list[str]:
    """Words between the given blanks alone (str.split() would also split at Unicode blanks)."""
    if text.isascii() and spaces is C_SPACE:
        return [word for word in text.translate(_BLANKS).split(" ") if word]
    words = [""]
    for character in text:
        if character in spaces:
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word]


_BLANKS = str.maketrans(dict.fromkeys(C_SPACE, " "))


def strtoul(text: str) -> int | None:
    """The decimal number that a text starts with, or None."""
    end = 0
    while end < len(text) and "0" <= text[end] <= "9":
        end += 1
    return int(text[: min(end, 12)]) if end else None


def atoi(text: str) -> int:
    """C's atoi: blanks, a sign, digits; 0 if there is none."""
    text = text.lstrip(C_SPACE)
    negative = text[:1] == "-"
    if text[:1] in ("-", "+"):
        text = text[1:]
    value = strtoul(text) or 0
    return -value if negative else value


def unescaped(name: str) -> str:
    """A backslash takes the next character, or three decimal digits, into the label (RFC 1035 section 5.1; ns_name_pton)."""
    if "\\" not in name:
        return name
    return _ESCAPE.sub(lambda match: chr(int(match[1])) if match[1] else match[2], name)


_ESCAPE = re.compile(r"\\(?:(\d{3})|(.))", re.DOTALL)
