"""What of the objects beside the workloads concerns one of them: found by name, since a render may hold thousands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from svcpath.evidence.facts.kubernetes import OtherObject, Service
from svcpath.models.drain.balancers import backends, is_route

#: Kinds that tell something of a drain without naming a backend in a route.
_TELLING = frozenset(
    ("Gateway", "BackendConfig", "GCPBackendPolicy", "HealthCheckPolicy", "HorizontalPodAutoscaler", "ScaledObject")
)


class Beside:
    """An index of the objects that no layer reads."""

    def __init__(self, others: Iterable[OtherObject]) -> None:
        self._telling: list[tuple[int, OtherObject]] = []
        self._routes: dict[str, list[tuple[int, OtherObject]]] = {}
        for number, obj in enumerate(others):
            if is_route(obj):
                for name in dict.fromkeys(name for name, _ in backends(obj.spec)):
                    self._routes.setdefault(name, []).append((number, obj))
            elif obj.kind in _TELLING:
                self._telling.append((number, obj))

    def of(self, services: Sequence[Service]) -> tuple[OtherObject, ...]:
        """What may stand in front of these Services, and what tells of policies and autoscalers, in the order given."""
        found = dict(self._telling)
        for service in services:
            found.update(self._routes.get(service.name, ()))
        return tuple(found[number] for number in sorted(found))
