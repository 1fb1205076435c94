"""From netfilter rules to a ServiceTable: which frontends kube-proxy's layout holds, and whose they are.

Only the places where kube-proxy names a frontend are read here (KUBE-SERVICES, KUBE-NODEPORTS, KUBE-EXTERNAL-SERVICES,
KUBE-PROXY-FIREWALL; the maps of its nftables table). What a packet meets there is left to the walk, so that an
unusual rule is followed and not assumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.names import service_of_chain, service_of_comment
from svcpath.models.dataplanes.ruleset import Chain, Rule, Ruleset
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    Dialect,
    Frontend,
    NotUnderstood,
    ServiceTable,
    TableEntry,
)

_IPTABLES_PLACES = (
    ("nat", "KUBE-SERVICES"),
    ("nat", "KUBE-NODEPORTS"),
    ("filter", "KUBE-SERVICES"),
    ("filter", "KUBE-EXTERNAL-SERVICES"),
    ("filter", "KUBE-NODEPORTS"),
    ("filter", "KUBE-PROXY-FIREWALL"),
)
_SERVICE_TARGETS = ("KUBE-SVC-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-XLB-", "KUBE-FW-")
_NFT_MAPS = ("service-ips", "service-nodeports", "no-endpoint-services", "no-endpoint-nodeports", "firewall-ips")


class Detector(msgspec.Struct, frozen=True):
    """How this node's kube-proxy tells the traffic of Pods (detectLocalMode): by source prefix, by interface, for all
    ("all": masqueradeAll) or not at all. ``value`` is the prefix or the interface."""

    kind: str
    value: str = ""


def tables_of(
    rules: Ruleset,
    *,
    node: str = "",
    node_addresses: frozenset[str] = frozenset(),
    source: str = "",
    prefer: Dialect = Dialect.IPTABLES,
) -> tuple[ServiceTable, ...]:
    """One table per mode of kube-proxy that has rules in the dump; an empty one of ``prefer`` if none has."""
    found: dict[Dialect, dict[Frontend, TableEntry]] = {}
    for dialect, frontends in ((Dialect.NFTABLES, _nftables(rules)), (Dialect.IPTABLES, _iptables(rules))):
        if frontends or _has_layout(rules, dialect):
            found[dialect] = frontends
    if not found:
        found[prefer] = {}
    not_understood = tuple(NotUnderstood(*item) for item in rules.not_understood)
    damaged = tuple(NotUnderstood(*item) for item in rules.damaged)
    families = frozenset(6 if table.family == "ip6" else 4 for table in rules.tables.values())
    return tuple(
        ServiceTable(
            dialect=dialect,
            frontends=frontends,
            node=node,
            variant=rules.variant,
            node_addresses=node_addresses,
            ruleset=rules,
            not_understood=not_understood,
            damaged=damaged,
            source=source,
            families=families,
        )
        for dialect, frontends in found.items()
    )


def _has_layout(rules: Ruleset, dialect: Dialect) -> bool:
    for table in rules.tables.values():
        if dialect is Dialect.NFTABLES and table.name.endswith(" kube-proxy"):
            return True
        if dialect is Dialect.IPTABLES and table.name.endswith(" nat") and "KUBE-SERVICES" in table.chains:
            return True
    return False


def _iptables(rules: Ruleset) -> dict[Frontend, TableEntry]:
    entries: dict[Frontend, TableEntry] = {}
    for family, wildcard in (("ip", ANY_IPV4), ("ip6", ANY_IPV6)):
        for table_name, chain_name in _IPTABLES_PLACES:
            table = rules.tables.get(f"{family} {table_name}")
            chain = table.chains.get(chain_name) if table is not None else None
            if chain is None:
                continue
            for frontend, rule in _frontends(chain, wildcard):
                _add(
                    entries,
                    frontend,
                    service_of_comment(rule.comment),
                    _target(rule),
                    rule.line,
                    _kind(rule, table_name),
                )
    return entries


def _frontends(chain: Chain, wildcard: str) -> Iterator[tuple[Frontend, Rule]]:
    for rule in chain.rules:
        address, protocol, port = wildcard, "", 0
        for match in rule.matches:
            if match.negated:
                continue
            if match.kind == "destination" and isinstance(match.value, str):
                address = match.value
            elif match.kind == "protocol" and len(match.value) == 1:
                protocol = match.value[0]
            elif match.kind == "dport" and len(match.value) == 1 and match.value[0][0] == match.value[0][1]:
                port = match.value[0][0]
        if not protocol or not port or rule.target == "continue":
            continue
        host, _, length = address.partition("/")
        if length in ("", "32", "128"):
            yield Frontend(text_form(host), protocol.upper(), port), rule


def _target(rule: Rule) -> str:
    return rule.argument if rule.target in ("jump", "goto") else rule.target


def _kind(rule: Rule, table: str) -> str:
    return "health-check" if rule.target == "accept" and table == "filter" else ""


def _nftables(rules: Ruleset) -> dict[Frontend, TableEntry]:
    entries: dict[Frontend, TableEntry] = {}
    for family, wildcard in (("ip", ANY_IPV4), ("ip6", ANY_IPV6)):
        table = rules.tables.get(f"{family} kube-proxy")
        if table is None:
            continue
        for name in _NFT_MAPS:
            collection = table.sets.get(name)
            if collection is None:
                continue
            for key, element in collection.elements.items():
                if len(key) == 2:
                    key = (wildcard, *key)
                if len(key) != 3 or not key[2].isdecimal():
                    continue
                target = element.argument if element.target in ("jump", "goto") else element.target
                service = service_of_chain(target or "") or service_of_comment(element.comment)
                _add(entries, Frontend(key[0], key[1].upper(), int(key[2])), service, target, element.line, "")
    return entries


def _add(
    entries: dict[Frontend, TableEntry], frontend: Frontend, service: str | None, target: str, line: int, kind: str
) -> None:
    before = entries.get(frontend)
    if before is None:
        entries[frontend] = TableEntry(service=service, target=target, lines=(line,), kind=kind)
        return
    entries[frontend] = TableEntry(
        service=before.service or service,
        target=before.target if before.target.startswith((*_SERVICE_TARGETS, "service-", "external-")) else target,
        lines=(*before.lines, line),
        kind=before.kind or kind,
    )


def detector_of(table: ServiceTable, family: int) -> Detector | None:
    """How Pods are recognised here, by what most Services' chains do; None if no chain of a Service shows it."""
    if table.ruleset is None:
        return None
    prefix = "ip6" if family == 6 else "ip"
    votes: Counter[Detector] = Counter()
    for name in (f"{prefix} nat", f"{prefix} kube-proxy"):
        rules_table = table.ruleset.tables.get(name)
        if rules_table is None:
            continue
        for chain in rules_table.chains.values():
            if chain.name.startswith(("KUBE-SVC-", "KUBE-SVL-", "service-", "local-", "KUBE-SERVICES")):
                for rule in chain.rules[:2] if chain.name != "KUBE-SERVICES" else chain.rules:
                    found = _detects(rule)
                    if found is not None:
                        votes[found] += 1
    if not votes:
        return None
    return max(votes, key=lambda found: (votes[found], found.kind, found.value))


def _detects(rule: Rule) -> Detector | None:
    if rule.target != "jump" or rule.argument not in ("KUBE-MARK-MASQ", "mark-for-masquerade"):
        return None
    for match in rule.matches:
        if match.kind == "source" and match.negated and isinstance(match.value, str):
            return Detector("cidr", match.value)
        if match.kind == "in-interface" and match.negated:
            return Detector("interface", match.value if isinstance(match.value, str) else match.value[0])
    if any(match.kind == "destination" for match in rule.matches):
        return Detector("all")
    return None
