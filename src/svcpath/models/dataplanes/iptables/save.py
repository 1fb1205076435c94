"""The text that iptables-save prints: tables with their chains, and the rules of each.

iptables/iptables-save.c (1.6 to 1.8): ``*table``, ``:chain policy [packets:bytes]``, ``-A`` rules, ``COMMIT``. Nothing
in it names the family but a remark in front, so it is taken from that or from the addresses.
"""

from __future__ import annotations

import re

from svcpath.errors import FormatError
from svcpath.models.dataplanes.iptables.options import read_rule
from svcpath.models.dataplanes.iptables.shapes import SHAPES
from svcpath.models.dataplanes.iptables.values import UnknownOption
from svcpath.models.dataplanes.netfilter.ownership import is_own_name
from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, Ruleset, RuleTable, collector_paused, numbered_lines

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
_COUNTERS = re.compile(r"\[\d+:\d+\] ")
_IPV6_ADDRESS = re.compile(r" -[sd] [0-9a-fA-F]*:|icmp6-|--to-destination \[")


def parse(text: str) -> Ruleset:
    """Read the output of iptables-save.

    Raises FormatError when the text holds no table at all. Lines that are not understood are in
    ``Ruleset.not_understood``; what shows that the text is not whole (a table without COMMIT, a rule of a chain that
    was not declared, a line that is neither) in ``Ruleset.damaged``.
    """
    with collector_paused():
        return _Reader(text).read()


