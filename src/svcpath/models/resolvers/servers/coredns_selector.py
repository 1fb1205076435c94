"""Label selectors in text form, as the kubernetes plugin's `labels` and `namespace_labels` take them.

Grammar of k8s.io/apimachinery/pkg/labels Parse: equality (=, ==, !=), sets (in, notin), existence (key, !key).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_SET = re.compile(r"^(\S+)\s+(in|notin)\s*\(([^)]*)\)$")


@lru_cache(maxsize=64)
def _requirements(text: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    requirements = []
    for part in re.split(r",(?![^(]*\))", text):
        term = part.strip()
        if not term:
            continue
        found = _SET.match(term)
        if found:
            values = frozenset(value.strip() for value in found.group(3).split(","))
            requirements.append((found.group(1), found.group(2), values))
        elif "!=" in term:
            key, _, value = term.partition("!=")
            requirements.append((key.strip(), "notin", frozenset((value.strip(),))))
        elif "=" in term:
            key, _, value = term.partition("=")
            requirements.append((key.strip(), "in", frozenset((value.lstrip("=").strip(),))))
        elif term.startswith("!"):
            requirements.append((term[1:].strip(), "absent", frozenset()))
        else:
            requirements.append((term, "exists", frozenset()))
    return tuple(requirements)


def selects(text: str, labels: Mapping[str, str]) -> bool:
    """Whether every requirement holds; the empty selector selects everything."""
    for key, operator, values in _requirements(text):
        value = labels.get(key)
        if operator == "in" and (value is None or value not in values):
            return False
        if operator == "notin" and value is not None and value in values:
            return False
        if operator == "exists" and value is None:
            return False
        if operator == "absent" and value is not None:
            return False
    return True
