"""`nft list table` and `nft list ruleset` as netfilter rules, with and without handles (-a).

The grammar is what nft 1.0 prints (nftables src/parser_bison.y, src/rule.c). Two kinds of table matter: kube-proxy's
own (verdict maps keyed by address . protocol . port; pkg/proxy/nftables/proxier.go of Kubernetes 1.29-1.35), and
those of iptables-nft, where the rules of iptables appear in nft's words and without their comments. A statement that
is not understood makes its rule ``opaque`` and its line is recorded.
"""

from __future__ import annotations

import re
from sys import intern

from svcpath.errors import FormatError
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.nftables.maps import elements
from svcpath.models.dataplanes.nftables.shapes import by_shape
from svcpath.models.dataplanes.nftables.statements import rules_of
from svcpath.models.dataplanes.nftables.tokens import UnknownStatement, seconds
from svcpath.models.dataplanes.ruleset import (
    Chain,
    Element,
    Match,
    Rule,
    Ruleset,
    RuleTable,
    Set,
    collector_paused,
    is_opaque,
    numbered_lines,
)

_PRIORITIES = {"raw": -300, "mangle": -150, "dstnat": -100, "filter": 0, "security": 50, "srcnat": 100, "out": 100}
_FAMILIES = frozenset({"ip", "ip6", "inet", "arp", "bridge", "netdev"})
_HOOK = re.compile(
    r"type (\w+) hook (\w+)(?: devices? (?:= )?(?:\S+|\{[^}]*\}))? priority (\w+|-?\d+)(?: ([+-]) (\d+))?; ?"
    r"(?:policy (\w+);)?"
)
_HANDLE = " # handle "
_OTHER_BLOCKS = frozenset({"ct", "counter", "quota", "limit", "flowtable", "secmark", "synproxy", "tunnel"})


def parse(text: str) -> Ruleset:
    """Read the output of `nft list table` or `nft list ruleset`.

    Raises FormatError when the text holds no table at all. See ``iptables.save.parse`` for what is recorded where.
    """
    with collector_paused():
        return _Reader(text).read()


#: Tables that iptables-nft fills.
_OF_IPTABLES = frozenset(
    f"{family} {name}" for family in ("ip", "ip6") for name in ("filter", "nat", "mangle", "raw", "security")
)


