"""Does a match hold for this packet? True, False, or None where addresses, ports and origin don't decide it.

What the matches mean is the kernel's: net/netfilter/xt_*.c and nft_*.c. Matches that leave something behind do so
here too: ``recent`` and the affinity sets of nftables note on the branch that a client is recalled or remembered.
"""

from __future__ import annotations

from svcpath.models.dataplanes.netfilter.flow import UNPRINTED, Branch, PacketWalk
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, address_value, prefix_value
from svcpath.models.dataplanes.table import TrafficOrigin

#: Names of interfaces behind which there are Pods or containers of this node: nothing from outside comes in by them.
_LOCAL_BRIDGES = ("lo", "docker", "br-", "cni", "veth", "cali", "flannel", "kube-", "virbr", "podman", "nodelocaldns")


def holds(flow: PacketWalk, match: Match, rule: Rule, chain: Chain, branch: Branch) -> bool | None:
    """``rule`` and ``chain`` are where the match stands: some matches depend on what they are there for."""
    found = _truth(flow, match, rule, chain, branch)
    return found if found is None or not match.negated else not found


def _truth(flow: PacketWalk, match: Match, rule: Rule, chain: Chain, branch: Branch) -> bool | None:
    """Without the negation. Every kind that is not named here is undecidable."""
    kind, value = match.kind, match.value
    if kind == "protocol":
        return flow.protocol in value
    if kind == "source":
        return in_prefix(flow.source, value)
    if kind == "destination":
        return in_prefix(address_value(branch.address), value)
    if kind == "dport":
        return any(low <= branch.port <= high for low, high in value)
    if kind == "sport":
        # The client's port is not known, but any is in the whole range.
        return True if any(low <= 1 and high == 65535 for low, high in value) else None
    if kind == "with-protocol":
        return value[0] == flow.protocol and _truth(flow, value[1], rule, chain, branch)
    if kind == "ct-state":
        return _connection_state(value, branch)
    if kind == "mark":
        return _mark(branch, *value)
    if kind == "destination-type":
        return _type_holds(value, flow.ends_here(branch))
    if kind == "source-type":
        return _type_holds(value, flow.packet.origin is TrafficOrigin.NODE)
    if kind == "in-set":
        return _in_set(flow, value, rule, chain, branch)
    if kind == "in":
        fields, keys = value
        return key_of(flow, fields, branch) in keys
    if kind in ("recent-check", "xt-recent"):
        return _recent(match, rule, branch)
    if kind == "recent-set":
        branch.remembers = value
        return True
    if kind in ("in-interface", "out-interface"):
        return _interface(flow.packet.origin, kind, value, chain)
    if kind == "ct-status":
        return branch.dnated if value == {"dnat"} else None
    if kind == "tcp-syn":
        return flow.protocol == "tcp"
    if kind == "bridged":
        # kube-proxy asks it to tell the Pods behind a bridge from the outside; a node's uplink may be in one too.
        return None if flow.packet.origin is TrafficOrigin.POD or not is_own(chain) else False
    if kind == "tcp-flags":
        examined, wanted = value
        return flow.protocol == "tcp" and {"SYN"} & examined == wanted
    if kind == "family":
        return ("ipv6" if flow.family == "ip6" else "ipv4") in value
    return None


def _mark(branch: Branch, value: int, mask: int) -> bool | None:
    """By the bits that are known; None where they agree and others could still differ."""
    known = mask & ~branch.unsure
    if (branch.mark & known) != (value & known):
        return False
    return None if mask & branch.unsure else (branch.mark & mask) == value


def _type_holds(wanted: tuple[str, ...], local: bool) -> bool | None:
    if "LOCAL" in wanted:
        return local
    return None if "UNICAST" in wanted else False


def _connection_state(wanted: frozenset[str], branch: Branch) -> bool:
    if branch.notrack:
        return "untracked" in wanted
    return "new" in wanted or ("dnat" in wanted and branch.dnated)


def _recent(match: Match, rule: Rule, branch: Branch) -> bool | None:
    """No client is known yet, so none is recalled; that the rule would is noted."""
    if match.kind == "xt-recent":
        if rule.target in ("dnat", "dnat-many", "opaque"):
            branch.remembers = UNPRINTED
            return True
        if rule.target in ("jump", "goto"):
            branch.recalls = (*branch.recalls, (UNPRINTED, 0))
        return match.negated
    if rule.target in ("jump", "goto"):
        branch.recalls = (*branch.recalls, match.value)
    return False


def _in_set(
    flow: PacketWalk, value: tuple[tuple[str, ...], str], rule: Rule, chain: Chain, branch: Branch
) -> bool | None:
    fields, name = value
    set_ = flow.table(chain).sets.get(name)
    if set_ is None:
        branch.doubt(rule.line, f"no set {name}", chain)
        return None
    found = key_of(flow, fields, branch) in set_.elements
    if not found and set_.prefixes and len(fields) == 1:
        number = flow.source if fields[0] == "source" else address_value(branch.address)
        found = any(in_prefix(number, text) for text, _ in set_.prefixes)
    if fields == ("source",) and set_.flags & {"timeout", "dynamic"} and rule.target in ("jump", "goto"):
        branch.recalls = (*branch.recalls, (name, set_.timeout or -1))
        return found and flow.packet.known
    return found


def _interface(origin: TrafficOrigin, kind: str, value: str | tuple[str, ...], chain: Chain) -> bool | None:
    names = (value,) if isinstance(value, str) else value
    if is_own(chain):
        # kube-proxy names an interface for one purpose: to tell the Pods of this node (detectLocalMode).
        return origin is TrafficOrigin.POD
    if all(name == "lo" for name in names):
        return False if origin is not TrafficOrigin.NODE or kind == "in-interface" else None
    if kind == "in-interface" and origin is TrafficOrigin.EXTERNAL:
        return False if all(name.startswith(_LOCAL_BRIDGES) for name in names) else None
    return None


def key_of(flow: PacketWalk, fields: tuple[str, ...], branch: Branch) -> tuple[str, ...]:
    """The fields of the packet as a key of nftables' sets and maps."""
    return tuple(_field(flow, field, branch) for field in fields)


def _field(flow: PacketWalk, field: str, branch: Branch) -> str:
    if field == "destination":
        return branch.address
    if field == "source":
        return flow.packet.source
    if field == "protocol":
        return flow.protocol
    if field.endswith("dport"):
        return str(branch.port) if " " not in field or field.startswith(flow.protocol) else ""
    if field == "mark":
        return f"0x{branch.mark:08x}"
    return f"?{field}"


def in_prefix(value: tuple[int, int] | None, prefixes: str | tuple[str, ...]) -> bool:
    """Is an address in a prefix, or in one of several?"""
    if value is None:
        return False
    for text in (prefixes,) if isinstance(prefixes, str) else prefixes:
        span = prefix_value(text)
        if span is not None and span[0] == value[0] and span[1] <= value[1] <= span[2]:
            return True
    return False
