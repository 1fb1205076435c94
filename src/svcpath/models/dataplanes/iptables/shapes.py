"""The rules of which a big table has tens of thousands, recognised by their shape: split at spaces, by their words.

Only the shapes that kube-proxy writes (pkg/proxy/iptables/proxier.go), and only where nothing in them is unusual;
everything else is read option by option. Both give the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from sys import intern

from svcpath.models.dataplanes.iptables.targets import BUILTIN
from svcpath.models.dataplanes.iptables.values import PROTOCOLS, probability
from svcpath.models.dataplanes.ruleset import Match, Rule, is_ipv4, is_ipv4_and_port, prefix_value

#: Notes the chain that a rule jumps to.
Note = Callable[[str], None]

_PROTOCOL_ALONE = {name: (match,) for name, match in PROTOCOLS.items()}


def _jump(number: int, parts: list[str], jump_to: Note) -> Rule | None:
    """``-A KUBE-SVC-X -j KUBE-SEP-X``"""
    if parts[2] == "-j" and parts[3] not in BUILTIN:
        jump_to(parts[3])
        return Rule(number, (), "jump", parts[3])
    return None


def _from_address(number: int, parts: list[str], jump_to: Note) -> Rule | None:
    """``-A KUBE-SEP-X -s 10.244.1.2/32 -j KUBE-MARK-MASQ``"""
    if parts[4] == "-j" and parts[2] == "-s" and parts[5] not in BUILTIN and parts[3][-3:] == "/32":
        target = intern(parts[5])
        jump_to(target)
        return Rule(number, (Match("source", parts[3]),), "jump", target)
    return None


def _translation_or_chance(number: int, parts: list[str], jump_to: Note) -> Rule | None:
    """``-A KUBE-SEP-X -p tcp -m tcp -j DNAT --to-destination 10.244.1.2:8080`` or ``-A KUBE-SVC-X -m statistic --mode
    random --probability 0.5 -j KUBE-SEP-X``"""
    if parts[8] == "--to-destination" and parts[7] == "DNAT" and parts[6] == "-j" and parts[2] == "-p":
        protocol = _PROTOCOL_ALONE.get(parts[3])
        backend = parts[9]
        if protocol is not None and parts[5] == parts[3] and parts[4] == "-m" and is_ipv4_and_port(backend):
            host, _, port = backend.partition(":")
            place = int(port)
            if 0 < place < 65536:
                return Rule(number, protocol, "dnat", (host, place))
    elif parts[3] == "statistic" and parts[6] == "--probability" and parts[8] == "-j" and parts[5] == "random":
        chance = _chance(parts[7])
        if chance is not None and parts[2] == "-m" and parts[4] == "--mode" and parts[9] not in BUILTIN:
            jump_to(parts[9])
            return Rule(number, chance, "jump", parts[9])
    return None


def _from_elsewhere(number: int, parts: list[str], jump_to: Note) -> Rule | None:
    """``-A KUBE-SVC-X ! -s 10.244.0.0/16 -d 10.96.0.10/32 -p tcp -m tcp --dport 53 -j KUBE-MARK-MASQ``"""
    if parts[3] == "-s" and parts[2] == "!" and parts[5] == "-d":
        matched = _destined(parts[6:])
        if matched is not None and prefix_value(parts[4]) is not None and parts[14] not in BUILTIN:
            target = intern(parts[14])
            jump_to(target)
            return Rule(number, (_not_from(parts[4]), *matched), "jump", target)
    return None


def _frontend(number: int, parts: list[str], jump_to: Note) -> Rule | None:
    """``-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment "ns/name:port cluster IP" -m tcp --dport 53 -j
    KUBE-SVC-X``"""
    if parts[2] == "-d" and parts[8] == "--comment" and parts[9][:1] == '"' and parts[11][-1:] == '"':
        matched = _destined([parts[3], *parts[4:6], *parts[12:]])
        comment = f"{parts[9][1:]} {parts[10]} {parts[11][:-1]}"
        plain = parts[6] == "-m" and parts[7] == "comment" and '"' not in comment and "\\" not in comment
        if matched is not None and plain and parts[17] not in BUILTIN:
            jump_to(parts[17])
            return Rule(number, matched, "jump", parts[17], comment)
    return None


#: By the number of words. None of them: to be read as any other rule.
SHAPES: dict[int, Callable[[int, list[str], Note], Rule | None]] = {
    4: _jump,
    6: _from_address,
    10: _translation_or_chance,
    15: _from_elsewhere,
    18: _frontend,
}


@lru_cache(maxsize=4096)
def _chance(text: str) -> tuple[Match] | None:
    number = probability(text)
    return None if number is None else (Match("probability", number),)


@lru_cache(maxsize=256)
def _not_from(prefix: str) -> Match:
    return Match("source", prefix, True)


@lru_cache(maxsize=4096)
def _to_port(text: str) -> Match | None:
    return Match("dport", ((int(text), int(text)),)) if text.isdecimal() and int(text) < 65536 else None


def _destined(parts: list[str]) -> tuple[Match, Match, Match] | None:
    """``10.96.0.10/32 -p tcp -m tcp --dport 53 -j CHAIN``, split at spaces."""
    protocol = PROTOCOLS.get(parts[2])
    port = _to_port(parts[6])
    if protocol is None or port is None or parts[1] != "-p" or parts[3] != "-m" or parts[4] != parts[2]:
        return None
    if parts[5] != "--dport" or parts[7] != "-j" or parts[0][-3:] != "/32" or is_ipv4(parts[0][:-3]) is None:
        return None
    return Match("destination", parts[0]), protocol, port
