"""A packet's walk through netfilter rules, as the kernel takes it, with every branch and its weight.

Order of hooks and priorities: Documentation/networking and include/uapi/linux/netfilter_ipv4.h. A packet of a Pod or
from outside passes prerouting, then input or forward; one of the node passes output. Only the first packet of a
connection is walked (state NEW), since the nat tables see no other. A match that can't be decided from addresses,
ports and origin is neither true nor false: in a chain of the data plane it makes the answer undecided, elsewhere it
becomes a rule that may take the packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, Ruleset, Set, Table, address_value, prefix_value
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    Backend,
    ForeignRule,
    NotUnderstood,
    Origin,
    Outcome,
    RuleMet,
    Share,
    Verdict,
)

_OWN_PREFIXES = (
    "KUBE-SVC-",
    "KUBE-SVL-",
    "KUBE-EXT-",
    "KUBE-XLB-",
    "KUBE-FW-",
    "KUBE-SEP-",
    "KUBE-PORTALS-",
    "KUBE-NODEPORT-",
    "KUBE-IPVS-",
)
_OWN = frozenset(
    {"KUBE-SERVICES", "KUBE-EXTERNAL-SERVICES", "KUBE-NODEPORTS", "KUBE-MARK-MASQ", "KUBE-MARK-DROP", "KUBE-FORWARD"}
    | {"KUBE-POSTROUTING", "KUBE-PROXY-FIREWALL", "KUBE-PROXY-CANARY", "KUBE-LOAD-BALANCER", "KUBE-NODE-PORT"}
    | {"KUBE-SOURCE-RANGES-FIREWALL"}
)
#: Chains that the kubelet writes (pkg/kubelet/kubelet_network_linux.go).
KUBELET_CHAINS = frozenset({"KUBE-FIREWALL", "KUBE-KUBELET-CANARY", "KUBE-IPTABLES-HINT"})
_TERMINAL = frozenset({"accept", "drop", "reject", "dnat", "dnat-many", "redirect", "notrack", "tproxy", "opaque"})
_HARMFUL = _TERMINAL - {"accept"}
_LOCAL_BRIDGES = ("lo", "docker", "br-", "cni", "veth", "cali", "flannel", "kube-", "virbr", "podman", "nodelocaldns")
_MAX_DEPTH = 64
_INDEX_FROM = 12


def is_own(chain: Chain) -> bool:
    """True for a chain that kube-proxy writes."""
    if chain.table.endswith(" kube-proxy"):
        return True
    name = chain.name
    return name.startswith("KUBE-") and (name.startswith(_OWN_PREFIXES) or name in _OWN)


class Packet(NamedTuple):
    """The first packet of a new connection. ``address`` may be ANY_IPV4 or ANY_IPV6: some address of the node."""

    source: str
    origin: Origin
    protocol: str
    address: str
    port: int
    arriving: bool = False


class _State:
    """One branch of the walk."""

    __slots__ = (
        "accepted",
        "address",
        "backend",
        "backend_chain",
        "backend_line",
        "dnated",
        "foreign",
        "mark",
        "met",
        "notrack",
        "port",
        "possible",
        "recalls",
        "remembers",
        "undecided",
        "weight",
    )

    def __init__(self, address: str, port: int) -> None:
        self.weight = 1.0
        self.address = address
        self.port = port
        self.mark = 0
        self.dnated = False
        self.notrack = False
        self.accepted = False
        self.backend: Backend | None = None
        self.backend_line = 0
        self.backend_chain: Chain | None = None
        self.met: tuple[Any, ...] | None = None
        self.recalls: tuple[tuple[str, int], ...] = ()
        self.remembers = ""
        self.foreign: tuple[ForeignRule, ...] = ()
        self.possible: tuple[ForeignRule, ...] = ()
        self.undecided: tuple[tuple[int, str, str], ...] = ()

    def branch(self, weight: float) -> _State:
        other = _State.__new__(_State)
        for name in _State.__slots__:
            setattr(other, name, getattr(self, name))
        other.weight = weight
        return other


_Result = tuple[_State, str]  # verdict: accept, drop, reject, "" (fell through)


class Walker:
    """Walks packets through one ruleset. ``node_addresses`` are the node's own."""

    def __init__(self, rules: Ruleset, node_addresses: frozenset[str] = frozenset()) -> None:
        self.rules = rules
        self.local = {value for text in node_addresses if (value := address_value(text)) is not None}
        self._masquerade: dict[tuple[str, int], bool] = {}
        self.family = "ip"
        self.packet = Packet("", Origin.POD, "TCP", "", 0)
        self.source: tuple[int, int] | None = None
        self.node_port_address: dict[str, str] = {}

    # --- the walk ---------------------------------------------------------------------------------------------

    def walk(self, packet: Packet) -> Outcome:
        address = packet.address
        to_node = address in (ANY_IPV4, ANY_IPV6)
        self.family = "ip6" if ":" in address else "ip"
        if to_node:
            address = self._some_node_address(self.family)
        self.packet = packet
        self.source = address_value(packet.source)
        self.destination_local = to_node or self._is_local(address)
        self.frontend_value = address_value(address)
        self.protocol = packet.protocol.lower()
        state = _State(address, packet.port)
        ends = list(self._walk_hooks(state))
        return self._outcome(ends)

    def _walk_hooks(self, state: _State) -> Iterator[_Result]:
        leaving = self.packet.origin is Origin.NODE and not self.packet.arriving
        first = "output" if leaving else "prerouting"
        for after, verdict in self._hook(first, state):
            if verdict in ("drop", "reject"):
                yield after, verdict
                continue
            local = self._is_local(after.address) if after.dnated else self.destination_local
            if leaving and not local:
                yield after, verdict
                continue
            yield from self._hook("input" if local else "forward", after)

    def _hook(self, hook: str, state: _State) -> list[_Result]:
        live: list[_Result] = [(state, "")]
        for chain in self.rules.base.get(hook, ()):
            family = chain.table.partition(" ")[0]
            if family != self.family and family != "inet":
                continue
            if not chain.rules and chain.policy == "accept":
                continue
            following: list[_Result] = []
            for current, verdict in live:
                if verdict in ("drop", "reject") or (chain.type == "nat" and (current.dnated or current.notrack)):
                    following.append((current, verdict))
                    continue
                for after, end in self._chain(chain, current, 0):
                    if not end and chain.policy == "drop":
                        foreign = ForeignRule(chain.line, chain.name, "policy-drop", f"policy of {chain.name}")
                        if any(rule.chain == chain.name for rule in after.possible):
                            after.possible = (*after.possible, foreign)
                        else:
                            after.foreign = (*after.foreign, foreign)
                            end = "drop"
                    following.append((after, end if end != "accept" else ""))
            live = following
        return live

    def _chain(self, chain: Chain, state: _State, depth: int) -> list[_Result]:
        if depth > _MAX_DEPTH:
            state.undecided = (*state.undecided, (chain.line, "jumps too deep", chain.name))
            return [(state, "")]
        return self._rules(chain, self._candidates(chain, state), 0, state, depth)

    def _rules(self, chain: Chain, rules: list[Rule], start: int, state: _State, depth: int) -> list[_Result]:
        ends: list[_Result] = []
        for position in range(start, len(rules)):
            rule = rules[position]
            probability = 1.0
            truth: bool | None = True
            for match in rule.matches:
                if match.kind == "probability":
                    probability *= match.value if not match.negated else 1 - match.value
                    continue
                held = self._holds(match, rule, chain, state)
                if held is False:
                    truth = False
                    break
                if held is None:
                    truth = None
            if truth is False:
                continue
            if truth is None:
                self._unclear(rule, chain, state, depth)
                continue
            if probability < 1.0:
                if probability <= 0.0:
                    continue
                taken = state.branch(state.weight * probability)
                state.weight *= 1.0 - probability
                ends.extend(self._take(chain, rules, position, taken, depth, rule.target, rule.argument, rule))
                continue
            target = rule.target
            if target == "continue":
                if rule.matches:
                    state.met = (rule, chain, state.met)
                continue
            if target in ("mark", "remember"):
                self._set(rule, chain, state)
                continue
            if target in ("vmap", "numgen"):
                outs, state_left = self._map(chain, rules, position, state, depth, rule)
                ends.extend(outs)
                if state_left is None:
                    return ends
                state = state_left
                continue
            ends.extend(self._take(chain, rules, position, state, depth, target, rule.argument, rule))
            return ends
        ends.append((state, ""))
        return ends

    def _take(
        self,
        chain: Chain,
        rules: list[Rule],
        position: int,
        state: _State,
        depth: int,
        target: str,
        argument: Any,
        rule: Rule,
    ) -> list[_Result]:
        """The target of a rule that matched; what comes back from a jump goes on behind the rule."""
        state.met = (rule, chain, state.met)
        own = is_own(chain)
        if target == "jump" or target == "goto":
            below = self._table(chain).chains.get(argument)
            if below is None:
                state.undecided = (*state.undecided, (rule.line, f"no chain {argument}", chain.name))
                return self._rules(chain, rules, position + 1, state, depth)
            results = self._chain(below, state, depth + 1)
            if target == "goto":
                return results
            ends: list[_Result] = []
            for after, verdict in results:
                if verdict:
                    ends.append((after, verdict))
                else:
                    ends.extend(self._rules(chain, rules, position + 1, after, depth))
            return ends
        if target == "return":
            return [(state, "")]
        if target in ("mark", "remember"):
            self._set(rule, chain, state)
            return self._rules(chain, rules, position + 1, state, depth)
        if target in ("continue", "masquerade"):
            return (
                self._rules(chain, rules, position + 1, state, depth) if target == "continue" else [(state, "accept")]
            )
        if not own and chain.name not in KUBELET_CHAINS:
            self._foreign(rule, chain, target, state)
        if target == "dnat":
            self._translate(state, argument, rule.line, chain)
            return [(state, "accept")]
        if target == "dnat-many":
            ends = []
            for host in argument:
                branch = state.branch(state.weight / len(argument))
                self._translate(branch, host, rule.line, chain)
                ends.append((branch, "accept"))
            return ends
        if target == "redirect":
            self._translate(state, ("::1" if self.family == "ip6" else "127.0.0.1", argument), rule.line, chain)
            return [(state, "accept")]
        if target == "notrack":
            state.notrack = True
            return self._rules(chain, rules, position + 1, state, depth)
        if target == "accept":
            if own and any(match.kind == "dport" for match in rule.matches):
                state.accepted = True
            return [(state, "accept")]
        if target in ("drop", "reject"):
            return [(state, target)]
        state.undecided = (*state.undecided, (rule.line, self.rules.line(rule.line), chain.name))
        return self._rules(chain, rules, position + 1, state, depth)

    def _map(
        self, chain: Chain, rules: list[Rule], position: int, state: _State, depth: int, rule: Rule
    ) -> tuple[list[_Result], _State | None]:
        """A verdict map: by key, or spread by numgen. Returns the ends and the state that goes on, if any."""
        if rule.target == "numgen":
            modulus, choices, _ = rule.argument
            ends: list[_Result] = []
            whole = state.weight
            left = modulus
            for _, target, argument in choices:
                left -= 1
                branch = state.branch(whole / modulus)
                ends.extend(self._take(chain, rules, position, branch, depth, target, argument, rule))
            if left <= 0:
                return ends, None
            state.weight = whole * left / modulus
            return ends, state
        fields, name = rule.argument
        key = tuple(self._field(field, state) for field in fields)
        if isinstance(name, tuple):
            for item_key, target, argument in name:
                if item_key == key:
                    return self._take(chain, rules, position, state, depth, target, argument, rule), None
            return [], state
        held = self._table(chain).sets.get(name)
        if held is None:
            state.undecided = (*state.undecided, (rule.line, f"no map {name}", chain.name))
            return [], state
        element = held.elements.get(key)
        if element is None:
            return [], state
        state.met = (rule, chain, state.met)
        shown = Rule(element.line, (), element.target, element.argument, element.comment)
        return self._take(chain, rules, position, state, depth, element.target, element.argument, shown), None

    def _translate(self, state: _State, target: tuple[str, int], line: int, chain: Chain) -> None:
        address, port = target
        state.backend = Backend(address, port or state.port)
        state.backend_line = line
        state.backend_chain = chain
        state.address = address
        state.port = port or state.port
        state.dnated = True

    def _set(self, rule: Rule, chain: Chain, state: _State) -> None:
        state.met = (rule, chain, state.met)
        if rule.target == "remember":
            state.remembers = rule.argument
            return
        clear, xor = rule.argument
        state.mark = (state.mark & ~clear & 0xFFFFFFFF) ^ xor

    def _foreign(self, rule: Rule, chain: Chain, effect: str, state: _State) -> None:
        if effect == "accept" and self._base_type(chain) != "nat":
            if state.dnated:
                return
            effect = "let-through"
        effect = {"dnat-many": "dnat", "opaque": "unknown"}.get(effect, effect)
        state.foreign = (*state.foreign, ForeignRule(rule.line, chain.name, effect, self.rules.line(rule.line)))

    def _base_type(self, chain: Chain) -> str:
        return "nat" if chain.type == "nat" or chain.table.endswith(" nat") else "filter"

    def _unclear(self, rule: Rule, chain: Chain, state: _State, depth: int) -> None:
        """A rule whose matches can't be decided: it may take the packet, or not."""
        if is_own(chain):
            state.undecided = (*state.undecided, (rule.line, self.rules.line(rule.line), chain.name))
            return
        if len(state.possible) > 32:
            return
        effect = rule.target
        if effect in ("jump", "goto"):
            effect = self._could(self._table(chain), rule.argument, state, 0)
        if effect in _TERMINAL:
            line = self.rules.line(rule.line)
            state.possible = (*state.possible, ForeignRule(rule.line, chain.name, effect, line, False))

    def _could(self, table: Table, name: str, state: _State, depth: int) -> str:
        """The first terminal target that a chain could lead to, "" if none."""
        chain = table.chains.get(name)
        if chain is None or depth > 8:
            return ""
        fallback = ""
        for rule in chain.rules:
            if any(self._holds(match, rule, chain, state) is False for match in rule.matches):
                continue
            effect = rule.target
            if effect in ("jump", "goto"):
                effect = self._could(table, rule.argument, state, depth + 1)
            if effect in _HARMFUL:
                return effect
            if effect == "accept" and not fallback:
                fallback = effect
        return fallback

    # --- matches ----------------------------------------------------------------------------------------------

    def _holds(self, match: Match, rule: Rule, chain: Chain, state: _State) -> bool | None:
        found = self._truth(match, rule, chain, state)
        return found if found is None or not match.negated else not found

    def _truth(self, match: Match, rule: Rule, chain: Chain, state: _State) -> bool | None:
        kind, value = match.kind, match.value
        if kind == "protocol":
            return self.protocol in value
        if kind == "source":
            return _in_prefix(self.source, value)
        if kind == "destination":
            return _in_prefix(address_value(state.address), value)
        if kind == "dport":
            return any(low <= state.port <= high for low, high in value)
        if kind == "with-protocol":
            return value[0] == self.protocol and self._truth(value[1], rule, chain, state)
        if kind == "ct-state":
            return self._connection_state(value, state)
        if kind == "mark":
            return bool((state.mark & value[1]) == value[0])
        if kind == "destination-type":
            return self._type_holds(value, self._is_local(state.address) if state.dnated else self.destination_local)
        if kind == "source-type":
            return self._type_holds(value, self.packet.origin is Origin.NODE)
        if kind == "in-set":
            return self._in_set(value, rule, chain, state)
        if kind == "in":
            fields, keys = value
            return tuple(self._field(field, state) for field in fields) in keys
        if kind in ("recent-check", "xt-recent"):
            return self._recent(match, rule, state)
        if kind == "recent-set":
            state.remembers = value
            return True
        if kind in ("in-interface", "out-interface"):
            return self._interface(kind, value, chain)
        if kind == "ct-status":
            return state.dnated if value == {"dnat"} else None
        if kind == "tcp-syn":
            return self.protocol == "tcp"
        if kind == "family":
            return ("ipv6" if self.family == "ip6" else "ipv4") in value
        if kind == "sport":
            return None
        return None

    def _type_holds(self, wanted: tuple[str, ...], local: bool) -> bool | None:
        if "LOCAL" in wanted:
            return local
        return None if "UNICAST" in wanted else False

    def _connection_state(self, wanted: frozenset[str], state: _State) -> bool:
        if state.notrack:
            return "untracked" in wanted
        return "new" in wanted or ("dnat" in wanted and state.dnated)

    def _recent(self, match: Match, rule: Rule, state: _State) -> bool | None:
        if match.kind == "xt-recent":
            if rule.target in ("dnat", "dnat-many", "opaque"):
                state.remembers = "?"
                return True
            if rule.target in ("jump", "goto"):
                state.recalls = (*state.recalls, ("?", 0))
            return match.negated
        if rule.target in ("jump", "goto"):
            state.recalls = (*state.recalls, match.value)
        return False

    def _in_set(self, value: tuple[tuple[str, ...], str], rule: Rule, chain: Chain, state: _State) -> bool | None:
        fields, name = value
        held: Set | None = self._table(chain).sets.get(name)
        if held is None:
            state.undecided = (*state.undecided, (rule.line, f"no set {name}", chain.name))
            return None
        key = tuple(self._field(field, state) for field in fields)
        found = key in held.elements
        if not found and held.prefixes and len(fields) == 1:
            number = self.source if fields[0] == "source" else address_value(state.address)
            found = any(_in_prefix(number, text) for text, _ in held.prefixes)
        if fields == ("source",) and held.flags & {"timeout", "dynamic"} and rule.target in ("jump", "goto"):
            state.recalls = (*state.recalls, (name, held.timeout or -1))
        return found

    def _interface(self, kind: str, value: str | tuple[str, ...], chain: Chain) -> bool | None:
        names = (value,) if isinstance(value, str) else value
        if is_own(chain):
            # kube-proxy names an interface for one purpose: to tell the Pods of this node (detectLocalMode).
            return self.packet.origin is Origin.POD
        if all(name == "lo" for name in names):
            return False if self.packet.origin is not Origin.NODE or kind == "in-interface" else None
        if kind == "in-interface" and self.packet.origin is Origin.EXTERNAL:
            return False if all(name.startswith(_LOCAL_BRIDGES) for name in names) else None
        return None

    def _field(self, field: str, state: _State) -> str:
        if field == "destination":
            return state.address
        if field == "source":
            return self.packet.source
        if field == "protocol":
            return self.protocol
        if field.endswith("dport"):
            return str(state.port) if " " not in field or field.startswith(self.protocol) else ""
        if field == "mark":
            return f"0x{state.mark:08x}"
        return f"?{field}"

    # --- helpers ----------------------------------------------------------------------------------------------

    def _table(self, chain: Chain) -> Table:
        return self.rules.tables[chain.table]

    def _is_local(self, address: str) -> bool:
        value = address_value(address)
        if value is None:
            return False
        if value in self.local:
            return True
        return value == (6, 1) or (value[0] == 4 and value[1] >> 24 == 127)

    def _some_node_address(self, family: str) -> str:
        """An address of the node that takes node ports: of the rules, else of the node, else the wildcard itself."""
        found = self.node_port_address.get(family)
        if found is None:
            found = self.node_port_address[family] = node_port_address(self.rules, family, self.local)
        return found

    def _candidates(self, chain: Chain, state: _State) -> list[Rule]:
        """The rules that can match: a chain with thousands of frontends is looked up, not walked."""
        if len(chain.rules) < _INDEX_FROM:
            return chain.rules
        index = chain.index
        if index is None:
            index = chain.index = _build_index(chain.rules)
        by_key, rest = index
        if not by_key:
            return chain.rules
        destination = address_value(state.address)
        places: list[int] = list(rest)
        for key in ((destination, state.port), (None, state.port), (destination, None)):
            places.extend(by_key.get(key, ()))
        places.sort()
        return [chain.rules[place] for place in places]

    def masquerades(self, mark: int) -> bool:
        """Does a packet with this mark leave with the node's address? Only kube-proxy's own rules count."""
        key = (self.family, mark)
        found = self._masquerade.get(key)
        if found is None:
            found = self._masquerade[key] = self._postrouting(mark)
        return found

    def _marks_own_traffic(self, state: _State) -> bool:
        """Has the chain that translates a rule that marks what the backend itself sends? Without it a Pod can't reach
        itself through its Service."""
        chain = state.backend_chain
        if chain is None or state.backend is None:
            return False
        own = address_value(state.backend.address)
        for rule in chain.rules:
            if rule.line == state.backend_line:
                break
            if rule.target == "jump" and len(rule.matches) == 1:
                match = rule.matches[0]
                if match.kind == "source" and not match.negated and _in_prefix(own, match.value):
                    below = self._table(chain).chains.get(rule.argument)
                    if below is not None and any(item.target == "mark" for item in below.rules):
                        return True
        return False

    def _postrouting(self, mark: int) -> bool:
        state = _State("0.0.0.0" if self.family == "ip" else "::", 0)
        state.mark = mark
        for base in self.rules.base.get("postrouting", ()):
            family = base.table.partition(" ")[0]
            if base.type != "nat" or (family != self.family and family != "inet"):
                continue
            for rule in base.rules:
                below = self._table(base).chains.get(rule.argument) if rule.target in ("jump", "goto") else None
                if (
                    below is None
                    or not is_own(below)
                    or any(self._holds(match, rule, base, state) is not True for match in rule.matches)
                ):
                    continue
                if any(_masqueraded(after.met) for after, _ in self._chain(below, state.branch(1.0), 1)):
                    return True
        return False

    # --- the answer -------------------------------------------------------------------------------------------

    def _outcome(self, ends: list[_Result]) -> Outcome:
        shares: dict[Backend, list[Any]] = {}
        other: dict[Verdict, float] = {}
        recalls: tuple[tuple[str, int], ...] = ()
        complete = True
        for state, verdict in ends:
            if verdict == "drop":
                kind = Verdict.DROP
            elif verdict == "reject":
                kind = Verdict.REJECT
            elif state.backend is not None:
                masquerade = self.masquerades(state.mark)
                hairpin = self._marks_own_traffic(state)
                held = shares.setdefault(state.backend, [0.0, state.backend_line, masquerade, hairpin])
                held[0] += state.weight
                held[3] = held[3] and hairpin
                recalls = recalls or state.recalls
                known = {name for name, _ in state.recalls}
                if state.recalls or state.remembers:
                    complete = complete and state.remembers in known
                continue
            else:
                kind = Verdict.ACCEPT if state.accepted else Verdict.NONE
            other[kind] = other.get(kind, 0.0) + state.weight
        backends = tuple(
            Share(backend, snap(weight), line, masquerade, hairpin)
            for backend, (weight, line, masquerade, hairpin) in shares.items()
        )
        lead = Verdict.BACKENDS
        if not backends:
            lead = max(other, key=lambda kind: other[kind]) if other else Verdict.NONE
        rest = tuple((kind, snap(weight)) for kind, weight in other.items() if backends or kind is not lead)
        if len({seconds for _, seconds in recalls}) > 1:
            complete = False
        if recalls and len(recalls) < len(backends) and not recalls[0][0].startswith("?"):
            complete = False
        states = [state for state, _ in ends]
        return Outcome(
            verdict=lead,
            backends=backends,
            other=tuple(item for item in rest if item[1] > 0),
            affinity=recalls[0][1] if recalls else (0 if not complete else None),
            affinity_complete=complete,
            rules=self._met(states),
            foreign=_unique([rule for state in states for rule in state.foreign + state.possible]),
            undecided=_unique([NotUnderstood(*item) for state in states for item in state.undecided]),
        )

    def _met(self, states: list[_State]) -> tuple[RuleMet, ...]:
        seen: dict[tuple[int, str], RuleMet] = {}
        for state in states:
            trail = []
            node = state.met
            while node is not None:
                rule, chain, node = node
                trail.append((rule.line, chain.name))
            for line, chain_name in reversed(trail):
                if (line, chain_name) not in seen:
                    seen[line, chain_name] = RuleMet(line, chain_name, self.rules.line(line))
        return tuple(seen.values())


