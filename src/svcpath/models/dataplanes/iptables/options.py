"""Any rule, read option by option: what is matched, and what it is about.

Options and their spelling are those that iptables 1.6 to 1.8 print (iptables/iptables.c and the ``save`` functions of
extensions/libxt_*.c, libipt_*.c). Modules whose options have no say in whether a new connection matches are passed
over; options that are known but not decided by a packet's addresses become matches of kind ``other``.
"""

from __future__ import annotations

import re

from svcpath.models.dataplanes.iptables import targets
from svcpath.models.dataplanes.iptables.values import PROTOCOLS, UnknownOption, mark, ports, prefixes, probability
from svcpath.models.dataplanes.ruleset import Match, Rule

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_ADDRESSES = {
    "-s": "source",
    "--source": "source",
    "-d": "destination",
    "--destination": "destination",
    "--src-range": "source",
    "--dst-range": "destination",
}
_PORTS = {
    "--dport": "dport",
    "--dports": "dport",
    "--destination-port": "dport",
    "--sport": "sport",
    "--sports": "sport",
    "--source-port": "sport",
}
#: Modules whose options are read, or which have no say in whether a new connection matches.
_MODULES = frozenset(
    {"tcp", "udp", "sctp", "icmp", "icmp6", "icmpv6", "comment", "statistic", "addrtype", "conntrack", "state", "mark"}
    | {"recent", "multiport", "set", "nfacct", "iprange", "physdev", "limit", "hashlimit", "connlimit", "owner", "u32"}
    | {
        "connmark",
        "string",
        "time",
        "length",
        "ttl",
        "hl",
        "mac",
        "pkttype",
        "socket",
        "rpfilter",
        "bpf",
        "dscp",
        "tos",
    }
    | {"quota", "connbytes", "helper", "policy", "cgroup", "realm", "ipvs", "rt", "frag", "hbh", "dst", "eui64", "cpu"}
)
#: Options without a value.
_FLAGS = frozenset(
    {
        "--set",
        "--rcheck",
        "--update",
        "--remove",
        "--reap",
        "--rttl",
        "--rsource",
        "--rdest",
        "--syn",
        "--return-nomatch",
        "--physdev-is-in",
    }
)
_RECENT = frozenset({"--name", "--seconds", "--hitcount", "--mask"})
_IGNORED = frozenset({"--mode", "--packet", "--nfacct-name", "--ctdir", "--icmp-type", "--icmpv6-type"})
#: Options that are known but whose truth a packet's addresses do not decide.
_OPAQUE_OPTIONS = frozenset(
    {"--physdev-in", "--physdev-out", "--limit", "--limit-burst", "--uid-owner", "--gid-owner", "--mac-source"}
    | {"--hashlimit-upto", "--hashlimit-above", "--hashlimit-name", "--hashlimit-mode", "--hashlimit-burst"}
    | {"--connlimit-above", "--connlimit-upto", "--connlimit-mask", "--string", "--algo", "--length", "--pkt-type"}
    | {"--tcp-option", "--dscp", "--tos", "--helper", "--pol", "--dir", "--path", "--cgroup"}
    | {"--limit-iface-in", "--vaddr", "--vport", "--vproto"}
)
#: Options with two values.
_PAIRS = frozenset({"--match-set", "--tcp-flags"})
_ALL_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG")
#: Options whose meaning is read.
_READ = frozenset(
    {"-m", "-p", "--protocol", "--comment", "--dst-type", "--src-type", "--ctstate", "--state", "--ctstatus"}
) | {*("--mark", "--every", "--probability", "-i", "-o", "--in-interface", "--out-interface")}
_PROTOCOL_NUMBERS = {
    "1": "icmp",
    "6": "tcp",
    "17": "udp",
    "33": "dccp",
    "58": "ipv6-icmp",
    "132": "sctp",
    "136": "udplite",
}


