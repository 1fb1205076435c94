"""The objects that CoreDNS' kubernetes plugin watches (plugin/kubernetes controller.go of CoreDNS 1.14.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TypeVar

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Namespace, Pod, Service

T = TypeVar("T")

#: Namespace and name in lower case, as the plugin compares them.
Key = tuple[str, str]


class WatchedObjects(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The objects that the plugin watches. ``synced`` False: the API was never read (the zone answers SERVFAIL).

    The groupings are made when first asked for and kept: a cluster that is asked again is not gone through again.
    """

    services: tuple[Service, ...] = ()
    slices: tuple[EndpointSlice, ...] = ()
    pods: tuple[Pod, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    synced: bool = True

    @cached_property
    def services_by_name(self) -> Mapping[Key, list[Service]]:
        """More than one under a name where the evidence has several manifests of it."""
        return _grouped(((service.namespace, service.name), service) for service in self.services)

    @cached_property
    def slices_by_service(self) -> Mapping[Key, list[EndpointSlice]]:
        return _grouped(
            ((slice_.namespace, slice_.service_name), slice_) for slice_ in self.slices if slice_.service_name
        )


def _grouped(pairs: Iterable[tuple[Key, T]]) -> Mapping[Key, list[T]]:
    groups: dict[Key, list[T]] = {}
    for (namespace, name), item in pairs:
        groups.setdefault((namespace.lower(), name.lower()), []).append(item)
    return groups
