"""Label selectors, and how near a miss was.

Rules: a Service selector is a set of equalities, all of which must hold, and an empty one selects nothing
(pkg/controller/endpointslice, Service docs); a LabelSelector is matchLabels and matchExpressions together, an empty one
selects everything and a missing one nothing (apimachinery pkg/apis/meta/v1/helpers.go).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from svcpath.evidence.facts.kubernetes import LabelSelector, LabelSelectorRequirement


def matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether a Service's selector picks these labels; an empty selector picks nothing."""
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def label_selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector picks these labels; None picks nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.match_labels or {}).items()):
        return False
    return all(_requirement_holds(requirement, labels) for requirement in selector.match_expressions or ())


def _requirement_holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    values = requirement.values or ()
    match requirement.operator:
        case "In":
            return labels.get(requirement.key) in values and requirement.key in labels
        case "NotIn":
            return requirement.key not in labels or labels[requirement.key] not in values
        case "Exists":
            return requirement.key in labels
        case "DoesNotExist":
            return requirement.key not in labels
        case _:
            return False


class LabelDifference(msgspec.Struct, frozen=True):
    """One selector term that a set of labels does not meet.

    ``actual`` is the label's value, None when the key is missing. ``elsewhere`` is a key of the labels that carries the
    wanted value under another name ("app.kubernetes.io/component" for "component"), or a key that differs from the
    wanted one only in case or separators.
    """

    key: str
    wanted: str
    actual: str | None
    elsewhere: str | None = None


def differences(selector: Mapping[str, str], labels: Mapping[str, str]) -> tuple[LabelDifference, ...]:
    """The selector terms that ``labels`` does not meet, in selector order."""
    missed = []
    for key, wanted in selector.items():
        actual = labels.get(key)
        if actual == wanted:
            continue
        elsewhere = None
        if actual is None:
            elsewhere = next((other for other in sorted(labels) if _same_key(other, key)), None)
            if elsewhere is None:
                elsewhere = next(
                    (other for other, value in sorted(labels.items()) if value == wanted and other not in selector),
                    None,
                )
        missed.append(LabelDifference(key, wanted, actual, elsewhere))
    return tuple(missed)


def _same_key(key: str, other: str) -> bool:
    def bare(name: str) -> str:
        return name.rpartition("/")[2].lower().replace("-", "").replace("_", "").replace(".", "")

    return key != other and bare(key) == bare(other)
