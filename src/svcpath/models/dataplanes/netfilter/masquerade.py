"""Does a packet leave with the node's address? Asked of the postrouting hook, where only its mark still counts.

kube-proxy marks what must be masqueraded (KUBE-MARK-MASQ, mark-for-masquerade) long before postrouting reads the mark;
what others masquerade there is none of the Service's doing and is left out.
"""

from __future__ import annotations

from typing import Any

from svcpath.models.dataplanes.netfilter.chains import through
from svcpath.models.dataplanes.netfilter.flow import Branch, PacketWalk
from svcpath.models.dataplanes.netfilter.matches import holds, in_prefix
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.ruleset import address_value


def masquerades(flow: PacketWalk, mark: int) -> bool:
    """Is a packet with this mark masqueraded by kube-proxy's own rules?"""
    branch = Branch("0.0.0.0" if flow.family == "ip" else "::", 0)
    branch.mark = mark
    for base in flow.rules.base.get("postrouting", ()):
        if base.type != "nat" or not flow.passes(base):
            continue
        for rule in base.rules:
            below = flow.table(base).chains.get(rule.argument) if rule.target in ("jump", "goto") else None
            if (
                below is None
                or not is_own(below)
                or any(holds(flow, match, rule, base, branch) is not True for match in rule.matches)
            ):
                continue
            if any(_masqueraded(after.met) for after, _ in through(flow, below, branch.fork(1.0), 1)):
                return True
    return False


def _masqueraded(met: tuple[Any, ...] | None) -> bool:
    return met is not None and met[0].target == "masquerade"


def marks_own_traffic(flow: PacketWalk, branch: Branch) -> bool:
    """Has the chain that translates a rule that marks what the backend itself sends? Without it a Pod can't reach
    itself through its Service."""
    chain = branch.backend_chain
    if chain is None or branch.backend is None:
        return False
    own = address_value(branch.backend.address)
    for rule in chain.rules:
        if rule.line == branch.backend_line:
            break
        if rule.target == "jump" and len(rule.matches) == 1:
            match = rule.matches[0]
            if match.kind == "source" and not match.negated and in_prefix(own, match.value):
                below = flow.table(chain).chains.get(rule.argument)
                if below is not None and any(item.target == "mark" for item in below.rules):
                    return True
    return False
