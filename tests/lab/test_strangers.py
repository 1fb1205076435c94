"""Who changed an object, by its managed fields: a cluster's components may, anybody else is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.live.audit import strangers


def written(version: str, *managers: tuple[str, str]) -> dict[str, Any]:
    """A ConfigMap with an entry of each (manager, time)."""
    entries = [{"manager": who, "operation": "Update", "time": time} for who, time in managers]
    meta = {"namespace": "shop", "name": "app", "resourceVersion": version, "managedFields": entries}
    return {"kind": "ConfigMap", "metadata": meta}


BEFORE = written("1", ("kubectl", "10:00"), ("kubelet", "10:00"))


@pytest.mark.parametrize(
    ("after", "who"),
    [
        ([written("1", ("kubectl", "10:00"), ("kubelet", "10:00"))], None),
        ([written("2", ("kubectl", "10:00"), ("kubelet", "10:05"))], None),
        ([written("2", ("kubectl", "10:00"), ("kubelet", "10:05"), ("kube-controller-manager", "10:05"))], None),
        ([written("2", ("kubectl", "10:05"), ("kubelet", "10:05"))], "kubectl"),
        ([written("2", ("kubectl", "10:00"), ("kubelet", "10:00"), ("svcpath", "10:05"))], "svcpath"),
        ([written("2", ("kubectl", "10:00"), ("kubelet", "10:00"))], "no one"),
        ([], "no one: it is gone"),
    ],
)
def test_a_change_is_told_with_who_made_it_unless_a_component_did(after: list[dict[str, Any]], who: str | None) -> None:
    assert strangers([BEFORE], after) == ({} if who is None else {"ConfigMap shop/app": who})


def test_an_object_that_is_new_is_told_with_who_made_it() -> None:
    assert strangers([], [written("1", ("kubectl", "10:00"))]) == {"ConfigMap shop/app": "kubectl"}
    assert strangers([], [written("1", ("kube-controller-manager", "10:00"))]) == {}