def read_rule(number: int, line: str, *, others: bool = False) -> Rule:
    """One ``-A`` line, read option by option. Raises UnknownOption for an option or value that is not understood.

    ``others``: the rule is none of kube-proxy's. Then a match whose options are not known is one whose truth is not
    known (``opaque`` where the module is not, either), and what the rule does with the packet is read all the same.
    """
    tokens = _TOKEN.findall(line) if '"' in line else line.split()
    if line.count('"') - line.count('\\"') & 1:
        raise UnknownOption(line)
    matches: list[Match] = []
    recent: dict[str, str] = {}
    target, argument = "continue", None
    jump = ""
    module = ""
    comment = ""
    options: dict[str, str] = {}
    negated = False
    position = 2
    end = len(tokens)
    while position < end:
        token = tokens[position]
        position += 1
        if token == "!":
            negated = True
            continue
        if position < end and tokens[position] == "!" and token != "-m" and not jump:
            negated = True
            position += 1
        value = tokens[position] if position < end else ""
        if jump:
            if token[:1] == "-":
                options[token] = value if value[:1] != "-" else ""
            elif tokens[position - 2][:1] != "-" and not targets.goes_on(jump):
                raise UnknownOption(line)
            continue
        if token in ("-j", "-g"):
            if not value:
                raise UnknownOption(line)
            jump = value
            target = "goto" if token == "-g" else "jump"
            position += 1
            continue
        if token in _FLAGS:
            if token in ("--set", "--rcheck", "--update", "--remove") or token in recent:
                recent[token] = "!" if negated else ""
            elif token == "--syn":
                matches.append(Match("tcp-syn", True, negated))
            elif token == "--physdev-is-in":
                matches.append(Match("bridged", True, negated))
            negated = False
            continue
        if token in _PAIRS and position + 1 < end:
            matches.append(_pair(token, value, tokens[position + 1], negated))
            position += 2
            negated = False
            continue
        if others and not _is_known(token):
            while position < end and tokens[position][:1] not in ("-", "!"):
                position += 1
            matches.append(Match("other", token, negated))
            negated = False
            continue
        if not value:
            raise UnknownOption(line)
        position += 1
        if token == "-m":
            module = value
            if value not in _MODULES:
                if not others:
                    raise UnknownOption(line)
                matches.append(Match("opaque", f"-m {value}"))
            if value == "recent":
                recent.setdefault("module", "")
            continue
        if token == "--comment":
            comment = _unquote(value)
        elif token in _RECENT:
            recent[token] = value
        elif token in _IGNORED:
            pass
        elif token == "--mark" and module == "connmark":
            matches.append(Match("other", f"connmark {value}", negated))
        else:
            matches.append(_match(token, value, negated, line))
        negated = False
    if recent:
        matches.extend(_recent(recent, line))
    if jump:
        try:
            target, argument = targets.target(target, jump, options, line)
        except UnknownOption:
            if not others:
                raise
            target, argument = "opaque", line
    return Rule(number, tuple(matches), target, argument, comment)


def _is_known(option: str) -> bool:
    return (
        option in _ADDRESSES
        or option in _PORTS
        or option in _RECENT
        or option in _IGNORED
        or option in _OPAQUE_OPTIONS
        or option in _READ
    )


def _pair(option: str, first: str, second: str, negated: bool) -> Match:
    """The options with two values: ``--tcp-flags SYN,RST SYN`` and ``--match-set NAME src,dst``."""
    if option == "--match-set":
        return Match("ipset", f"{first} {second}", negated)
    examined, wanted = (
        frozenset(_ALL_FLAGS if text == "ALL" else () if text == "NONE" else text.split(","))
        for text in (first, second)
    )
    return Match("tcp-flags", (examined, wanted), negated)


def _recent(options: dict[str, str], line: str) -> list[Match]:
    name = options.get("--name", "DEFAULT")
    if "--set" in options:
        return [Match("recent-set", name)]
    check = options.get("--rcheck", options.get("--update"))
    if check is None:
        raise UnknownOption(line)
    seconds = options.get("--seconds", "0")
    if not seconds.isdecimal():
        raise UnknownOption(line)
    return [Match("recent-check", (name, int(seconds)), check == "!")]


def _match(option: str, value: str, negated: bool, line: str) -> Match:
    kind = _ADDRESSES.get(option)
    if kind is not None:
        return Match(kind, prefixes(value, line), negated)
    if option in ("-p", "--protocol"):
        name = _PROTOCOL_NUMBERS.get(value, value)
        if not negated and name in PROTOCOLS:
            return PROTOCOLS[name]
        if name in ("all", "0"):
            return Match("protocol", ("tcp", "udp", "sctp"), negated)
        return Match("protocol", (name,), negated)
    kind = _PORTS.get(option)
    if kind is not None:
        return Match(kind, ports(value, line), negated)
    if option in ("--dst-type", "--src-type"):
        kind = "destination-type" if option == "--dst-type" else "source-type"
        return Match(kind, tuple(value.split(",")), negated)
    if option in ("--ctstate", "--state"):
        return Match("ct-state", frozenset(value.lower().split(",")), negated)
    if option == "--ctstatus":
        return Match("ct-status", frozenset(value.lower().split(",")), negated)
    if option in ("--mark",):
        return Match("mark", mark(value, line), negated)
    if option == "--every":
        # One packet in so many, in turn: over many connections the same share as by chance (xt_statistic.c).
        if not value.isdecimal() or int(value) < 1:
            raise UnknownOption(line)
        return Match("probability", 1 / int(value), negated)
    if option == "--probability":
        chance = probability(value)
        if chance is None:
            raise UnknownOption(line)
        return Match("probability", chance, negated)
    if option in ("-i", "-o", "--in-interface", "--out-interface"):
        return Match("in-interface" if "i" in option.strip("-")[:1] else "out-interface", value, negated)
    if option in _OPAQUE_OPTIONS:
        return Match("other", f"{option} {value}", negated)
    raise UnknownOption(line)


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text
