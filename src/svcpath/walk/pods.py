"""The Pods of a namespace, found by name, address and label: worked out once for a Reply, however often it is asked."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cached_property

from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.observation import Observation
from svcpath.models.policies.selectors import matches
from svcpath.walk.addresses import canonical
from svcpath.walk.ask import Reply

Observed = Observation[Pod]
_KNOWN: weakref.WeakKeyDictionary[Reply, Pods] = weakref.WeakKeyDictionary()


class Pods:
    """Of several Pods with one name or address the last counts, as in a plain dictionary."""

    def __init__(self, present: tuple[Observed, ...]) -> None:
        self._present = present

    @cached_property
    def by_name(self) -> Mapping[str, Observed]:
        return {pod.fact.name: pod for pod in self._present}

    @cached_property
    def _by_address(self) -> Mapping[str, Observed]:
        return {canonical(ip): pod for pod in self._present if not pod.fact.finished for ip in pod.fact.ips}

    @cached_property
    def _by_label(self) -> Mapping[tuple[str, str], list[Observed]]:
        found: dict[tuple[str, str], list[Observed]] = {}
        for pod in self._present:
            for label in pod.fact.labels.items():
                found.setdefault(label, []).append(pod)
        return found

    def at(self, address: str) -> Observed | None:
        """The Pod that has not finished and has this address, in canonical form."""
        return self._by_address.get(address)

    def selected(self, selector: Mapping[str, str]) -> tuple[Observed, ...]:
        """Pods that have not finished and carry all labels of a Service's selector, in the order of the evidence."""
        rarest: list[Observed] = min((self._by_label.get(label, []) for label in selector.items()), key=len, default=[])
        return tuple(pod for pod in rarest if matches(selector, pod.fact.labels) and not pod.fact.finished)


def pods_of(reply: Reply) -> Pods:
    """``reply`` is one to a Need for Pods."""
    if (known := _KNOWN.get(reply)) is None:
        known = _KNOWN[reply] = Pods(reply.present)
    return known
