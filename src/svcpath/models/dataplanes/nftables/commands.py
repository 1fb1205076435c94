"""`nft -f` input as kube-proxy sends it (``add chain``, ``add rule``, ``add element``), one command a line.

Not a dump of a node, but the commands that it was given: useful where a log or a test holds it. Only ``add`` and ``create`` build
something; ``flush``, ``delete`` and ``destroy`` are taken literally.
"""

from __future__ import annotations

import re

from svcpath.errors import FormatError
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.nftables.listing import check_targets, read_hook
from svcpath.models.dataplanes.nftables.maps import elements
from svcpath.models.dataplanes.nftables.statements import rules_of
from svcpath.models.dataplanes.nftables.tokens import UnknownStatement, seconds
from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, Ruleset, Set

_COMMAND = re.compile(r"\s*(add|create|flush|delete|destroy|insert)\s+(\w+)\s+(ip6?|inet)\s+(\S+)\s*(.*)")
_TIMEOUT = re.compile(r"timeout (\w+)")
_FLAGS = re.compile(r"flags ([\w, ]+)")


def looks_like_commands(text: str) -> bool:
    return _COMMAND.match(text.lstrip()) is not None


def parse(text: str) -> Ruleset:
    """Raises FormatError when no command builds a table."""
    rules = Ruleset(text)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _COMMAND.match(line)
        if found is None:
            rules.damaged.append((number, line.strip(), ""))
            continue
        _command(rules, number, *found.groups())
    if not rules.tables:
        raise FormatError("no 'add table' command in it", line=1)
    rules.seal()
    check_targets(rules)
    return rules


def _command(rules: Ruleset, number: int, verb: str, kind: str, family: str, name: str, rest: str) -> None:
    table = rules.table(family, name)
    if kind == "table":
        if verb in ("delete", "destroy", "flush"):
            del rules.tables[table.name]
        return
    item, _, body = rest.partition(" ")
    body = body.strip()
    building = verb in ("add", "create")
    if kind == "chain" and item:
        if building:
            chain = table.chains.setdefault(item, Chain(table.name, item, number))
            if "hook" in body:
                read_hook(rules, chain, number, body.strip("{} ").replace(" ;", ";"))
        elif verb == "flush" and item in table.chains:
            table.chains[item].rules.clear()
        else:
            table.chains.pop(item, None)
    elif kind in ("set", "map") and item:
        if building:
            made = Set(table.name, item, number, is_map=kind == "map")
            flags = _FLAGS.search(body)
            timeout = _TIMEOUT.search(body.replace("timeout ;", ""))
            made.flags = frozenset(flags.group(1).replace(" ", "").split(",")) if flags else frozenset()
            made.timeout = seconds(timeout.group(1)) if timeout and timeout.group(1)[0].isdigit() else None
            table.sets.setdefault(item, made)
        elif verb == "flush" and item in table.sets:
            table.sets[item].elements.clear()
        else:
            table.sets.pop(item, None)
    elif kind == "rule" and building and item:
        chain = table.chains.setdefault(item, Chain(table.name, item, number, False))
        try:
            chain.rules.extend(rules_of(number, body, others=not is_own(chain)))
        except UnknownStatement:
            rules.not_understood.append((number, body, item))
            chain.rules.append(Rule(number, (Match("opaque", body),), "opaque", body))
    elif kind == "element" and item in table.sets:
        set_ = table.sets[item]
        try:
            for key, element in elements(body.strip("{} "), number, is_map=set_.is_map and building):
                if building:
                    set_.elements[key] = element
                else:
                    set_.elements.pop(key, None)
        except UnknownStatement:
            rules.not_understood.append((number, body, item))
    else:
        rules.damaged.append((number, f"{verb} {kind} {rest}", item))
