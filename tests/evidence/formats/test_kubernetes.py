from __future__ import annotations

import json
from typing import Any

import pytest

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats import kubernetes, kubernetesyaml, limits
from svcpath.evidence.formats.item import Item, Listing


def pod(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, **more}


def service(name: str, port: Any = 80) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"ports": [{"port": port}]},
    }


def read(value: Any) -> list[Item | Listing]:
    return kubernetes.read_json(json.dumps(value, indent=1).encode())


def names(found: list[Item | Listing]) -> list[str]:
    return [item.value.name for item in found if isinstance(item, Item) and isinstance(item.value, api.Object)]


def test_a_mixed_list_is_a_listing_of_no_kind_in_particular() -> None:
    found = read({"kind": "List", "apiVersion": "v1", "items": [pod("a"), service("b"), pod("c")]})
    assert found[0] == Listing(None, 0)
    assert names(found) == ["a", "b", "c"]
    assert all(item.listing for item in found if isinstance(item, Item))


def test_items_of_a_typed_list_need_no_kind() -> None:
    bare = {"metadata": {"name": "a", "namespace": "shop"}, "spec": {"nodeName": "w1"}}
    found = read({"kind": "PodList", "apiVersion": "v1", "items": [bare]})
    assert found[0] == Listing(Kind.POD, 0)
    item = found[1]
    assert isinstance(item, Item)
    assert (item.kind, item.value.kind, item.value.api_version) == (Kind.POD, "Pod", "v1")


def test_a_page_of_a_list_is_no_listing() -> None:
    found = read({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "abc"}, "items": [pod("a")]})
    assert not any(isinstance(item, Listing) for item in found)
    assert [item.kind for item in found if isinstance(item, Item)] == [Kind.DAMAGED, Kind.POD]
    assert not any(item.listing for item in found if isinstance(item, Item))


def test_one_item_of_a_wrong_type_leaves_the_others() -> None:
    found = read({"kind": "List", "apiVersion": "v1", "items": [service("a"), service("b", "80"), service("c")]})
    assert names(found) == ["a", "c"]
    (bad,) = [item for item in found if isinstance(item, Item) and item.kind is Kind.DAMAGED]
    assert "Service shop/b" in bad.value.why
    assert "$.spec.ports[0].port" in bad.value.why


def test_of_a_cut_list_the_complete_items_are_kept() -> None:
    data = json.dumps({"apiVersion": "v1", "items": [pod("a"), pod("b"), pod("c")], "kind": "List"}, indent=1).encode()
    found = kubernetes.read_json(data[: data.index(b'"c"') + 1])
    assert names(found) == ["a", "b"]
    assert not any(item.listing for item in found if isinstance(item, Item))
    last = found[-1]
    assert isinstance(last, Item)
    assert (last.kind, last.value.read) == (Kind.DAMAGED, "2 objects")


def test_a_cut_watch_stream_keeps_its_whole_events() -> None:
    lines = [json.dumps({"received": f"t{n}", "type": "MODIFIED", "object": pod("a")}) for n in range(3)]
    found = kubernetes.read_json("\n".join(lines).encode()[:-9])
    assert [item.watched.received for item in found if isinstance(item, Item) and item.watched] == ["t0", "t1"]
    assert [item.line for item in found if isinstance(item, Item)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [
        ("v1", "Service", Kind.SERVICE),
        ("serving.knative.dev/v1", "Service", Kind.OTHER_OBJECT),
        ("discovery.k8s.io/v1", "EndpointSlice", Kind.ENDPOINT_SLICE),
        ("projectcalico.org/v3", "NetworkPolicy", Kind.OTHER_OBJECT),
        ("networking.k8s.io/v1", "NetworkPolicy", Kind.NETWORK_POLICY),
        ("events.k8s.io/v1", "Event", Kind.EVENT),
        ("apps/v1", "DaemonSet", Kind.WORKLOAD),
        ("argoproj.io/v1alpha1", "Rollout", Kind.WORKLOAD),
        ("metrics.k8s.io/v1beta1", "NodeMetrics", Kind.OTHER_OBJECT),
    ],
)
def test_the_api_group_counts(version: str, kind: str, expected: Kind) -> None:
    (item,) = read({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}})
    assert isinstance(item, Item)
    assert item.kind is expected


def test_a_custom_kind_with_a_pod_template_is_a_workload() -> None:
    spec = {"template": {"spec": {"containers": [{"name": "app"}]}}}
    value = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "metadata": {"name": "a"}, "spec": spec}
    (item,) = read(value)
    assert isinstance(item, Item)
    assert item.kind is Kind.WORKLOAD


def test_wrong_types_in_yaml_are_reported_where_they_stand() -> None:
    text = "kind: Service\napiVersion: v1\nmetadata: {name: a}\nspec:\n  ports:\n  - port: '80'\n---\nkind: Pod\nmetadata: {name: b}\n"
    found = kubernetesyaml.read_yaml(text)
    assert names(found) == ["b"]
    bad = found[0]
    assert isinstance(bad, Item)
    assert (bad.kind, bad.value.line) == (Kind.DAMAGED, 6)
    assert "6:11" in bad.value.why


def test_a_yaml_list_of_one_kind_is_a_listing() -> None:
    found = kubernetesyaml.read_yaml(
        "kind: ServiceList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
    )
    assert found[0] == Listing(Kind.SERVICE, 1)
    assert names(found) == ["a", "b"]


def test_json_above_the_limit_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_JSON", 10)
    with pytest.raises(TooLarge, match="JSON of more than"):
        read(pod("a"))


@pytest.mark.parametrize(
    "text", ["[" * 100000, '{"items":' * 100000, '{"kind":"Pod","apiVersion":"v1","spec":' + "[" * 9999]
)
def test_deeply_nested_json_is_a_typed_error(text: str) -> None:
    with pytest.raises(FormatError):
        kubernetes.read_json(text.encode())
