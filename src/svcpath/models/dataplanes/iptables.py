"""iptables-save as netfilter rules: legacy and nf_tables, with and without counters, ip6tables-save too.

Options and their spelling are those that iptables 1.6 to 1.8 print (iptables/iptables-save.c and the ``save`` functions
of extensions/libxt_*.c, libipt_*.c). An option that is not known makes its rule ``opaque``: the rule is kept, its line
recorded, and whoever meets it while tracing is told. The rules a real kube-proxy writes by the ten thousand are
recognised by their shape before the general reading; both give the same rules.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from sys import intern
from typing import Any

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ruleset import (
    Chain,
    Match,
    Rule,
    Ruleset,
    Table,
    address_value,
    canonical,
    collector_paused,
    is_ipv4,
    is_ipv4_and_port,
    numbered_lines,
    prefix_value,
)

#: Built-in chains: hook and priority by table (include/uapi/linux/netfilter_ipv4.h).
_HOOKS = {
    "PREROUTING": "prerouting",
    "INPUT": "input",
    "FORWARD": "forward",
    "OUTPUT": "output",
    "POSTROUTING": "postrouting",
}
_PRIORITY = {"raw": -300, "mangle": -150, "nat": -100, "filter": 0, "security": 50}
_TABLES = frozenset(_PRIORITY)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_COUNTERS = re.compile(r"\[\d+:\d+\] ")

_IPV6_ADDRESS = re.compile(r" -[sd] [0-9a-fA-F]*:|icmp6-|--to-destination \[")
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
    }
)
_RECENT = frozenset({"--name", "--seconds", "--hitcount", "--mask"})
_IGNORED = frozenset({"--mode", "--nfacct-name", "--ctdir", "--icmp-type", "--icmpv6-type"})
#: Options that are known but whose truth a packet's addresses do not decide.
_OPAQUE_OPTIONS = frozenset(
    {"--physdev-in", "--physdev-out", "--limit", "--limit-burst", "--uid-owner", "--gid-owner", "--mac-source"}
    | {"--hashlimit-upto", "--hashlimit-above", "--hashlimit-name", "--hashlimit-mode", "--hashlimit-burst"}
    | {"--connlimit-above", "--connlimit-upto", "--connlimit-mask", "--string", "--algo", "--length", "--pkt-type"}
    | {"--tcp-option", "--every", "--packet", "--dscp", "--tos", "--helper", "--pol", "--dir", "--path", "--cgroup"}
    | {"--limit-iface-in", "--vaddr", "--vport", "--vproto"}
)
_PROTOCOL_NUMBERS = {
    "1": "icmp",
    "6": "tcp",
    "17": "udp",
    "33": "dccp",
    "58": "ipv6-icmp",
    "132": "sctp",
    "136": "udplite",
}

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
    }
)
_SIMPLE = {"ACCEPT": "accept", "DROP": "drop", "RETURN": "return", "NOTRACK": "notrack", "TPROXY": "tproxy"}
_BUILTIN = (
    frozenset(_SIMPLE) | _CONTINUE | {"REJECT", "MASQUERADE", "DNAT", "REDIRECT", "MARK", "CT", "QUEUE", "NFQUEUE"}
)

_PROTOCOLS = {name: Match("protocol", (name,)) for name in ("tcp", "udp", "sctp")}
_PROTOCOL_ALONE = {name: (match,) for name, match in _PROTOCOLS.items()}


class _Unknown(Exception):
    """The rule holds something that is not understood; the text says what."""


def parse(text: str) -> Ruleset:
    """Read the output of iptables-save.

    Raises FormatError when the text holds no table at all. Lines that are not understood are in
    ``Ruleset.not_understood``; what shows that the text is not whole (a table without COMMIT, a rule of a chain that
    was not declared, a line that is neither) in ``Ruleset.damaged``.
    """
    rules = Ruleset(text)
    with collector_paused():
        jumps = _read(rules, text)
        if not rules.tables:
            raise FormatError("no table (*nat, *filter) in it: give the output of iptables-save", line=1)
        rules.seal()
        for name, targets in jumps.items():
            if not targets <= rules.tables[name].chains.keys():
                _check_jumps(rules, rules.tables[name])
    return rules


def _read(rules: Ruleset, text: str) -> dict[str, set[str]]:
    """Fill the rules; returns, per table, the chains that are jumped to."""
    jumps: dict[str, set[str]] = {}
    jump_to = set[str]().add
    full_name = ""
    header_family = ""
    table: Table | None = None
    table_line = 0
    table_name = ""
    family = "ip"
    chains: dict[str, Chain] = {}
    # Rules of one chain follow each other.
    current, append = "", Chain("", "").rules.append
    seen_tables: set[tuple[str, str]] = set()
    position = 0
    for number, line in numbered_lines(text):
        if line[:3] == "-A ":
            pass
        elif line[:1] == ":":
            if table is None:
                _damage(rules, number, line, "")
                continue
            if line[-8:] == " - [0:0]" and " " not in (name := line[1:-8]) and name and name not in chains:
                chains[name] = Chain(full_name, name, number)
            else:
                _declare(rules, table, table_name, line, number)
            continue
        elif line[:1] == "[":
            found = _COUNTERS.match(line)
            if found is None or line[found.end() : found.end() + 3] != "-A ":
                _damage(rules, number, line, "")
                continue
            line = line[found.end() :]
        elif line[:1] == "*":
            if table is not None:
                _damage(rules, table_line, f"*{table_name} has no COMMIT", "")
            table_name = line[1:].strip()
            if table_name not in _TABLES:
                _damage(rules, number, line, "")
                table = None
                continue
            position = text.find(line, position)
            family = header_family or ("ip6" if _section_is_ipv6(text, position) else "ip")
            if (family, table_name) in seen_tables:
                _damage(rules, number, f"*{table_name} a second time", "")
            seen_tables.add((family, table_name))
            table = rules.table(family, table_name)
            table_line = number
            chains, full_name = table.chains, table.name
            jump_to = jumps.setdefault(full_name, set()).add
            current = ""
            continue
        elif line[:6] == "COMMIT":
            if table is None:
                _damage(rules, number, line, "")
            table = None
            continue
        else:
            if line[:1] == "#":
                if "Generated by ip6tables" in line:
                    header_family = "ip6"
                elif "Generated by iptables" in line:
                    header_family = "ip"
                if "nf_tables" in line:
                    rules.variant = "nf_tables"
                elif "tables-save v" in line and not rules.variant:
                    rules.variant = "legacy"
            elif line.strip():
                _damage(rules, number, line, "")
            continue
        if table is None:
            _damage(rules, number, line, "")
            continue
        parts = line.split(" ")
        try:
            name = parts[1]
        except IndexError:
            _damage(rules, number, line, "")
            continue
        if name != current:
            found_chain = chains.get(name)
            if found_chain is None:
                found_chain = chains[name] = Chain(table.name, name, number, False)
                _damage(rules, number, line, name)
            current, append = name, found_chain.rules.append
        # The shapes of which a big table has tens of thousands.
        count = len(parts)
        if count == 6 and parts[4] == "-j":
            if parts[2] == "-s" and parts[5] not in _BUILTIN and parts[3][-3:] == "/32":
                target = intern(parts[5])
                append(Rule(number, (Match("source", parts[3]),), "jump", target))
                jump_to(target)
                continue
        elif count == 10:
            if parts[8] == "--to-destination" and parts[7] == "DNAT" and parts[6] == "-j" and parts[2] == "-p":
                protocol = _PROTOCOL_ALONE.get(parts[3])
                backend = parts[9]
                if protocol is not None and parts[5] == parts[3] and parts[4] == "-m" and is_ipv4_and_port(backend):
                    host, _, port = backend.partition(":")
                    place = int(port)
                    if place < 65536:
                        append(Rule(number, protocol, "dnat", (host, place)))
                        continue
            elif parts[3] == "statistic" and parts[6] == "--probability" and parts[8] == "-j" and parts[5] == "random":
                chance = _chance(parts[7])
                if chance is not None and parts[2] == "-m" and parts[4] == "--mode" and parts[9] not in _BUILTIN:
                    target = parts[9]
                    append(Rule(number, chance, "jump", target))
                    jump_to(target)
                    continue
        elif count == 15:
            if parts[3] == "-s" and parts[2] == "!" and parts[5] == "-d":
                held = _destined(parts[6:])
                if held is not None and prefix_value(parts[4]) is not None and parts[14] not in _BUILTIN:
                    target = intern(parts[14])
                    append(Rule(number, (_not_from(parts[4]), *held), "jump", target))
                    jump_to(target)
                    continue
        elif count == 18:
            if parts[2] == "-d" and parts[8] == "--comment" and parts[9][:1] == '"' and parts[11][-1:] == '"':
                held = _destined([parts[3], *parts[4:6], *parts[12:]])
                comment = f"{parts[9][1:]} {parts[10]} {parts[11][:-1]}"
                plain = parts[6] == "-m" and parts[7] == "comment" and '"' not in comment and "\\" not in comment
                if held is not None and plain and parts[17] not in _BUILTIN:
                    append(Rule(number, held, "jump", parts[17], comment))
                    jump_to(parts[17])
                    continue
        elif count == 4 and parts[2] == "-j" and parts[3] not in _BUILTIN:
            append(Rule(number, (), "jump", parts[3]))
            jump_to(parts[3])
            continue
        rule = _general(rules, number, line, name)
        append(rule)
        if rule.target in ("jump", "goto"):
            jump_to(rule.argument)
    if table is not None:
        _damage(rules, number, f"*{table_name} has no COMMIT", "")
    return jumps


def _damage(rules: Ruleset, number: int, text: str, chain: str) -> None:
    rules.damaged.append((number, text, chain))


def _section_is_ipv6(text: str, start: int) -> bool:
    end = text.find("\nCOMMIT", start)
    return _IPV6_ADDRESS.search(text, start, end if end >= 0 else len(text)) is not None


def _declare(rules: Ruleset, table: Table, table_name: str, line: str, number: int) -> None:
    """``:NAME POLICY [packets:bytes]``"""
    parts = line[1:].split(" ")
    if len(parts) < 2 or not parts[0] or parts[1] not in ("-", "ACCEPT", "DROP", "QUEUE"):
        _damage(rules, number, line, parts[0])
        return
    name = parts[0]
    chain = table.chains.get(name)
    if chain is None:
        chain = table.chains[name] = Chain(table.name, name, number)
    chain.declared = True
    if parts[1] != "-" and name in _HOOKS:
        chain.hook = _HOOKS[name]
        chain.type = "nat" if table_name == "nat" else "filter"
        chain.priority = 100 if table_name == "nat" and name in ("POSTROUTING", "INPUT") else _PRIORITY[table_name]
        chain.policy = "drop" if parts[1] == "DROP" else "accept"


def _check_jumps(rules: Ruleset, table: Table) -> None:
    """A jump to a chain that is not there: a target that is not known, or a dump that is not whole."""
    chains = table.chains
    for chain in chains.values():
        for position, rule in enumerate(chain.rules):
            if rule.target in ("jump", "goto") and rule.argument not in chains:
                text = rules.line(rule.line)
                rules.not_understood.append((rule.line, text, chain.name))
                chain.rules[position] = Rule(rule.line, rule.matches, "opaque", text, rule.comment)


@lru_cache(maxsize=4096)
def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


@lru_cache(maxsize=4096)
def _chance(text: str) -> tuple[Match] | None:
    number = _number(text)
    return None if number is None else (Match("probability", number),)


@lru_cache(maxsize=256)
def _not_from(prefix: str) -> Match:
    return Match("source", prefix, True)


@lru_cache(maxsize=4096)
def _to_port(text: str) -> Match | None:
    return Match("dport", ((int(text), int(text)),)) if text.isdecimal() and int(text) < 65536 else None


def _destined(parts: list[str]) -> tuple[Match, Match, Match] | None:
    """``10.96.0.10/32 -p tcp -m tcp --dport 53 -j CHAIN`` of kube-proxy, split at spaces."""
    protocol = _PROTOCOLS.get(parts[2])
    port = _to_port(parts[6])
    if protocol is None or port is None or parts[1] != "-p" or parts[3] != "-m" or parts[4] != parts[2]:
        return None
    if parts[5] != "--dport" or parts[7] != "-j" or parts[0][-3:] != "/32" or is_ipv4(parts[0][:-3]) is None:
        return None
    return Match("destination", parts[0]), protocol, port


def _general(rules: Ruleset, number: int, line: str, chain: str) -> Rule:
    try:
        rule = _rule(number, line)
        if rule.target == "dnat" and not rule.argument[1] and chain.startswith("KUBE-SEP-"):
            # kube-proxy always writes the port: the line broke off in front of it.
            rules.not_understood.append((number, line.strip(), chain))
        return rule
    except _Unknown:
        rules.not_understood.append((number, line.strip(), chain))
        return Rule(number, (Match("opaque", line),), "opaque", line)


def _rule(number: int, line: str) -> Rule:
    """One ``-A`` line, read option by option."""
    tokens = _TOKEN.findall(line) if '"' in line else line.split()
    if line.count('"') - line.count('\\"') & 1:
        raise _Unknown(line)
    matches: list[Match] = []
    recent: dict[str, str] = {}
    target, argument = "continue", None
    jump = ""
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
            elif tokens[position - 2][:1] != "-":
                raise _Unknown(line)
            continue
        if token in ("-j", "-g"):
            if not value:
                raise _Unknown(line)
            jump = value
            target = "goto" if token == "-g" else "jump"
            position += 1
            continue
        if token in _FLAGS:
            if token in ("--set", "--rcheck", "--update", "--remove") or token in recent:
                recent[token] = "!" if negated else ""
            elif token == "--syn":
                matches.append(Match("tcp-syn", True, negated))
            negated = False
            continue
        if not value:
            raise _Unknown(line)
        position += 1
        if token == "-m":
            if value not in _MODULES:
                raise _Unknown(line)
            if value == "recent":
                recent.setdefault("module", "")
            continue
        if token == "--comment":
            comment = _unquote(value)
        elif token in _RECENT:
            recent[token] = value
        elif token in _IGNORED:
            pass
        else:
            matches.append(_match(token, value, negated, line))
        negated = False
    if recent:
        matches.extend(_recent(recent, line))
    if jump:
        target, argument = _target(target, jump, options, line)
    return Rule(number, tuple(matches), target, argument, comment)


def _recent(options: dict[str, str], line: str) -> list[Match]:
    name = options.get("--name", "DEFAULT")
    if "--set" in options:
        return [Match("recent-set", name)]
    check = options.get("--rcheck", options.get("--update"))
    if check is None:
        raise _Unknown(line)
    seconds = options.get("--seconds", "0")
    if not seconds.isdecimal():
        raise _Unknown(line)
    return [Match("recent-check", (name, int(seconds)), check == "!")]


def _match(option: str, value: str, negated: bool, line: str) -> Match:
    kind = _ADDRESSES.get(option)
    if kind is not None:
        return Match(kind, _prefixes(value, line), negated)
    if option in ("-p", "--protocol"):
        name = _PROTOCOL_NUMBERS.get(value, value)
        if not negated and name in _PROTOCOLS:
            return _PROTOCOLS[name]
        if name in ("all", "0"):
            return Match("protocol", ("tcp", "udp", "sctp"), negated)
        return Match("protocol", (name,), negated)
    kind = _PORTS.get(option)
    if kind is not None:
        return Match(kind, _ports(value, line), negated)
    if option in ("--dst-type", "--src-type"):
        kind = "destination-type" if option == "--dst-type" else "source-type"
        return Match(kind, tuple(value.split(",")), negated)
    if option in ("--ctstate", "--state"):
        return Match("ct-state", frozenset(value.lower().split(",")), negated)
    if option == "--ctstatus":
        return Match("ct-status", frozenset(value.lower().split(",")), negated)
    if option in ("--mark",):
        return Match("mark", _mark(value, line), negated)
    if option == "--probability":
        probability = _number(value)
        if probability is None:
            raise _Unknown(line)
        return Match("probability", probability, negated)
    if option in ("-i", "-o", "--in-interface", "--out-interface"):
        return Match("in-interface" if "i" in option.strip("-")[:1] else "out-interface", value, negated)
    if option == "--match-set":
        return Match("ipset", value, negated)
    if option in _OPAQUE_OPTIONS:
        return Match("other", f"{option} {value}", negated)
    raise _Unknown(line)


def _prefixes(value: str, line: str) -> str | tuple[str, ...]:
    parts = tuple(value.split(","))
    for part in parts:
        if prefix_value(part) is None:
            raise _Unknown(line)
    return parts[0] if len(parts) == 1 else parts


def _ports(value: str, line: str) -> tuple[tuple[int, int], ...]:
    ranges = []
    for part in value.split(","):
        low, colon, high = part.partition(":")
        if not colon:
            high = low
        low, high = low or "0", high or "65535"
        if not (low.isdecimal() and high.isdecimal()):
            raise _Unknown(line)
        ranges.append((int(low), int(high)))
    return tuple(ranges)


def _mark(value: str, line: str) -> tuple[int, int]:
    number, slash, mask = value.partition("/")
    try:
        return int(number, 0), int(mask, 0) if slash else 0xFFFFFFFF
    except ValueError:
        raise _Unknown(line) from None


def _target(verb: str, name: str, options: dict[str, str], line: str) -> tuple[str, Any]:
    if name in _CONTINUE:
        return "continue", None
    if not options.keys() <= _TARGET_OPTIONS.get(name, _NO_OPTIONS):
        raise _Unknown(line)
    if name in _SIMPLE:
        return _SIMPLE[name], None
    if name == "REJECT":
        if options.get("--reject-with", "tcp-reset") not in _REJECTIONS:
            raise _Unknown(line)
        return "reject", None
    if name == "MASQUERADE":
        return "masquerade", None
    if name == "DNAT":
        return _dnat(options.get("--to-destination", ""), line)
    if name == "REDIRECT":
        port = options.get("--to-ports", "0").partition("-")[0]
        if not port.isdecimal():
            raise _Unknown(line)
        return "redirect", int(port)
    if name == "CT":
        return ("notrack", None) if "--notrack" in options else ("continue", None)
    if name == "MARK":
        return "mark", _set_mark(options, line)
    if name in ("QUEUE", "NFQUEUE"):
        raise _Unknown(line)
    return verb, intern(name)


def _dnat(value: str, line: str) -> tuple[str, Any]:
    """``10.1.2.3``, ``10.1.2.3:80``, ``[fd00::1]:80``; a range of either spreads over what it spans."""
    if value[:1] == "[":
        host, bracket, rest = value[1:].partition("]")
        port = rest[1:] if rest[:1] == ":" else ""
        if not bracket or (rest and not port):
            raise _Unknown(line)
    elif value.count(":") > 1:
        host, port = value, ""
    else:
        host, colon, port = value.partition(":")
        if colon and not port:
            raise _Unknown(line)
    if port and not port.isdecimal():
        raise _Unknown(line)
    if "-" in host:
        span = prefix_value(host)
        if span is None or span[2] - span[1] > 255:
            raise _Unknown(line)
        make = ipaddress.IPv4Address if span[0] == 4 else ipaddress.IPv6Address
        return "dnat-many", tuple((str(make(number)), int(port or 0)) for number in range(span[1], span[2] + 1))
    if address_value(host) is None or int(port or 0) > 65535:
        raise _Unknown(line)
    return "dnat", (canonical(host), int(port or 0))


def _set_mark(options: dict[str, str], line: str) -> tuple[int, int]:
    """(mask to clear, value to xor), as the MARK target of the kernel holds every one of its forms."""
    for option, value in options.items():
        if not option.startswith("--"):
            continue
        number, mask = _mark(value, line)
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
    raise _Unknown(line)


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text
