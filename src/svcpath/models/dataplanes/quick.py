"""The common case by its shape: a cluster IP whose chains are exactly what kube-proxy writes for these backends.

A big node has ten thousand of these, and walking each with every kind of packet takes seconds. Where the chains of a
frontend are rule for rule the canonical ones for the expected backends, and the chains that all packets share were
found right by walking sample packets, no walk can bring a difference. Anything else, however harmless, is left to the
walk.
"""

from __future__ import annotations

from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.layout import Detector
from svcpath.models.dataplanes.netfilter import KUBELET_CHAINS, is_own
from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, Ruleset, RuleTable, address_value, prefix_value
from svcpath.models.dataplanes.table import Backend, Dialect, Frontend, ServiceTable

_HARMFUL = frozenset(
    {"drop", "reject", "dnat", "dnat-many", "redirect", "notrack", "tproxy", "opaque", "vmap", "numgen"}
)
_TRANSLATING = frozenset({"dnat", "dnat-many", "redirect", "tproxy", "vmap", "numgen"})
#: Matches that come out alike for every cluster IP.
_ALIKE = frozenset({"ct-state", "ct-status", "mark", "source-type"})
#: Matches that can't be decided; a rule of others with one may take a packet, which is no difference.
_UNDECIDABLE = frozenset({"in-interface", "out-interface", "other", "ipset"})
_DISPATCH = frozenset(
    {"KUBE-SERVICES", "KUBE-EXTERNAL-SERVICES", "KUBE-NODEPORTS", "KUBE-PROXY-FIREWALL", "services"}
    | {"service-endpoints-check", "nodeport-endpoints-check", "firewall-check", "cluster-ips-check"}
)
#: Matches that name a frontend.
_FRONTEND = frozenset({"destination", "protocol", "dport"})
_TOLERANCE = 1e-6


