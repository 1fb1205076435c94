"""The rules of which a big table has tens of thousands, recognised by their shape: split at spaces, by their words.

Only the shapes that kube-proxy writes (pkg/proxy/nftables/proxier.go), and only where nothing in them is unusual;
everything else is read statement by statement. Both give the same rule.
"""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern

from svcpath.models.dataplanes.ruleset import Chain, Match, Rule, is_ipv4, is_ipv4_and_port, prefix_value

_PROTOCOLS = {name: Match("protocol", (name,)) for name in ("tcp", "udp", "sctp")}
#: nft scanner.l: ``string`` begins with a letter and goes on with letters, digits and / \\ _ . -
_NAME = re.compile(r"[A-Za-z][\w/\\.-]*", re.ASCII)
_OF_OTHERS = ("\t\tip", "daddr", "ip", "saddr", "!=", "jump")


def by_shape(chain: Chain, number: int, line: str) -> bool:
    """The rules of which a big table has tens of thousands, by their shape. False: to be read as any other."""
    parts = line.split(" ")
    if "" in parts:
        return False
    count = len(parts)
    if count == 6:
        if parts[3] == "dnat" and parts[0] == "\t\tmeta" and parts[4] == "to" and parts[1] == "l4proto":
            protocol = _PROTOCOLS.get(parts[2])
            if protocol is not None and is_ipv4_and_port(parts[5]) is not None:
                host, _, port = parts[5].partition(":")
                if 0 < int(port) < 65536:
                    chain.rules.append(Rule(number, (protocol,), "dnat", (host, int(port))))
                    return True
    elif count == 5:
        plain = parts[3] == "jump" and parts[1] == "saddr" and parts[0] == "\t\tip" and is_ipv4(parts[2]) is not None
        if plain and _is_name(parts[4]):
            chain.rules.append(Rule(number, (Match("source", parts[2]),), "jump", intern(parts[4])))
            return True
    elif count == 9:
        shape = (parts[0], parts[1], parts[3], parts[4], parts[5], parts[7])
        if shape == _OF_OTHERS and is_ipv4(parts[2]) is not None:
            source = _not_from(parts[6])
            if source is not None and _is_name(parts[8]):
                matches = (Match("destination", parts[2]), source)
                chain.rules.append(Rule(number, matches, "jump", intern(parts[8])))
                return True
    elif count % 4 == 3 and parts[0] == "\t\tnumgen":
        return _numgen(chain, number, parts)
    return False


def _numgen(chain: Chain, number: int, parts: list[str]) -> bool:
    """``numgen random mod 2 vmap { 0 : goto A, 1 : goto B }``, split at spaces."""
    if parts[1:3] != ["random", "mod"] or parts[4:6] != ["vmap", "{"] or parts[-1] != "}" or not parts[3].isdecimal():
        return False
    modulus = int(parts[3])
    if modulus < 1 or len(parts) != 4 * modulus + 7:
        return False
    choices = []
    for place in range(6, len(parts) - 1, 4):
        index, colon, verb, name = parts[place : place + 4]
        if not index.isdecimal() or colon != ":" or verb != "goto" or (name[-1:] == ",") is (place + 5 == len(parts)):
            return False
        name = name[:-1] if name[-1:] == "," else name
        if not _is_name(name):
            return False
        choices.append((int(index), verb, name))
    chain.rules.append(Rule(number, (), "numgen", (modulus, tuple(choices), "random")))
    return True


@lru_cache(maxsize=256)
def _not_from(prefix: str) -> Match | None:
    return Match("source", prefix, True) if prefix_value(prefix) is not None else None


@lru_cache(maxsize=1 << 16)
def _is_name(word: str) -> bool:
    """Whether a chain can be called that (nft scanner.l: string), so that no other statement hides behind it."""
    return _NAME.fullmatch(word) is not None
