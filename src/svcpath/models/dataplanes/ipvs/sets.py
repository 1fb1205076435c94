"""`ipset list` and `ipset save`: the sets by which kube-proxy's IPVS mode lets packets in (pkg/proxy/ipvs/ipset.go)."""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.errors import FormatError
from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.models.dataplanes.table import Frontend


def ipsets(text: str) -> dict[str, frozenset[str]]:
    """Read `ipset list` or `ipset save`: set name to its members as printed."""
    sets: dict[str, set[str]] = {}
    name = ""
    members = False
    for line in text.split("\n"):
        words = line.split()
        if line.startswith("Name: ") and len(words) > 1:
            name, members = words[1], False
            sets.setdefault(name, set())
        elif line.startswith("Members:"):
            members = True
        elif len(words) >= 3 and words[0] == "add":
            sets.setdefault(words[1], set()).add(words[2])
        elif len(words) >= 2 and words[0] == "create":
            sets.setdefault(words[1], set())
        elif members and words and name:
            sets[name].add(words[0])
    if not sets:
        raise FormatError("no set in it: give the output of ipset list or ipset save", line=1)
    return {key: frozenset(value) for key, value in sets.items()}


def ipset_frontends(sets: dict[str, frozenset[str]], name: str) -> Iterator[Frontend]:
    """Members such as ``10.96.0.10,udp:53`` of kube-proxy's hash:ip,port sets (KUBE-CLUSTER-IP, ...)."""
    for member in sorted(sets.get(name, ())):
        address, _, rest = member.partition(",")
        protocol, _, port = rest.partition(",")[0].partition(":")
        if address_value(address) is not None and port.isdecimal():
            yield Frontend(text_form(address), protocol.upper(), int(port))