class QuickCheck:
    """For one table and family. ``usable`` tells whether the shortcut may be taken at all."""

    def __init__(self, table: ServiceTable, family: int, detector: Detector | None, taken: set[str]) -> None:
        self.prefix = "ip6" if family == 6 else "ip"
        self.nft = table.dialect is Dialect.NFTABLES
        self.detector = detector
        self.targets: dict[Frontend, str] = {}
        self.chains: dict[str, Chain] = {}
        self.usable = False
        rules = table.ruleset
        if rules is None or detector is None or detector.kind != "cidr":
            return
        proxy_table = rules.tables.get(f"{self.prefix} {'kube-proxy' if self.nft else 'nat'}")
        if proxy_table is None or not _shared_chains_are_alike(rules, self.prefix):
            return
        if not (_checks_spare(proxy_table, taken) if self.nft else _filters_spare(rules, self.prefix, taken)):
            return
        self.chains = proxy_table.chains
        found = self._nftables(proxy_table, table) if self.nft else self._iptables(proxy_table, table)
        if found is not None:
            self.targets, self.usable = found, True

    def holds(self, item: Expectation) -> bool:
        """True only if this frontend's chains are the canonical ones for its backends."""
        if item.kind != "cluster-ip":
            return False
        backends = item.local if item.local_only else item.cluster
        target = self.targets.get(item.frontend)
        if not backends or target is None:
            return False
        chain = self.chains.get(target)
        if chain is None:
            return False
        if self.nft:
            return self._nft_service(chain.rules, item, backends)
        return self._iptables_service(chain.rules, item, backends)

    # --- iptables -----------------------------------------------------------------------------------------------

    def _iptables(self, nat: RuleTable, table: ServiceTable) -> dict[Frontend, str] | None:
        """Frontend to chain, of the frontends that a single rule of the whole dump names."""
        services = nat.chains.get("KUBE-SERVICES")
        if services is None:
            return None
        single = {frontend for frontend, entry in table.frontends.items() if len(entry.lines) == 1 and not entry.kind}
        found: dict[Frontend, str] = {}
        for rule in services.rules:
            matches = rule.matches
            if len(matches) == 3 and rule.target == "jump":
                frontend = _frontend(matches)
                if frontend is not None:
                    if frontend in single:
                        found[frontend] = rule.argument
                    continue
            if rule.target == "jump" and rule.argument == "KUBE-NODEPORTS" and _only_local(matches):
                continue
            # Other rules of a frontend, which ``single`` then leaves out: they can take no other one.
            if _frontend(tuple(match for match in matches if match.kind in _FRONTEND)) is None:
                return None
        return found

    def _iptables_service(self, rules: list[Rule], item: Expectation, backends: tuple[Backend, ...]) -> bool:
        count = len(backends)
        affinity = item.affinity is not None
        if len(rules) != 1 + count * (2 if affinity else 1):
            return False
        if not self._marks_others(rules[0], item.frontend, "KUBE-MARK-MASQ", with_port=True):
            return False
        recalled: dict[str, str] = {}
        start = 1
        if affinity:
            for rule in rules[1 : count + 1]:
                if len(rule.matches) != 1 or rule.target != "jump":
                    return False
                match = rule.matches[0]
                if match.kind != "recent-check" or match.negated or match.value[1] != item.affinity:
                    return False
                recalled[rule.argument] = match.value[0]
            start = count + 1
        reached: set[Backend] = set()
        for place in range(count):
            rule = rules[start + place]
            if rule.target != "jump":
                return False
            left = count - place
            if left > 1:
                if len(rule.matches) != 1:
                    return False
                match = rule.matches[0]
                if match.kind != "probability" or match.negated or abs(match.value * left - 1) > _TOLERANCE:
                    return False
            elif rule.matches:
                return False
            name = rule.argument
            end = self.chains.get(name)
            if end is None or len(end.rules) != 2:
                return False
            backend = _endpoint(end.rules[0], end.rules[1], item.frontend.protocol, recalled.get(name, ""), affinity)
            if backend is None:
                return False
            reached.add(backend)
        return len(reached) == count and reached.issuperset(backends)

    def _marks_others(self, rule: Rule, frontend: Frontend, chain: str, *, with_port: bool) -> bool:
        """The rule that masquerades what comes from anywhere but a Pod."""
        if rule.target != "jump" or rule.argument != chain or len(rule.matches) != (4 if with_port else 2):
            return False
        detector = self.detector
        for match in rule.matches:
            kind, value = match.kind, match.value
            if kind == "source":
                if not match.negated or detector is None or value != detector.value:
                    return False
            elif match.negated:
                return False
            elif kind == "destination":
                if not isinstance(value, str) or _single_address(value) != frontend.address:
                    return False
            elif kind == "dport":
                if value != ((frontend.port, frontend.port),):
                    return False
            elif kind != "protocol" or value != (frontend.protocol.lower(),):
                return False
        return True

    # --- nftables -----------------------------------------------------------------------------------------------

    def _nftables(self, proxy: RuleTable, table: ServiceTable) -> dict[Frontend, str] | None:
        services = proxy.sets.get("service-ips")
        if services is None:
            return None
        elsewhere: set[tuple[str, ...]] = set()
        for name in ("no-endpoint-services", "firewall-ips"):
            set_ = proxy.sets.get(name)
            if set_ is not None:
                elsewhere.update(set_.elements)
        return {
            Frontend(key[0], key[1].upper(), int(key[2])): element.argument
            for key, element in services.elements.items()
            if element.target == "goto" and len(key) == 3 and key[2].isdecimal() and key not in elsewhere
        }

    def _nft_service(self, rules: list[Rule], item: Expectation, backends: tuple[Backend, ...]) -> bool:
        count = len(backends)
        affinity = item.affinity is not None
        if len(rules) != 2 + (count if affinity else 0):
            return False
        if affinity or not self._marks_others(rules[0], item.frontend, "mark-for-masquerade", with_port=False):
            return False
        last = rules[-1]
        if last.target != "numgen" or last.matches:
            return False
        modulus, choices, mode = last.argument
        if modulus != count or len(choices) != count or mode != "random":
            return False
        reached: set[Backend] = set()
        seen: set[int] = set()
        for index, target, name in choices:
            end = self.chains.get(name)
            if target != "goto" or end is None or len(end.rules) != 2:
                return False
            backend = _endpoint(end.rules[0], end.rules[1], item.frontend.protocol, "", False)
            if backend is None:
                return False
            seen.add(index)
            reached.add(backend)
        return len(reached) == count and len(seen) == count and reached.issuperset(backends)


def _endpoint(first: Rule, second: Rule, protocol: str, recalled: str, affinity: bool) -> Backend | None:
    """The backend of an endpoint chain that marks its own traffic and translates; None for any other shape."""
    if first.target != "jump" or first.argument not in ("KUBE-MARK-MASQ", "mark-for-masquerade"):
        return None
    if len(first.matches) != 1 or second.target != "dnat":
        return None
    source = first.matches[0]
    address, port = second.argument
    if source.kind != "source" or source.negated or not isinstance(source.value, str):
        return None
    if _single_address(source.value) != address:
        return None
    matches = second.matches
    if len(matches) != (2 if affinity else 1):
        return None
    for match in matches:
        if match.negated:
            return None
        if match.kind == "protocol":
            if match.value != (protocol.lower(),):
                return None
        elif not affinity or match.kind != "recent-set" or match.value != recalled:
            return None
    return Backend(address, port)


def _single_address(prefix: str) -> str:
    """The address of a prefix that holds nothing else; "" for a wider one."""
    address, _, length = prefix.partition("/")
    return address if length in ("", "128" if ":" in address else "32") else ""


