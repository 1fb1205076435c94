"""How old is a difference? Since the slice that its backend stands in changed, if that is known.

A difference younger than kube-proxy's period of syncing is *late*, an older one *stuck*: see ``times``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.models.dataplanes.drift.difference import Difference
from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.times import Times, cause_of, changed_at


class SliceIndex:
    """Slices by the Service they belong to, built once for all nodes."""

    def __init__(self, slices: Iterable[EndpointSlice]) -> None:
        self._held: dict[tuple[str, str], list[EndpointSlice]] = {}
        for item in slices:
            name = item.service_name
            if name is not None:
                self._held.setdefault((item.metadata.namespace, name), []).append(item)

    def of(self, service: Service) -> Sequence[EndpointSlice]:
        return self.named(service.metadata.namespace, service.metadata.name)

    def named(self, namespace: str, service: str) -> Sequence[EndpointSlice]:
        return self._held.get((namespace, service), ())


def dated(row: Difference, item: Expectation, slices: SliceIndex, times: Times) -> Difference:
    """The row with the slice that changed, how long ago, and what that says."""
    namespace, _, rest = item.service.partition("/")
    names = {
        view.slice for view in item.endpoints if row.backend is None or view.backend.address == row.backend.address
    }
    candidates = [
        piece for piece in slices.named(namespace, rest.partition(":")[0]) if not names or piece.metadata.name in names
    ]
    changes = [(changed_at(piece), piece.metadata.name) for piece in candidates]
    known = [(at, name) for at, name in changes if at is not None]
    if not known:
        return row
    at, name = max(known)
    return msgspec.structs.replace(row, age=times.age(at), cause=cause_of(at, times), slice=name)
