"""resolv.conf, hosts, nsswitch.conf and an environment listing: recognised here, parsed by each resolver's model.

resolv.conf(5), hosts(5), nsswitch.conf(5); `env` and /proc/PID/environ for the environment. Of an environment only what
changes name resolution is kept, values of everything else are dropped at once: they may be secrets.
"""

from __future__ import annotations

import ipaddress
import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.item import Item, damaged
from svcpath.evidence.formats.text import Text

_RESOLV = re.compile(r"\s*(nameserver|search|domain|options|sortlist|lookup|family)(\s|$)")
#: An options line that ends within one of the kubelet's own words.
_PART = re.compile(r"^\s*(?:options\s*$|options.*\s(?:n|nd|ndo|ndot|ndots|ndots:)$)")
_DATABASES = frozenset(
    [
        "passwd",
        "group",
        "shadow",
        "gshadow",
        "hosts",
        "networks",
        "protocols",
        "services",
        "ethers",
        "rpc",
        "netgroup",
        "automount",
        "aliases",
        "publickey",
        "initgroups",
        "sudoers",
        "subid",
        "bootparams",
        "netmasks",
    ]
)
_NSSWITCH = re.compile(r"\s*([a-z_]+):((?:\s|$)[\sa-z_0-9A-Z!=\[\]]*)")
_ENVIRONMENT = re.compile(r"(?:declare -x |export )?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
#: Variables a resolver reads (resolv.conf(5), Go's net package, the JVM's launcher).
_KEPT = ("LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES", "GODEBUG")
_JAVA = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS")
_JAVA_FLAG = re.compile(
    r"-D(?:sun\.net\.inetaddr|networkaddress|java\.security|java\.net\.prefer|sun\.net\.spi)[A-Za-z0-9._]*(?:=\S*)?"
)


def is_resolv_conf(text: Text) -> bool:
    lines = [line for line in text.sample if not line.lstrip().startswith(";")]
    good = [bool(_RESOLV.match(line)) for line in lines]
    return any(re.match(r"\s*(nameserver|search|domain)\s+\S", line) for line in lines) and sum(good) * 10 >= 8 * len(
        good
    )


def read_resolv_conf(text: Text) -> list[Item]:
    """The file as it is. One that ends within a line before any nameserver, or within an option, was cut: the kubelet ends
    every line and always writes a nameserver; what is there would make a resolver ask itself."""
    whole, _, last = text.text.rpartition("\n")
    if not last.strip():
        return [Item(Kind.RESOLV_CONF, RawText(text.text))]
    cut = damaged("resolv.conf", "it ends within a line: cut off", line=text.text.count("\n") + 1)
    if not any(line.split()[:1] == ["nameserver"] and len(line.split()) > 1 for line in text.lines):
        return [cut]
    if _RESOLV.match(last) is None or _PART.search(last):
        return [Item(Kind.RESOLV_CONF, RawText(f"{whole}\n")), cut]
    return [Item(Kind.RESOLV_CONF, RawText(text.text))]


def is_hosts(text: Text) -> bool:
    return bool(text.sample) and all(_is_hosts_line(line) for line in text.sample)


def _is_hosts_line(line: str) -> bool:
    fields = line.split("#", 1)[0].split()
    if len(fields) < 2 or fields[1] in ("STREAM", "DGRAM", "RAW"):  # the latter is what getent ahosts prints
        return False
    return _is_address(fields[0]) and all(re.fullmatch(r"[\w.-]+", name) for name in fields[1:])


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True


def read_hosts(text: Text) -> list[Item]:
    return [Item(Kind.HOSTS, RawText(text.text))]


def is_nsswitch(text: Text) -> bool:
    if not text.sample:
        return False
    matches = [_NSSWITCH.fullmatch(line.split("#", 1)[0].rstrip()) for line in text.sample]
    names = [match.group(1) for match in matches if match]
    return len(names) == len(matches) and set(names) <= _DATABASES and "hosts" in names


def read_nsswitch(text: Text) -> list[Item]:
    return [Item(Kind.NSSWITCH_CONF, RawText(text.text))]


def _variables(text: Text) -> list[tuple[str, str]] | None:
    lines = [line for line in text.lines if line.strip()]
    found = [_ENVIRONMENT.fullmatch(line) for line in lines[:400]]
    pairs = [(match.group(1), match.group(2)) for match in found if match]
    return pairs if pairs and len(pairs) * 10 >= len(found) * 8 else None


def is_environment(text: Text) -> bool:
    pairs = _variables(text)
    if not pairs:
        return False
    upper = sum(1 for name, _ in pairs if name == name.upper())
    known = {"PATH", "HOME", "HOSTNAME", "KUBERNETES_SERVICE_HOST", "PWD", *_KEPT, *_JAVA}
    return upper * 2 > len(pairs) and (len(pairs) >= 3 or any(name in known for name, _ in pairs))


def read_environment(text: Text) -> list[Item]:
    kept: list[str] = []
    for line in text.lines:
        match = _ENVIRONMENT.fullmatch(line)
        if match is None:
            continue
        name, value = match.groups()
        if name in _KEPT:
            kept.append(f"{name}={value}")
        elif name in _JAVA:
            flags = " ".join(_JAVA_FLAG.findall(value))
            if flags:
                kept.append(f"{name}={flags}")
    return [Item(Kind.ENVIRONMENT, RawText("".join(line + "\n" for line in kept)))]