def _frontend(matches: tuple[Match, ...]) -> Frontend | None:
    address, protocol, port = "", "", 0
    for match in matches:
        if match.negated:
            return None
        value = match.value
        if match.kind == "destination" and isinstance(value, str):
            address = _single_address(value)
            if not address:
                return None
        elif match.kind == "protocol" and len(value) == 1:
            protocol = value[0].upper()
        elif match.kind == "dport" and len(value) == 1 and value[0][0] == value[0][1]:
            port = value[0][0]
    return Frontend(address, protocol, port) if address and protocol and port else None


def _filters_spare(rules: Ruleset, prefix: str, taken: set[str]) -> bool:
    """kube-proxy's filter chains name frontends only: none of their rules can meet a translated packet."""
    table = rules.tables.get(f"{prefix} filter")
    if table is None:
        return True
    for name in _DISPATCH:
        chain = table.chains.get(name)
        for rule in chain.rules if chain is not None else ():
            matches = tuple(match for match in rule.matches if match.kind != "ct-state")
            frontend = _frontend(matches)
            named = frontend is not None and frontend.address not in taken
            local_port = _only_local(matches) or (rule.target == "accept" and any(m.kind == "dport" for m in matches))
            if not named and not local_port:
                return False
    return True


def _checks_spare(proxy: RuleTable, taken: set[str]) -> bool:
    """The same of the nftables mode: maps that name frontends, and the check of cluster IPs."""
    for name in _DISPATCH:
        chain = proxy.chains.get(name)
        for rule in chain.rules if chain is not None else ():
            if rule.target == "vmap" and isinstance(rule.argument[1], str):
                continue
            if name != "cluster-ips-check" or len(rule.matches) != 1 or rule.matches[0].negated:
                return False
            match = rule.matches[0]
            if match.kind == "destination":
                texts = (match.value,) if isinstance(match.value, str) else match.value
                if any(_covers(text, taken) for text in texts):
                    return False
            elif match.kind != "in-set":
                return False
    for name in ("no-endpoint-services", "firewall-ips", "cluster-ips"):
        set_ = proxy.sets.get(name)
        if set_ is not None and any(key[0] in taken for key in set_.elements):
            return False
    return True


def _covers(prefix: str, addresses: set[str]) -> bool:
    span = prefix_value(prefix)
    if span is None:
        return True
    for text in addresses:
        value = address_value(text)
        if value is not None and value[0] == span[0] and span[1] <= value[1] <= span[2]:
            return True
    return False


def _only_local(matches: tuple[Match, ...]) -> bool:
    """Rules for node ports: they take no cluster IP."""
    return any(match.kind == "destination-type" and not match.negated and "LOCAL" in match.value for match in matches)


def _shared_chains_are_alike(rules: Ruleset, prefix: str) -> bool:
    """No rule on the common way that could take one cluster IP and not another."""
    seen: set[tuple[str, str]] = set()
    for hook, chains in rules.base.items():
        for chain in chains:
            family = chain.table.partition(" ")[0]
            if family not in (prefix, "inet"):
                continue
            if not _chain_is_alike(rules, chain, hook, seen):
                return False
    return True


def _chain_is_alike(rules: Ruleset, chain: Chain, hook: str, seen: set[tuple[str, str]]) -> bool:
    key = chain.table, chain.name
    if key in seen or chain.name in _DISPATCH:
        return True
    seen.add(key)
    own = is_own(chain) or chain.name in KUBELET_CHAINS
    below = rules.tables[chain.table].chains
    for rule in chain.rules:
        kinds = {match.kind for match in rule.matches}
        if not own and kinds & _UNDECIDABLE:
            continue
        if rule.target in ("jump", "goto"):
            following = below.get(rule.argument)
            if following is None:
                return False
            if hook == "postrouting" and not is_own(following):
                continue
            if chain.type == "nat" and _only_local(rule.matches):
                continue
            if not _chain_is_alike(rules, following, hook, seen):
                return False
            if is_own(following) and not kinds <= _ALIKE:
                return False
        elif rule.target in _HARMFUL or own:
            # Where it sends one frontend is right for that one at most, whichever the sample packets are for.
            if rule.target in _TRANSLATING and not any(_loopback(match) for match in rule.matches):
                return False
            if not all(match.kind in _ALIKE or _loopback(match) for match in rule.matches):
                return False
        elif chain.type == "nat" and rule.target in ("accept", "return") and hook != "postrouting" and rule.matches:
            return False
    return True


def _loopback(match: Match) -> bool:
    if match.kind not in ("source", "destination") or not isinstance(match.value, str):
        return False
    span = prefix_value(match.value)
    return span is not None and (span[1] >> 24 == 127 if span[0] == 4 else span[1] == span[2] == 1)