def _masqueraded(met: tuple[Any, ...] | None) -> bool:
    return met is not None and met[0].target == "masquerade"


def _unique(items: list[Any]) -> tuple[Any, ...]:
    seen: dict[tuple[int, str], Any] = {}
    for item in items:
        seen.setdefault((item.line, item.chain), item)
    return tuple(seen.values())


def snap(weight: float) -> Fraction:
    """The fraction that was meant: iptables rounds a probability to 31 bits, and branches multiply them."""
    near = Fraction(weight).limit_denominator(4096)
    return near if abs(float(near) - weight) < 2e-8 else Fraction(weight).limit_denominator(10**9)


def _in_prefix(value: tuple[int, int] | None, prefixes: str | tuple[str, ...]) -> bool:
    if value is None:
        return False
    for text in (prefixes,) if isinstance(prefixes, str) else prefixes:
        span = prefix_value(text)
        if span is not None and span[0] == value[0] and span[1] <= value[1] <= span[2]:
            return True
    return False


def _build_index(rules: list[Rule]) -> tuple[dict[Any, list[int]], list[int]]:
    by_key: dict[Any, list[int]] = {}
    rest: list[int] = []
    for place, rule in enumerate(rules):
        destination: Any = None
        port: int | None = None
        for match in rule.matches:
            if match.negated or match.kind not in ("destination", "dport"):
                continue
            if match.kind == "destination" and isinstance(match.value, str):
                span = prefix_value(match.value)
                if span is not None and span[1] == span[2]:
                    destination = (span[0], span[1])
            elif match.kind == "dport" and len(match.value) == 1 and match.value[0][0] == match.value[0][1]:
                port = match.value[0][0]
        if destination is None and port is None:
            rest.append(place)
        else:
            by_key.setdefault((destination, port), []).append(place)
    if len(by_key) < _INDEX_FROM // 2:
        return {}, rest
    return by_key, rest


def node_port_address(rules: Ruleset, family: str, local: set[tuple[int, int]]) -> str:
    """An address on which this ruleset takes node ports; the wildcard where any of the node's will do."""
    wildcard = ANY_IPV6 if family == "ip6" else ANY_IPV4
    proxy = rules.tables.get(f"{family} kube-proxy")
    if proxy is not None:
        addresses = proxy.sets.get("nodeport-ips")
        if addresses is not None and addresses.elements:
            return next(iter(addresses.elements))[0]
    nat = rules.tables.get(f"{family} nat")
    services = nat.chains.get("KUBE-SERVICES") if nat is not None else None
    if services is not None:
        for rule in services.rules:
            if rule.target == "jump" and rule.argument == "KUBE-NODEPORTS":
                for match in rule.matches:
                    if match.kind == "destination" and not match.negated and isinstance(match.value, str):
                        return match.value.partition("/")[0]
    return wildcard