class _Reader:
    """The place in the text: table, then chain, set, map or a block without interest."""

    def __init__(self, text: str) -> None:
        self.rules = Ruleset(text)
        self.table: RuleTable | None = None
        self.family = "ip"
        self.chain: Chain | None = None
        self.set: Set | None = None
        self.skip = 0
        self.typed = False
        self.wrapped: list[tuple[int, str]] | None = None

    def read(self) -> Ruleset:
        rules = self.rules
        number = 0
        for number, line in numbered_lines(rules.text):
            chain = self.chain
            if chain is not None:
                if line[:2] == "\t\t":
                    if not by_shape(chain, number, line):
                        self._chain_line(number, line)
                elif line == "\t}" and not self.skip:
                    self.chain = None
                else:
                    self._other_line(number, line)
            elif not line:
                continue
            elif self.wrapped is not None:
                self._wrapped_line(number, line)
            else:
                self._other_line(number, line)
        if self.table is not None or self.chain is not None or self.wrapped is not None:
            rules.damaged.append((number, "the text ends inside a block", self.chain.name if self.chain else ""))
        if not rules.tables:
            raise FormatError("no table in it: give the output of nft list ruleset", line=1)
        rules.seal()
        check_targets(rules)
        return rules

    def _other_line(self, number: int, line: str) -> None:
        text = line.strip()
        if not text or text[0] == "#":
            return
        cut = text.rfind(_HANDLE)
        if cut >= 0:
            text = text[:cut].rstrip()
        if self.chain is not None and text != "}" and not (text.endswith("{") and line[:2] != "\t\t"):
            self._chain_line(number, line)
        elif text == "}":
            self._close(number)
        elif text.endswith("{") and "=" not in text:
            self._open(number, text[:-1].split())
        elif self.skip:
            return
        elif self.set is not None:
            self._set_line(number, text)
        elif self.table is not None and (text.startswith(("comment ", "flags "))):
            return
        else:
            self._damage(number, line)

    def _damage(self, number: int, line: str) -> None:
        self.rules.damaged.append((number, line.strip(), self.chain.name if self.chain else ""))

    def _open(self, number: int, words: list[str]) -> None:
        if self.skip:
            self.skip += 1
        elif self.table is None:
            if len(words) == 3 and words[0] == "table" and words[1] in _FAMILIES:
                self.family = words[1]
                self.table = self.rules.table(words[1], words[2])
            elif len(words) == 2 and words[0] == "table":
                self.family = "ip"
                self.table = self.rules.table("ip", words[1])
            else:
                self._damage(number, " ".join([*words, "{"]))
                if words[:1] == ["chain"] or words[:1] == ["set"] or words[:1] == ["map"]:
                    self.skip = 1
        elif self.set is not None or self.chain is not None or words[:1] == ["table"]:
            self._damage(number, " ".join([*words, "{"]))
            if words[:1] == ["table"]:
                self.table = None
            self.chain = self.set = None
            self._open(number, words)
        elif len(words) == 2 and words[0] == "chain":
            name = intern(words[1])
            if name in self.table.chains:
                self._damage(number, f"chain {name} a second time")
            self.chain = self.table.chains.setdefault(name, Chain(self.table.name, name, number))
        elif len(words) == 2 and words[0] in ("set", "map"):
            self.typed = False
            self.set = Set(self.table.name, words[1], number, is_map=words[0] == "map")
            if words[1] in self.table.sets:
                self._damage(number, f"{words[0]} {words[1]} a second time")
                self.set = self.table.sets[words[1]]
            self.table.sets[words[1]] = self.set
        elif words and words[0] in _OTHER_BLOCKS:
            self.skip = 1
        else:
            self._damage(number, " ".join([*words, "{"]))
            self.skip = 1

    def _close(self, number: int) -> None:
        if self.skip:
            self.skip -= 1
        elif self.chain is not None:
            self.chain = None
        elif self.set is not None:
            if not self.typed:
                self._damage(number, f"{self.set.name} without a type")
            self.set = None
        elif self.table is not None:
            self.table = None
        else:
            self._damage(number, "}")

    def _set_line(self, number: int, text: str) -> None:
        assert self.set is not None
        if text.startswith("elements = {"):
            self.wrapped = []
            self._wrapped_line(number, text[len("elements = {") :])
        elif text.startswith(("type ", "typeof ")):
            self.typed = True
        elif text.startswith("flags "):
            self.set.flags = frozenset(text[6:].replace(" ", "").split(","))
        elif text.startswith("timeout "):
            self.set.timeout = seconds(text[8:])
        elif text == "counter":
            return  # every element counts
        elif not text.startswith(("size ", "comment ", "gc-interval ", "auto-merge", "policy ")):
            self._damage(number, text)

    def _wrapped_line(self, number: int, line: str) -> None:
        """Elements go on over lines until the closing brace."""
        assert self.wrapped is not None
        text = line.strip()
        if text in ("}", "") and line[:3] != "\t\t\t" and not text.endswith(" }"):
            closed = line.startswith("\t\t") or text == "}"
        else:
            closed = text.endswith("}")
        self.wrapped.append((number, text[:-1].rstrip() if closed and text.endswith("}") else text))
        if text[:1].isalpha() and text.endswith("{") and not closed:
            self._damage(number, text)
            closed = True
        if not closed:
            return
        assert self.set is not None
        for place, part in self.wrapped:
            try:
                for key, element in elements(part.rstrip(","), place, is_map=self.set.is_map):
                    self._element(key, element)
            except UnknownStatement:
                self.rules.not_understood.append((place, part, self.set.name))
        self.wrapped = None

    def _element(self, key: tuple[str, ...], element: Element) -> None:
        assert self.set is not None
        if len(key) == 1 and ("/" in key[0] or "-" in key[0]):
            self.set.prefixes.append((key[0], element.line))
        self.set.elements[key] = element

    def _chain_line(self, number: int, line: str) -> None:
        chain = self.chain
        assert chain is not None
        cut = line.rfind(_HANDLE)
        if cut >= 0:
            line = line[:cut]
        text = line.strip()
        if not text or text[0] == "#":
            return
        if text.startswith("type ") and " hook " in text:
            read_hook(self.rules, chain, number, text)
            return
        if text.startswith("comment "):
            return
        try:
            found = rules_of(number, text, others=not is_own(chain))
        except UnknownStatement:
            self.rules.not_understood.append((number, text, chain.name))
            found = [Rule(number, (Match("opaque", text),), "opaque", text)]
        else:
            if is_opaque(found):
                self.rules.not_understood.append((number, text, chain.name))
        if len(found) == 1 and found[0].target == "continue" and self._lost_target(text, chain.name):
            self.rules.not_understood.append((number, text, chain.name))
            found = [Rule(number, found[0].matches, "opaque", text)]
        if (
            found[-1].target == "dnat"
            and not found[-1].argument[1]
            and chain.name.startswith(("endpoint-", "KUBE-SEP-"))
        ):
            # kube-proxy always writes the port: the line broke off in front of it.
            self.rules.not_understood.append((number, text, chain.name))
        chain.rules.extend(found)

    def _lost_target(self, text: str, chain: str) -> bool:
        """nft without the extensions of iptables prints their targets (DNAT, MASQUERADE, ...) as nothing at all. One
        rule of kube-proxy has no target in truth: the remark that closes a KUBE-FW chain."""
        if self.table is None or self.table.name not in _OF_IPTABLES or chain.startswith("KUBE-FW-"):
            return False
        return " counter packets " in f" {text}" and not text.endswith('"') and " log" not in text


