"""What rules of others hold and this tool has no word for: passed over, so that what they do with a packet is still read.

nft(8) has far more expressions and statements than kube-proxy writes (firewalld, Docker, CNI plugins, hand-made tables).
A condition that is not known is one whose truth is not known; a statement that only changes something lets the packet go
on; one that sends it elsewhere makes the rule's effect unknown.
"""

from __future__ import annotations

from typing import Any

from svcpath.models.dataplanes.nftables.tokens import VERDICTS, Tokens
from svcpath.models.dataplanes.ruleset import Match

#: Statements that take the packet in a way that is not known: to a place that a map or a range names, to a program.
_TAKING = frozenset({"dnat", "redirect", "tproxy", "reject", "masquerade", "queue", "synproxy", "fwd", "xt"})
#: Statements that let it go on.
_PASSING = frozenset({"flow", "dup", "log", "snat", "last", "secmark"})
#: Where a condition ends at the latest.
_ENDS = (
    frozenset({"counter", "comment", "jump", "goto", "log", "snat", "flow", "dup", "limit"})
    | _TAKING
    | frozenset(VERDICTS)
)
#: Words of nft's grammar with which a condition begins. Any other is recorded as not understood.
_CONDITIONS = frozenset(
    {
        "ah",
        "arp",
        "comp",
        "cpu",
        "ct",
        "day",
        "dccp",
        "dst",
        "esp",
        "ether",
        "exthdr",
        "fib",
        "frag",
        "geneve",
        "gre",
        "hbh",
    }
    | {
        "hour",
        "icmp",
        "icmpv6",
        "igmp",
        "iif",
        "iifgroup",
        "iifkind",
        "iifname",
        "iiftype",
        "ip",
        "ip6",
        "ipsec",
        "jhash",
    }
    | {
        "limit",
        "mark",
        "meta",
        "meter",
        "mh",
        "numgen",
        "oif",
        "oifgroup",
        "oifkind",
        "oifname",
        "oiftype",
        "osf",
        "quota",
    }
    | {"rt", "sctp", "skgid", "skuid", "socket", "symhash", "tcp", "th", "time", "udp", "udplite", "vlan", "vxlan"}
)
_CT_MARK = ("ct", "mark")


def pass_over(tokens: Tokens, matches: list[Match], effects: list[tuple[str, Any]]) -> None:
    """One statement that could not be read, beginning where ``tokens`` stands."""
    word = tokens.peek()
    if word in _TAKING:
        effects.append(("opaque", " ".join(_words(tokens, whole=True))))
        return
    words = _words(tokens, whole=False)
    text = " ".join(words)
    if word in _PASSING:
        effects.append(("continue", None))
        if _CONDITIONS & set(words[1:]):
            matches.append(Match("other", text))  # a condition behind it went with it
    elif "set" not in words[1:]:
        # The rest of a condition that was read in part belongs to it.
        known = word in _CONDITIONS or word[:1] == "@" or (bool(matches) and matches[-1].kind == "other")
        matches.append(Match("other" if known else "opaque", text))
    else:
        _changed(tokens, words, matches, effects)


def _changed(tokens: Tokens, words: list[str], matches: list[Match], effects: list[tuple[str, Any]]) -> None:
    """``ip ttl set 63``, ``meta mark set ct mark``, ``tcp option maxseg size set rt mtu``, and what follows on it."""
    place = words.index("set", 1) + 1
    place += 2 if words[place : place + 1] in (["ct"], ["meta"], ["rt"]) else 1
    value, rest = words[:place], words[place:]
    tokens.place -= len(rest)
    if rest and rest[0] not in _CONDITIONS:
        tokens.place += len(rest)  # an expression goes on: what belongs to it is not known
        matches.append(Match("other", " ".join(rest)))
        value = words
    if value[:3] != ["meta", "mark", "set"]:
        effects.append(("continue", None))
    elif tuple(value[3:]) == _CT_MARK:
        # The mark of a connection that begins is 0 unless a rule has set it.
        effects.append(("mark", (0xFFFFFFFF, 0)))
    else:
        effects.append(("opaque", " ".join(value)))


def _words(tokens: Tokens, *, whole: bool) -> list[str]:
    """Up to the next statement, or all but the comment; braces belong together."""
    words = [tokens.next()]
    depth = 0
    while tokens.peek():
        word = tokens.peek()
        if depth == 0 and (word == "comment" or (not whole and word in _ENDS)):
            break
        depth += {"{": 1, "}": -1}.get(word, 0)
        words.append(tokens.next())
    return words
