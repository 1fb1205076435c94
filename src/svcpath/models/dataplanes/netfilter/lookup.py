"""Which rules of a chain can match at all? A chain with thousands of frontends is looked up, not walked.

KUBE-SERVICES holds a rule per frontend. Each names one address and one port, so rules are indexed by those once, and
a packet is shown only the ones under its own, with all that name neither, in the order of the chain.
"""

from __future__ import annotations

from typing import Any

from svcpath.models.dataplanes.ruleset import Chain, Rule, address_value, prefix_value

_INDEX_FROM = 12

#: Places of rules by (destination, port), None where a rule does not say; and of the rules that say neither.
_Index = tuple[dict[Any, list[int]], list[int]]


def candidates(chain: Chain, address: str, port: int) -> list[Rule]:
    """The rules that a packet to this address and port can match, in their order."""
    if len(chain.rules) < _INDEX_FROM:
        return chain.rules
    index: _Index | None = chain.index
    if index is None:
        index = chain.index = _build(chain.rules)
    by_key, rest = index
    if not by_key:
        return chain.rules
    destination = address_value(address)
    places = list(rest)
    for key in ((destination, port), (None, port), (destination, None)):
        places.extend(by_key.get(key, ()))
    places.sort()
    return [chain.rules[place] for place in places]


def _build(rules: list[Rule]) -> _Index:
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