def read_hook(rules: Ruleset, chain: Chain, number: int, text: str) -> None:
    """``type nat hook prerouting priority dstnat; policy accept;``"""
    found = _HOOK.match(text)
    if found is None:
        rules.damaged.append((number, text, chain.name))
        return
    kind, hook, priority, sign, offset, policy = found.groups()
    base = _PRIORITIES.get(priority)
    if base is None:
        try:
            base = int(priority)
        except ValueError:
            rules.damaged.append((number, text, chain.name))
            return
    chain.type, chain.hook = kind, hook
    chain.priority = base + (int(offset) if sign == "+" else -int(offset) if sign else 0)
    chain.policy = policy or "accept"


def check_targets(rules: Ruleset) -> None:
    """A jump to a chain, or a lookup in a map, that is not there: the text is not whole."""
    for table in rules.tables.values():
        chains, sets = table.chains, table.sets
        for chain in chains.values():
            for rule in chain.rules:
                target = rule.target
                if target == "jump" or target == "goto":
                    if rule.argument not in chains:
                        rules.damaged.append((rule.line, f"no chain {rule.argument}", chain.name))
                elif target == "vmap":
                    if isinstance(rule.argument[1], str) and rule.argument[1] not in sets:
                        rules.damaged.append((rule.line, f"no map {rule.argument[1]}", chain.name))
                elif target == "numgen":
                    for _, verb, argument in rule.argument[1]:
                        if verb in ("jump", "goto") and argument not in chains:
                            rules.damaged.append((rule.line, f"no chain {argument}", chain.name))
        for collection in sets.values():
            for element in collection.elements.values():
                if element.target in ("jump", "goto") and element.argument not in chains:
                    rules.damaged.append((element.line, f"no chain {element.argument}", collection.name))
