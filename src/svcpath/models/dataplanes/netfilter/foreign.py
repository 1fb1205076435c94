"""Rules that are not kube-proxy's and lie on the packet's way: what they did to it, or may do.

A rule of others whose matches hold is *certain*. One whose matches can't be decided is *possible*: it is followed
down its jumps to the first target that would end the walk, and named with what that would do. Chains of the kubelet
are no foreign ones.
"""

from __future__ import annotations

from typing import NamedTuple

from svcpath.models.dataplanes.netfilter.flow import Branch, PacketWalk
from svcpath.models.dataplanes.netfilter.matches import holds
from svcpath.models.dataplanes.netfilter.ownership import KUBELET_CHAINS, is_own
from svcpath.models.dataplanes.ruleset import Chain, Rule, RuleTable
from svcpath.models.dataplanes.table import ForeignRule

_TERMINAL = frozenset({"accept", "drop", "reject", "dnat", "dnat-many", "redirect", "notrack", "tproxy", "opaque"})
_HARMFUL = _TERMINAL - {"accept"}
_EFFECTS = {"dnat-many": "dnat", "opaque": "unknown"}
_MOST_POSSIBLE = 32
_DEEPEST = 8


def takes(flow: PacketWalk, rule: Rule, chain: Chain, effect: str, branch: Branch) -> None:
    """A rule that matched: noted if it is of others."""
    if is_own(chain) or chain.name in KUBELET_CHAINS:
        return
    if effect == "accept" and not (chain.type == "nat" or chain.table.endswith(" nat")):
        if branch.dnated:
            return
        effect = "let-through"
    effect = _EFFECTS.get(effect, effect)
    branch.foreign = (*branch.foreign, ForeignRule(rule.line, chain.name, effect, flow.rules.line(rule.line)))


def is_escapable(chain: Chain, target: str, branch: Branch) -> bool:
    """Is it uncertain that a rule of others was met at all, because an undecidable one before it may have let the packet
    out? What the filter accepts is let through either way."""
    if not branch.escapes or is_own(chain) or chain.name in KUBELET_CHAINS:
        return False
    return target in _HARMFUL or (target == "accept" and chain.type == "nat")


def may_take(flow: PacketWalk, rule: Rule, chain: Chain, branch: Branch) -> None:
    """A rule whose matches can't be decided: one of kube-proxy leaves the answer undecided, one of others is noted with
    what it would do."""
    if is_own(chain):
        branch.doubt(rule.line, flow.rules.line(rule.line), chain)
        return
    effect = rule.target
    if effect in ("jump", "goto"):
        reach = _reach(flow.table(chain), rule.argument)
        branch.unsure |= reach.marks
        lets_out = reach.accepts
        effect = _could(flow, flow.table(chain), rule.argument, branch, 0)
    else:
        lets_out = effect in ("accept", "opaque")
        branch.unsure |= rule.argument[0] | rule.argument[1] if effect == "mark" else 0
    if lets_out:
        branch.escapes |= {("accept", "")}
    if rule.target in ("return", "goto"):
        branch.escapes |= {("return", chain.name)}
    if len(branch.possible) > _MOST_POSSIBLE:
        return
    if effect in _TERMINAL:
        line = flow.rules.line(rule.line)
        branch.possible = (*branch.possible, ForeignRule(rule.line, chain.name, effect, line, False))


class _Reach(NamedTuple):
    """What a chain and all that it jumps to could do beside ending the walk: bits of the mark, and an accept."""

    marks: int = 0
    accepts: bool = False


def _reach(table: RuleTable, name: str, depth: int = 0) -> _Reach:
    chain = table.chains.get(name)
    if chain is None or depth > _DEEPEST:
        return _Reach(accepts=chain is None)
    marks, accepts = 0, False
    for rule in chain.rules:
        if rule.target == "mark":
            marks |= rule.argument[0] | rule.argument[1]
        elif rule.target in ("accept", "opaque"):
            accepts = True
        elif rule.target in ("jump", "goto"):
            below = _reach(table, rule.argument, depth + 1)
            marks, accepts = marks | below.marks, accepts or below.accepts
    return _Reach(marks, accepts)


def _could(flow: PacketWalk, table: RuleTable, name: str, branch: Branch, depth: int) -> str:
    """The first terminal target that a chain could lead to, "" if none."""
    chain = table.chains.get(name)
    if chain is None or depth > _DEEPEST:
        return ""
    fallback = ""
    for rule in chain.rules:
        if any(holds(flow, match, rule, chain, branch) is False for match in rule.matches):
            continue
        effect = rule.target
        if effect in ("jump", "goto"):
            effect = _could(flow, table, rule.argument, branch, depth + 1)
        if effect in _HARMFUL:
            return effect
        if effect == "accept" and not fallback:
            fallback = effect
    return fallback


def dropped_by_policy(base: Chain, branch: Branch) -> bool:
    """A base chain that drops what falls through it. Uncertain where a rule of the same chain may take the packet."""
    certain = ("accept", "") not in branch.escapes and not any(rule.chain == base.name for rule in branch.possible)
    foreign = ForeignRule(base.line, base.name, "policy-drop", f"policy of {base.name}", certain)
    if not certain:
        branch.possible = (*branch.possible, foreign)
        return False
    branch.foreign = (*branch.foreign, foreign)
    return True
