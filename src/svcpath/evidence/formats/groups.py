"""Observations of one kind, grouped by what Needs ask for, so that few of many are found without looking at all of them.

Each grouping is made when it is first asked for and kept. Groups keep the order in which the observations came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.observation import Observation

Grouping = Mapping[str, "Group"]


class Group(tuple[Observation[Any], ...]):
    """A tuple of Observations that finds parts of itself; what is not there is an empty Group.

    Objects of the API are found by what they say, the state of nodes and Pods by whose it is.
    """

    @cached_property
    def objects(self) -> bool:
        """All of them are objects of the API."""
        return all(isinstance(observation.value, api.Object) for observation in self)

    @cached_property
    def states(self) -> bool:
        """None of them is an object of the API."""
        return not any(isinstance(observation.value, api.Object) for observation in self)

    @cached_property
    def listing(self) -> bool:
        """All of them came from complete lists."""
        return all(observation.provenance.listing for observation in self)

    # --- objects ----------------------------------------------------------------------------------------------------

    def in_namespace(self, namespace: str) -> Group:
        return self._by_namespace.get(namespace, EMPTY)

    def named(self, name: str) -> Group:
        return self._by_name.get(name, EMPTY)

    def of_service(self, name: str) -> Group:
        """Slices and Endpoints of a Service, events about an object of that name, other objects of that name."""
        return self._by_service.get(name, EMPTY)

    def about(self, name: str) -> Group:
        """Events of this name, and those about an object of this name."""
        return self._by_subject.get(name, EMPTY)

    def like(self, pod: str) -> Group:
        """Pods of the name in "namespace/name", whatever their namespace."""
        return self._by_bare_name.get(bare(pod), EMPTY)

    def on_node(self, node: str) -> Group:
        """Pods that run on a node."""
        return self._by_node.get(node, EMPTY)

    # --- state of nodes and Pods ------------------------------------------------------------------------------------

    def of_node(self, node: str) -> Group:
        return self._of_node.get(node, EMPTY)

    def of_pod(self, pod: str) -> Group:
        """State of the Pods of the name in "namespace/name", whatever their namespace."""
        return self._of_pod.get(bare(pod), EMPTY)

    @cached_property
    def unowned(self) -> Group:
        """State of which the evidence does not say whose it is."""
        return Group(found for found in self if not found.provenance.pod and not found.provenance.node)

    # --- groupings --------------------------------------------------------------------------------------------------

    @cached_property
    def _by_namespace(self) -> Grouping:
        return self._by(lambda value: (value.namespace,))

    @cached_property
    def _by_name(self) -> Grouping:
        return self._by(lambda value: (value.name,))

    @cached_property
    def _by_service(self) -> Grouping:
        return self._by(lambda value: (service_of(value),))

    @cached_property
    def _by_subject(self) -> Grouping:
        return self._by(lambda value: dict.fromkeys((value.name, service_of(value))))

    @cached_property
    def _by_bare_name(self) -> Grouping:
        return self._by(lambda value: (bare(value.name),))

    @cached_property
    def _by_node(self) -> Grouping:
        return self._by(lambda value: (value.spec.node_name or "",) if isinstance(value, api.Pod) else ())

    @cached_property
    def _of_node(self) -> Grouping:
        return _grouped((observation.provenance.node, observation) for observation in self)

    @cached_property
    def _of_pod(self) -> Grouping:
        return _grouped((bare(observation.provenance.pod), observation) for observation in self)

    def _by(self, keys: Callable[[Any], Iterable[str]]) -> Grouping:
        return _grouped((key, observation) for observation in self for key in keys(observation.value))


EMPTY = Group()


def _grouped(pairs: Iterator[tuple[str, Observation[Any]]]) -> Grouping:
    groups: dict[str, list[Observation[Any]]] = {}
    for key, observation in pairs:
        groups.setdefault(key, []).append(observation)
    return {key: Group(group) for key, group in groups.items()}


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
