"""Two objects under one name: evidence of two clusters put together by mistake, or of one before and after.

An object keeps its uid for life (apimachinery ObjectMeta), and a Service its clusterIP (validation: the field is
immutable). Kinds that live as long as their cluster are looked at; Pods are recreated under one name every day.
"""

from __future__ import annotations

from collections.abc import Iterable

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import SameNameObjects

KINDS = frozenset({Kind.SERVICE, Kind.NODE, Kind.NAMESPACE})


def mixed_clusters(objects: Iterable[tuple[str, api.Object]]) -> list[tuple[str, SameNameObjects]]:
    """``objects`` are (path, object). Each name once, with the path of its first object."""
    groups: dict[tuple[str, str, str], list[tuple[str, api.Object]]] = {}
    for path, obj in objects:
        if obj.name:
            groups.setdefault((obj.kind, obj.namespace, obj.name), []).append((path, obj))
    found = []
    for (kind, namespace, name), group in sorted(groups.items()):
        for what, mark in (("uid", _uid), ("clusterIP", _cluster_ip)):
            marks = [(where, mark(obj)) for where, obj in group]
            known = [(where, value) for where, value in marks if value]
            others = [(where, value) for where, value in known if value != known[0][1]]
            if others:
                second = others[0][1]
                files = tuple(dict.fromkeys(where for where, value in others if value == second))
                same = SameNameObjects(
                    kind=kind,
                    namespace=namespace,
                    name=name,
                    what=what,
                    first=known[0][1],
                    second=second,
                    others=files,
                )
                found.append((known[0][0], same))
                break
    return found


def _uid(obj: api.Object) -> str:
    return obj.metadata.uid


def _cluster_ip(obj: api.Object) -> str:
    if not isinstance(obj, api.Service):
        return ""
    return next((ip for ip in obj.cluster_ips if ip not in ("", "None")), "")