class _Reader:
    """What is known between tables."""

    def __init__(self, text: str) -> None:
        self.rules = Ruleset(text)
        self.lines = numbered_lines(text)
        self.family = ""  #: as the remark in front says
        self.position = 0  #: of the last table that was opened
        self.seen: set[tuple[str, str]] = set()
        #: Per table, the chains that are jumped to.
        self.jumps: dict[str, set[str]] = {}

    def read(self) -> Ruleset:
        rules = self.rules
        for number, line in self.lines:
            opened: tuple[int, str] | None = (number, line)
            while opened is not None:
                opened = self._outside(*opened)
        if not rules.tables:
            raise FormatError("no table (*nat, *filter) in it: give the output of iptables-save", line=1)
        rules.seal()
        for name, targets in self.jumps.items():
            if not targets <= rules.tables[name].chains.keys():
                _check_jumps(rules, rules.tables[name])
        return rules

    def _outside(self, number: int, line: str) -> tuple[int, str] | None:
        """A line outside any table. Where it opens one, all of it is read; see ``_inside`` for what comes back."""
        name = line[1:].strip()
        if line[:1] == "*" and name in _TABLES:
            return self._inside(self._open(number, line, name), name, number)
        self._no_rule(number, _without_counters(line) or line)
        return None

    def _open(self, number: int, line: str, name: str) -> RuleTable:
        text = self.rules.text
        self.position = text.find(line, self.position)
        family = self.family or ("ip6" if _section_is_ipv6(text, self.position) else "ip")
        if (family, name) in self.seen:
            self._damage(number, f"*{name} a second time")
        self.seen.add((family, name))
        return self.rules.table(family, name)

    def _inside(self, table: RuleTable, table_name: str, number: int) -> tuple[int, str] | None:
        """The lines of one table, up to its COMMIT. Gives back a line that opens the next one without it."""
        start = number
        chains, full_name = table.chains, table.name
        jump_to = self.jumps.setdefault(full_name, set()).add
        # Rules of one chain follow each other.
        current, append = "", Chain("", "").rules.append
        for number, line in self.lines:
            parts = line.split(" ")
            if parts[0] != "-A":
                if len(parts) == 3 and parts[1] == "-" and parts[2] == "[0:0]" and line[0] == ":":
                    name = parts[0][1:]
                    if name and name not in chains:
                        chains[name] = Chain(full_name, name, number)
                        continue
                first = line[:1]
                if first == ":":
                    self._declaration(table, table_name, number, line)
                    continue
                if first == "*":
                    self._damage(start, f"*{table_name} has no COMMIT")
                    return number, line
                if line[:6] == "COMMIT":
                    return None
                bare = _without_counters(line)
                if bare is None:
                    self._no_rule(number, line)
                    continue
                line, parts = bare, bare.split(" ")
            try:
                name = parts[1]
            except IndexError:
                self._damage(number, line)
                continue
            if name != current:
                chain = chains.get(name)
                if chain is None:
                    chain = chains[name] = Chain(full_name, name, number, False)
                    self._damage(number, line, name)
                current, append = name, chain.rules.append
            count = len(parts)
            rule = SHAPES[count](number, parts, jump_to) if count in SHAPES and "" not in parts else None
            if rule is None:
                rule = self._rule(number, line, name)
                if rule.target in ("jump", "goto"):
                    jump_to(rule.argument)
            append(rule)
        self._damage(number, f"*{table_name} has no COMMIT")
        return None

    def _damage(self, number: int, text: str, chain: str = "") -> None:
        self.rules.damaged.append((number, text, chain))

    def _no_rule(self, number: int, line: str) -> None:
        """A remark (``# Generated by iptables-save v1.8.9 (nf_tables) on ...``), or what has no place here."""
        if line[:1] != "#":
            if line.strip():
                self._damage(number, line)
            return
        if "Generated by ip6tables" in line:
            self.family = "ip6"
        elif "Generated by iptables" in line:
            self.family = "ip"
        if "nf_tables" in line:
            self.rules.variant = "nf_tables"
        elif "tables-save v" in line and not self.rules.variant:
            self.rules.variant = "legacy"

    def _declaration(self, table: RuleTable, table_name: str, number: int, line: str) -> None:
        """``:NAME POLICY [packets:bytes]``"""
        parts = line[1:].split(" ")
        name = parts[0]
        if len(parts) < 2 or not name or parts[1] not in ("-", "ACCEPT", "DROP", "QUEUE"):
            self._damage(number, line, name)
            return
        chain = table.chains.get(name)
        if chain is None:
            chain = table.chains[name] = Chain(table.name, name, number)
        chain.declared = True
        if parts[1] != "-" and name in _HOOKS:
            nat = table_name == "nat"
            chain.hook = _HOOKS[name]
            chain.type = "nat" if nat else "filter"
            chain.priority = 100 if nat and name in ("POSTROUTING", "INPUT") else _PRIORITY[table_name]
            chain.policy = "drop" if parts[1] == "DROP" else "accept"

    def _rule(self, number: int, line: str, chain: str) -> Rule:
        """A rule of no common shape."""
        rules = self.rules
        try:
            rule = read_rule(number, line, others=not is_own_name(chain))
        except UnknownOption:
            rules.not_understood.append((number, line.strip(), chain))
            return Rule(number, (Match("opaque", line),), "opaque", line)
        if rule.target == "opaque" or any(match.kind == "opaque" for match in rule.matches):
            rules.not_understood.append((number, line.strip(), chain))
        if rule.target == "dnat" and not rule.argument[1] and chain.startswith("KUBE-SEP-"):
            # kube-proxy always writes the port: the line broke off in front of it.
            rules.not_understood.append((number, line.strip(), chain))
        return rule


def _without_counters(line: str) -> str | None:
    """The rule of ``[12:840] -A ...``; None for another line."""
    found = _COUNTERS.match(line)
    return line[found.end() :] if found is not None and line[found.end() : found.end() + 3] == "-A " else None


def _section_is_ipv6(text: str, start: int) -> bool:
    end = text.find("\nCOMMIT", start)
    return _IPV6_ADDRESS.search(text, start, end if end >= 0 else len(text)) is not None


def _check_jumps(rules: Ruleset, table: RuleTable) -> None:
    """A jump to a chain that is not there: a target that is not known, or a dump that is not whole."""
    chains = table.chains
    for chain in chains.values():
        for position, rule in enumerate(chain.rules):
            if rule.target in ("jump", "goto") and rule.argument not in chains:
                text = rules.line(rule.line)
                rules.not_understood.append((rule.line, text, chain.name))
                chain.rules[position] = Rule(rule.line, rule.matches, "opaque", text, rule.comment)
