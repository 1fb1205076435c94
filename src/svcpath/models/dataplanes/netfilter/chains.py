"""The way of a packet through one chain and all that it jumps to.

Rules are taken in order; the first whose matches all hold and whose target ends the walk settles it (net/ipv4/netfilter/
ip_tables.c: ipt_do_table; net/netfilter/nf_tables_core.c: nft_do_chain). A rule with a probability, and a spread by
numgen, split the branch in two or more; every part goes its way to the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from svcpath.models.dataplanes.netfilter.flow import Branch, End, Flow
from svcpath.models.dataplanes.netfilter.foreign import may_take, takes
from svcpath.models.dataplanes.netfilter.lookup import candidates
from svcpath.models.dataplanes.netfilter.matches import holds, key_of
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.ruleset import Chain, Rule

_MAX_DEPTH = 64


class _Place(NamedTuple):
    """Where in a chain a rule was taken. ``rules`` are the chain's candidates, ``position`` the rule's among them."""

    chain: Chain
    rules: list[Rule]
    position: int
    depth: int


def through(flow: Flow, chain: Chain, branch: Branch, depth: int) -> list[End]:
    """All ends of a branch that enters a chain; ``depth`` is the number of jumps before it."""
    if depth > _MAX_DEPTH:
        branch.doubt(chain.line, "jumps too deep", chain)
        return [(branch, "")]
    return _rules(flow, chain, candidates(chain, branch.address, branch.port), 0, branch, depth)


def _behind(flow: Flow, place: _Place, branch: Branch) -> list[End]:
    return _rules(flow, place.chain, place.rules, place.position + 1, branch, place.depth)


def _rules(flow: Flow, chain: Chain, rules: list[Rule], start: int, branch: Branch, depth: int) -> list[End]:
    ends: list[End] = []
    for position in range(start, len(rules)):
        rule = rules[position]
        probability = 1.0
        truth: bool | None = True
        for match in rule.matches:
            if match.kind == "probability":
                probability *= match.value if not match.negated else 1 - match.value
                continue
            held = holds(flow, match, rule, chain, branch)
            if held is False:
                truth = False
                break
            if held is None:
                truth = None
        if truth is False:
            continue
        if truth is None:
            may_take(flow, rule, chain, branch)
            continue
        target = rule.target
        if probability < 1.0:
            if probability <= 0.0:
                continue
            taken = branch.fork(branch.weight * probability)
            branch.weight *= 1.0 - probability
            ends.extend(_take(flow, _Place(chain, rules, position, depth), taken, target, rule.argument, rule))
            continue
        if target == "continue":
            if rule.matches:
                branch.met = (rule, chain, branch.met)
            continue
        if target in ("mark", "remember"):
            branch.alter(rule, chain)
            continue
        place = _Place(chain, rules, position, depth)
        if target in ("vmap", "numgen"):
            spread = _spread if target == "numgen" else _looked_up
            outs, left = spread(flow, place, branch, rule)
            ends.extend(outs)
            if left is None:
                return ends
            branch = left
            continue
        ends.extend(_take(flow, place, branch, target, rule.argument, rule))
        return ends
    ends.append((branch, ""))
    return ends


def _take(flow: Flow, place: _Place, branch: Branch, target: str, argument: Any, rule: Rule) -> list[End]:
    """The target of a rule that matched; what comes back from a jump goes on behind the rule."""
    chain = place.chain
    branch.met = (rule, chain, branch.met)
    if target == "jump" or target == "goto":
        return _jump(flow, place, branch, target, argument, rule)
    if target == "return":
        return [(branch, "")]
    if target in ("mark", "remember"):
        branch.alter(rule, chain)
        return _behind(flow, place, branch)
    if target == "continue":
        return _behind(flow, place, branch)
    if target == "masquerade":
        return [(branch, "accept")]
    takes(flow, rule, chain, target, branch)
    if target == "dnat":
        branch.translate(argument, rule.line, chain)
        return [(branch, "accept")]
    if target == "dnat-many":
        ends: list[End] = []
        for host in argument:
            part = branch.fork(branch.weight / len(argument))
            part.translate(host, rule.line, chain)
            ends.append((part, "accept"))
        return ends
    if target == "redirect":
        branch.translate(("::1" if flow.family == "ip6" else "127.0.0.1", argument), rule.line, chain)
        return [(branch, "accept")]
    if target == "notrack":
        branch.notrack = True
        return _behind(flow, place, branch)
    if target == "accept":
        if is_own(chain) and any(match.kind == "dport" for match in rule.matches):
            branch.accepted = True
        return [(branch, "accept")]
    if target in ("drop", "reject"):
        return [(branch, target)]
    branch.doubt(rule.line, flow.rules.line(rule.line), chain)
    return _behind(flow, place, branch)


def _jump(flow: Flow, place: _Place, branch: Branch, verb: str, name: str, rule: Rule) -> list[End]:
    below = flow.table(place.chain).chains.get(name)
    if below is None:
        branch.doubt(rule.line, f"no chain {name}", place.chain)
        return _behind(flow, place, branch)
    results = through(flow, below, branch, place.depth + 1)
    if verb == "goto":
        return results
    ends: list[End] = []
    for after, verdict in results:
        if verdict:
            ends.append((after, verdict))
        else:
            ends.extend(_behind(flow, place, after))
    return ends


def _spread(flow: Flow, place: _Place, branch: Branch, rule: Rule) -> tuple[list[End], Branch | None]:
    """numgen: every choice gets its part. Returns the ends, and what is left for numbers without a choice."""
    modulus, choices, _ = rule.argument
    ends: list[End] = []
    whole = branch.weight
    left = modulus
    for _, target, argument in choices:
        left -= 1
        part = branch.fork(whole / modulus)
        ends.extend(_take(flow, place, part, target, argument, rule))
    if left <= 0:
        return ends, None
    branch.weight = whole * left / modulus
    return ends, branch


def _looked_up(flow: Flow, place: _Place, branch: Branch, rule: Rule) -> tuple[list[End], Branch | None]:
    """A verdict map: by the packet's key. Returns the ends, or the branch itself where the key is not in it."""
    chain = place.chain
    fields, name = rule.argument
    key = key_of(flow, fields, branch)
    if isinstance(name, tuple):
        for item_key, target, argument in name:
            if item_key == key:
                return _take(flow, place, branch, target, argument, rule), None
        return [], branch
    held = flow.table(chain).sets.get(name)
    if held is None:
        branch.doubt(rule.line, f"no map {name}", chain)
        return [], branch
    element = held.elements.get(key)
    if element is None:
        return [], branch
    branch.met = (rule, chain, branch.met)
    shown = Rule(element.line, (), element.target, element.argument, element.comment)
    return _take(flow, place, branch, element.target, element.argument, shown), None
