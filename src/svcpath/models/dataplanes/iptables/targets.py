"""What does a rule do? The targets that follow ``-j`` and ``-g``, with their options.

The options are those that the ``save`` functions of extensions/libxt_{MARK,CT,TPROXY}.c and libipt_{DNAT,REDIRECT,
REJECT,MASQUERADE}.c print (iptables 1.6 to 1.8). A target with an option that is not among its own is not understood.
"""

from __future__ import annotations

import ipaddress
from sys import intern
from typing import Any

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.iptables.values import UnknownOption, mark
from svcpath.models.dataplanes.ruleset import address_value, host_and_port, prefix_value

_NO_OPTIONS: frozenset[str] = frozenset()
_TARGET_OPTIONS = {
    "REJECT": frozenset({"--reject-with"}),
    "MASQUERADE": frozenset({"--random-fully", "--random", "--to-ports", "--persistent"}),
    "DNAT": frozenset({"--to-destination", "--random", "--persistent"}),
    "REDIRECT": frozenset({"--to-ports", "--random"}),
    "MARK": frozenset({"--set-xmark", "--set-mark", "--or-mark", "--and-mark", "--xor-mark"}),
    "CT": frozenset({"--notrack", "--helper", "--zone", "--zone-orig", "--zone-reply", "--ctevents", "--expevents"}),
    "TPROXY": frozenset({"--on-port", "--on-ip", "--tproxy-mark"}),
}
_REJECTIONS = frozenset(
    {"icmp-port-unreachable", "icmp-net-unreachable", "icmp-host-unreachable", "icmp-proto-unreachable"}
    | {"icmp-net-prohibited", "icmp-host-prohibited", "icmp-admin-prohibited", "tcp-reset"}
    | {"icmp6-port-unreachable", "icmp6-no-route", "icmp6-adm-prohibited", "icmp6-addr-unreachable"}
    | {"icmp6-policy-fail", "icmp6-reject-route"}
)

#: Targets after which the walk goes on.
_CONTINUE = frozenset(
    {"LOG", "NFLOG", "ULOG", "TRACE", "CONNMARK", "TCPMSS", "CHECKSUM", "SET", "DSCP", "TOS", "TTL", "HL", "CLASSIFY"}
    | {
        "SNAT",
        "NETMAP",
        "AUDIT",
        "SECMARK",
        "CONNSECMARK",
        "TEE",
        "RATEEST",
        "LED",
        "IDLETIMER",
        "HMARK",
        "TCPOPTSTRIP",
        "ECN",
    }
)
_SIMPLE = {"ACCEPT": "accept", "DROP": "drop", "RETURN": "return", "NOTRACK": "notrack", "TPROXY": "tproxy"}
#: Targets that are no chain.
BUILTIN = (
    frozenset(_SIMPLE) | _CONTINUE | {"REJECT", "MASQUERADE", "DNAT", "REDIRECT", "MARK", "CT", "QUEUE", "NFQUEUE"}
)


def goes_on(name: str) -> bool:
    """Is this a target after which the walk goes on, whatever its options?"""
    return name in _CONTINUE


def target(verb: str, name: str, options: dict[str, str], line: str) -> tuple[str, Any]:
    """Target and argument as ``ruleset.Rule`` has them; ``verb`` is jump or goto, should it be a chain."""
    if name in _CONTINUE:
        return "continue", None
    if not options.keys() <= _TARGET_OPTIONS.get(name, _NO_OPTIONS):
        raise UnknownOption(line)
    if name in _SIMPLE:
        return _SIMPLE[name], None
    if name == "REJECT":
        if options.get("--reject-with", "tcp-reset") not in _REJECTIONS:
            raise UnknownOption(line)
        return "reject", None
    if name == "MASQUERADE":
        return "masquerade", None
    if name == "DNAT":
        return _dnat(options.get("--to-destination", ""), line)
    if name == "REDIRECT":
        port = options.get("--to-ports", "0").partition("-")[0]
        if not port.isdecimal():
            raise UnknownOption(line)
        return "redirect", int(port)
    if name == "CT":
        return ("notrack", None) if "--notrack" in options else ("continue", None)
    if name == "MARK":
        return "mark", _set_mark(options, line)
    if name in ("QUEUE", "NFQUEUE"):
        raise UnknownOption(line)
    return verb, intern(name)


def _dnat(value: str, line: str) -> tuple[str, Any]:
    """``10.1.2.3``, ``10.1.2.3:80``, ``[fd00::1]:80``; a range of either spreads over what it spans."""
    halves = host_and_port(value)
    if halves is None:
        raise UnknownOption(line)
    host, port = halves
    if "-" in host:
        span = prefix_value(host)
        if span is None or span[2] - span[1] > 255:
            raise UnknownOption(line)
        make = ipaddress.IPv4Address if span[0] == 4 else ipaddress.IPv6Address
        return "dnat-many", tuple((str(make(number)), int(port or 0)) for number in range(span[1], span[2] + 1))
    if address_value(host) is None or int(port or 0) > 65535:
        raise UnknownOption(line)
    return "dnat", (text_form(host), int(port or 0))


def _set_mark(options: dict[str, str], line: str) -> tuple[int, int]:
    """(mask to clear, value to xor), as the MARK target of the kernel holds every one of its forms."""
    for option, value in options.items():
        if not option.startswith("--"):
            continue
        number, mask = mark(value, line)
        if option == "--set-xmark":
            return mask, number
        if option == "--set-mark":
            return number | mask, number
        if option == "--or-mark":
            return number, number
        if option == "--and-mark":
            return ~number & 0xFFFFFFFF, 0
        if option == "--xor-mark":
            return 0, number
    raise UnknownOption(line)
