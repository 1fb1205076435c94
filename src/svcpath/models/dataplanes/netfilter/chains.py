"""The way of a packet through one chain and all that it jumps to.

Rules are taken in order; the first whose matches all hold and whose target ends the walk settles it (net/ipv4/netfilter/
ip_tables.c: ipt_do_table; net/netfilter/nf_tables_core.c: nft_do_chain). A rule with a probability, and a spread by
numgen, split the branch in two or more; every part goes its way to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svcpath.models.dataplanes.netfilter.flow import Branch, End, PacketWalk
from svcpath.models.dataplanes.netfilter.foreign import is_escapable, may_take, takes
from svcpath.models.dataplanes.netfilter.lookup import candidates
from svcpath.models.dataplanes.netfilter.matches import holds, key_of
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.ruleset import Chain, Rule

_MAX_DEPTH = 64
#: Verdict of a branch that goes on behind the rule that it took.
_ON = "on"


def through(flow: PacketWalk, chain: Chain, branch: Branch, depth: int) -> list[End]:
    """All ends of a branch that enters a chain; ``depth`` is the number of jumps before it."""
    if depth > _MAX_DEPTH:
        branch.doubt(chain.line, "jumps too deep", chain)
        return [(branch, "")]
    ends: list[End] = []
    live: tuple[Branch, ...] | list[Branch] = (branch,)
    for rule in candidates(chain, branch.address, branch.port):
        if len(live) == 1:
            live = _meet(flow, chain, rule, live[0], depth, ends)
        else:
            live = [after for before in live for after in _meet(flow, chain, rule, before, depth, ends)]
        if len(live) > 1:
            live = _joined(live)
        elif not live:
            return ends
    ends.extend((branch, "") for branch in live)
    return ends


def _meet(
    flow: PacketWalk, chain: Chain, rule: Rule, branch: Branch, depth: int, ends: list[End]
) -> tuple[Branch, ...] | list[Branch]:
    """One branch at one rule. What ends here is added to ``ends``; returned is what goes on to the next rule."""
    probability = 1.0
    truth: bool | None = True
    for match in rule.matches:
        if match.kind == "probability":
            probability *= match.value if not match.negated else 1 - match.value
            continue
        matched = holds(flow, match, rule, chain, branch)
        if matched is False:
            return (branch,)
        if matched is None:
            truth = None
    if truth is None:
        may_take(flow, rule, chain, branch)
        return (branch,)
    target = rule.target
    left: Branch | None = None
    if probability < 1.0:
        if probability <= 0.0:
            return (branch,)
        left, branch = branch, branch.fork(branch.weight * probability)
        left.weight *= 1.0 - probability
        taken = _take(flow, chain, branch, rule, target, rule.argument, depth)
    elif target == "continue":
        if rule.matches:
            branch.met = (rule, chain, branch.met)
        return (branch,)
    elif target in ("mark", "remember"):
        branch.alter(rule, chain)
        return (branch,)
    elif target == "numgen":
        taken, left = _spread(flow, chain, branch, rule, depth)
    elif target == "vmap":
        taken, left = _looked_up(flow, chain, branch, rule, depth)
    else:
        taken = _take(flow, chain, branch, rule, target, rule.argument, depth)
    going = [] if left is None else [left]
    for after, verdict in taken:
        if verdict == _ON:
            going.append(after)
        else:
            ends.append((after, verdict))
    return going


def _joined(live: Sequence[Branch]) -> list[Branch]:
    """Branches that go on as the same packet go on as one: else each rule that takes none of them would double them."""
    found: dict[tuple[Any, ...], Branch] = {}
    for branch in live:
        same = found.setdefault(branch.state, branch)
        if same is not branch:
            same.join(branch)
    return list(found.values())


def _take(
    flow: PacketWalk, chain: Chain, branch: Branch, rule: Rule, target: str, argument: Any, depth: int
) -> list[End]:
    """The target of a rule that matched."""
    if branch.escapes and is_escapable(chain, target, branch):
        may_take(flow, rule, chain, branch)
        return [(branch, _ON)]
    branch.met = (rule, chain, branch.met)
    if target == "jump" or target == "goto":
        return _jump(flow, chain, branch, rule, target, argument, depth)
    if target == "return":
        return [(branch, "")]
    if target == "continue":
        return [(branch, _ON)]
    if target in ("mark", "remember"):
        branch.alter(rule, chain)
        return [(branch, _ON)]
    if target == "masquerade":
        return [(branch, "accept")]
    takes(flow, rule, chain, target, branch)
    if target == "dnat":
        branch.translate(argument, rule.line, chain)
        return [(branch, "accept")]
    if target == "dnat-many":
        parts = [(branch.fork(branch.weight / len(argument)), host) for host in argument]
        for part, host in parts:
            part.translate(host, rule.line, chain)
        return [(part, "accept") for part, _ in parts]
    if target == "redirect":
        branch.translate(("::1" if flow.family == "ip6" else "127.0.0.1", argument), rule.line, chain)
        return [(branch, "accept")]
    if target == "notrack":
        branch.notrack = True
        return [(branch, _ON)]
    if target == "accept":
        if is_own(chain) and any(match.kind == "dport" for match in rule.matches):
            branch.accepted = True
        return [(branch, "accept")]
    if target in ("drop", "reject"):
        return [(branch, target)]
    branch.doubt(rule.line, flow.rules.line(rule.line), chain)
    return [(branch, _ON)]


def _jump(flow: PacketWalk, chain: Chain, branch: Branch, rule: Rule, verb: str, name: str, depth: int) -> list[End]:
    """What falls through the other chain goes on behind a jump, and leaves this one too after a goto."""
    below = flow.table(chain).chains.get(name)
    if below is None:
        branch.doubt(rule.line, f"no chain {name}", chain)
        return [(branch, _ON)]
    ends = through(flow, below, branch, depth + 1)
    for after, _ in ends:
        if after.escapes:
            after.escapes -= {("return", name)}
    return ends if verb == "goto" else [(after, verdict or _ON) for after, verdict in ends]


def _spread(flow: PacketWalk, chain: Chain, branch: Branch, rule: Rule, depth: int) -> tuple[list[End], Branch | None]:
    """numgen: every choice gets its part. Returns the ends, and what is left for numbers without a choice."""
    modulus, choices, _ = rule.argument
    ends: list[End] = []
    for _, target, argument in choices:
        part = branch.fork(branch.weight / modulus)
        ends.extend(_take(flow, chain, part, rule, target, argument, depth))
    left = modulus - len(choices)
    if left <= 0:
        return ends, None
    branch.weight = branch.weight * left / modulus
    return ends, branch


def _looked_up(
    flow: PacketWalk, chain: Chain, branch: Branch, rule: Rule, depth: int
) -> tuple[list[End], Branch | None]:
    """A verdict map: by the packet's key. Returns the ends, or the branch itself where the key is not in it."""
    fields, name = rule.argument
    key = key_of(flow, fields, branch)
    if isinstance(name, tuple):
        for item_key, target, argument in name:
            if item_key == key:
                return _take(flow, chain, branch, rule, target, argument, depth), None
        return [], branch
    map_ = flow.table(chain).sets.get(name)
    if map_ is None:
        branch.doubt(rule.line, f"no map {name}", chain)
        return [], branch
    element = map_.elements.get(key)
    if element is None:
        return [], branch
    branch.met = (rule, chain, branch.met)
    shown = Rule(element.line, (), element.target, element.argument, element.comment)
    return _take(flow, chain, branch, shown, element.target, element.argument, depth), None
