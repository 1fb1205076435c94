"""What met one Need, with the ways to find few of many without looking at all of them.

Each way is indexed when it is first asked for and kept with the observations, so that a second question, and a second walk
over the same evidence, costs what it returns. Everything keeps the order in which the observations came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.observation import Observation, State

Index = Mapping[Any, "Observations"]


class Observations(tuple[Observation[Any], ...]):
    """A tuple of Observations. What is found is a tuple of the same class, empty when there is nothing.

    Lookups by namespace, name, label, address and node see objects of the API alone, ``of_node`` and ``of_pod``
    the state of nodes and Pods by whose it is.
    """

    @classmethod
    def of(cls, observations: Iterable[Observation[Any]]) -> Observations:
        """``observations`` itself where it can be asked already."""
        return observations if isinstance(observations, cls) else cls(observations)

    # --- all of them ------------------------------------------------------------------------------------------------

    @property
    def present(self) -> Observations:
        # Not kept where it is all of them: what refers to itself is freed late.
        return self if self._all_present else self._those_present

    @cached_property
    def _all_present(self) -> bool:
        return all(observation.state is State.PRESENT for observation in self)

    @cached_property
    def _those_present(self) -> Observations:
        return self._where(lambda observation: observation.state is State.PRESENT)

    @cached_property
    def absent(self) -> bool:
        """It was looked for, and nothing of it is there."""
        return bool(self) and all(observation.state is State.ABSENT for observation in self)

    @cached_property
    def why(self) -> str:
        """In words for people, why something of it is not present; empty when all of it is."""
        return "; ".join(dict.fromkeys(observation.why for observation in self if observation.why))

    @cached_property
    def not_read(self) -> Observations:
        """Those that say that something could not be read."""
        return self._where(lambda observation: observation.state is State.UNREADABLE)

    @property
    def partial(self) -> bool:
        """Some of it could not be read."""
        return bool(self.not_read)

    @cached_property
    def refused(self) -> bool:
        """Some of it was there to look at and could not be read."""
        return any(observation.refused for observation in self.not_read)

    @cached_property
    def listing(self) -> bool:
        """All of it came from complete lists."""
        return all(observation.provenance.listing for observation in self)

    @cached_property
    def complete(self) -> bool:
        """It came from a full list and no part of it was unreadable: what is missing in it does not exist."""
        return any(observation.provenance.listing for observation in self) and not self.partial

    @cached_property
    def objects(self) -> bool:
        """All of it are objects of the API."""
        return all(isinstance(observation.value, api.Object) for observation in self)

    @cached_property
    def states(self) -> bool:
        """None of it is an object of the API."""
        return not any(isinstance(observation.value, api.Object) for observation in self)

    # --- objects ----------------------------------------------------------------------------------------------------

    def in_namespace(self, namespace: str) -> Observations:
        return self._by_namespace.get(namespace, NONE)

    def named(self, name: str) -> Observations:
        return self._by_name.get(name, NONE)

    def of_service(self, name: str) -> Observations:
        """Slices and Endpoints of a Service, events about an object of that name, other objects of that name."""
        return self._by_service.get(name, NONE)

    def about(self, name: str) -> Observations:
        """Events of this name, and those about an object of this name."""
        return self._by_subject.get(name, NONE)

    def like(self, pod: str) -> Observations:
        """Pods that "namespace/name" or a name alone can mean, and Pods of that name elsewhere."""
        return self._by_bare_name.get(bare(pod), NONE)

    def on_node(self, node: str) -> Observations:
        """Pods that run on a node."""
        return self._by_node.get(node, NONE)

    def at(self, address: str) -> Observations:
        """Pods that have an address and have not finished, in whatever form the address is written."""
        return self._by_address.get(canonical(address), NONE)

    def labelled(self, labels: Mapping[str, str]) -> Observations:
        """Objects that carry all of these labels; all objects for no labels."""
        rarest = self
        for key, value in labels.items():
            carrying = self._by_label.get((key, value), NONE)
            if len(carrying) < len(rarest):
                rarest = carrying
        if len(labels) == 1 and rarest is not self:
            return rarest
        return rarest._where(lambda observation: _carries(observation.value, labels))

    # --- state of nodes and Pods ------------------------------------------------------------------------------------

    def of_node(self, node: str) -> Observations:
        return self._of_node.get(node, NONE)

    def of_pod(self, pod: str) -> Observations:
        """State of every Pod of this name, whatever its namespace; ``pod`` may be "namespace/name"."""
        return self._of_pod.get(bare(pod), NONE)

    @cached_property
    def unowned(self) -> Observations:
        """State of which the evidence does not say whose it is."""
        return self._where(lambda observation: not observation.provenance.pod and not observation.provenance.node)

    # --- indices ----------------------------------------------------------------------------------------------------

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What readers worked out of all of it, each under a key of its own, so that it is worked out once."""
        return {}

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of its objects, in the order in which they came; "" for objects without one."""
        return tuple(self._by_namespace)

    @cached_property
    def _by_namespace(self) -> Index:
        return self._by(lambda value: (value.namespace,))

    @cached_property
    def _by_name(self) -> Index:
        return self._by(lambda value: (value.name,))

    @cached_property
    def _by_service(self) -> Index:
        return self._by(lambda value: (service_of(value),))

    @cached_property
    def _by_subject(self) -> Index:
        return self._by(lambda value: {value.name: None, service_of(value): None})

    @cached_property
    def _by_bare_name(self) -> Index:
        return self._by(lambda value: (bare(value.name),))

    @cached_property
    def _by_node(self) -> Index:
        return self._by(lambda value: (value.spec.node_name,) if isinstance(value, api.Pod) else ())

    @cached_property
    def _by_address(self) -> Index:
        return self._by(_addresses)

    @cached_property
    def _by_label(self) -> Index:
        return self._by(lambda value: (value.metadata.labels or {}).items())

    @cached_property
    def _of_node(self) -> Index:
        return _grouped((observation.provenance.node, observation) for observation in self)

    @cached_property
    def _of_pod(self) -> Index:
        return _grouped((bare(observation.provenance.pod), observation) for observation in self)

    def _by(self, keys: Callable[[Any], Iterable[Any]]) -> Index:
        return _grouped(
            (key or "", observation)
            for observation in self
            if isinstance(observation.value, api.Object)
            for key in keys(observation.value)
        )

    def _where(self, holds: Callable[[Observation[Any]], bool]) -> Observations:
        found = Observations(observation for observation in self if holds(observation))
        return self if len(found) == len(self) else found


NONE = Observations()


def _grouped(pairs: Iterator[tuple[Any, Observation[Any]]]) -> Index:
    groups: dict[Any, list[Observation[Any]]] = {}
    for key, observation in pairs:
        groups.setdefault(key, []).append(observation)
    return {key: Observations(group) for key, group in groups.items()}


def _addresses(value: api.Object) -> Iterable[str]:
    return {canonical(ip): None for ip in value.ips} if isinstance(value, api.Pod) and not value.finished else ()


def _carries(value: Any, labels: Mapping[str, str]) -> bool:
    carried = value.metadata.labels or {} if isinstance(value, api.Object) else {}
    return all(carried.get(key) == text for key, text in labels.items())


def service_of(value: api.Object) -> str:
    """The Service that a slice or Endpoints serves; of an event its subject's name; of others the own name."""
    if isinstance(value, api.EndpointSlice):
        return value.service_name or ""
    if isinstance(value, api.Event):
        return value.subject.name
    return value.name


def bare(pod: str) -> str:
    """The name of "namespace/name"."""
    return pod.rpartition("/")[2]


def same_pod(name: str, other: str) -> bool:
    """Whether two of "namespace/name" or a name alone can mean the same Pod; a missing namespace fits any."""
    namespace, other_namespace = name.rpartition("/")[0], other.rpartition("/")[0]
    return bare(name) == bare(other) and (not namespace or not other_namespace or namespace == other_namespace)
