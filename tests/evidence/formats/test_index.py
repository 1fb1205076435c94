"""The index gives what looking at every observation gives: the same ones, in the same order, and the same word on what is missing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.evidence import EvidenceIndex
from svcpath.evidence.formats.index import Index, meets

SPACES, NAMES, NODES = ("", "shop", "ops"), ("web", "db", "ops/web"), ("w1", "w2")
ADDRESSES = ("10.0.0.1", "10.0.0.2", "fd00::1", "fd00:0::1")
PLACES = st.sampled_from(("", "w1", "?"))
PODS = st.sampled_from(("", "web", "shop/web", "ops/web", "db"))


def _object(kind: str, namespace: str, name: str, other: str, node: str, address: str) -> dict[str, Any]:
    labels = {"app": other, "kubernetes.io/service-name": other}
    metadata = {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": [{"name": f"{other}-rs"}]}
    obj: dict[str, Any] = {"kind": kind, "apiVersion": "v1", "metadata": metadata}
    if kind == "EndpointSlice":
        obj |= {"apiVersion": "discovery.k8s.io/v1", "addressType": "IPv4", "endpoints": []}
    elif kind == "Event":
        obj |= {"involvedObject": {"kind": "Pod", "name": other}}
    elif kind == "Pod":
        obj |= {"spec": {"nodeName": node, "containers": []}, "status": {"podIP": address}}
    return obj


OBJECTS = st.builds(
    _object,
    st.sampled_from(("Service", "EndpointSlice", "Event", "Pod", "Node", "Namespace", "ConfigMap")),
    st.sampled_from(SPACES),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(NODES),
    st.sampled_from(ADDRESSES),
)
STATES = st.builds(
    lambda kind, node, pod, container: Observation(
        kind, State.PRESENT, RawText(f"{node}{pod}"), provenance=Provenance(node=node, pod=pod, container=container)
    ),
    st.sampled_from((Kind.HOSTS, Kind.RESOLV_CONF)),
    PLACES,
    PODS,
    st.sampled_from(("", "app", "side")),
)
NEEDS = st.builds(
    Need,
    st.sampled_from(
        (Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.EVENT, Kind.POD, Kind.NODE, Kind.NAMESPACE, Kind.HOSTS, Kind.QUERY)
    ),
    namespace=st.sampled_from((*SPACES, "other")),
    name=st.sampled_from(("", *NAMES, "none")),
    service=st.sampled_from(("", *NAMES, "none")),
    node=PLACES,
    pod=PODS | st.just("?"),
    container=st.sampled_from(("", "app")),
)


def _evidence(objects: list[dict[str, Any]], *, listed: bool) -> EvidenceIndex:
    document = json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}).encode()
    files = (
        [("all.json", document)] if listed else [(f"{at}.json", json.dumps(o).encode()) for at, o in enumerate(objects)]
    )
    return EvidenceIndex.of(files)


@settings(max_examples=200)
@given(st.lists(OBJECTS, max_size=12), st.lists(STATES, max_size=8), st.lists(NEEDS, min_size=1, max_size=8))
def test_a_need_is_met_as_by_looking_at_everything(
    objects: list[dict[str, Any]], states: list[Observation[Any]], needs: list[Need]
) -> None:
    everything = (*_evidence(objects, listed=True).observations, *states)
    index = Index(everything)
    for need in needs:
        plain = tuple(
            observation for observation in everything if observation.kind is need.kind and meets(observation, need)
        )
        found = index.meet(need)
        if plain:
            assert found == plain
            assert all(pair is other for pair, other in zip(found, plain, strict=True))
        else:
            assert [observation.state is State.PRESENT for observation in found] == [False]
        assert index.meet(need) is found


@settings(max_examples=100)
@given(st.lists(OBJECTS, max_size=12), st.lists(NEEDS, min_size=1, max_size=6), st.booleans())
def test_a_lack_is_worded_as_by_looking_at_everything(
    objects: list[dict[str, Any]], needs: list[Need], listed: bool
) -> None:
    evidence = _evidence(objects, listed=listed)
    for need in needs:
        (missing, *_) = evidence.meet(need)
        if missing.reason is not Reason.NOT_AMONG:
            continue
        wide = need.kind in (Kind.NODE, Kind.NAMESPACE)
        others = [
            observation
            for observation in evidence.observations
            if observation.kind is need.kind
            and (wide or not need.namespace or observation.fact.namespace == need.namespace)
        ]
        assert f"the {len(others)} " in missing.why
        assert missing.provenance.listing is listed


@settings(max_examples=200)
@given(st.lists(OBJECTS, max_size=14), st.sampled_from(NAMES), st.sampled_from(ADDRESSES), st.booleans())
def test_few_of_many_are_found_as_by_looking_at_all(
    objects: list[dict[str, Any]], name: str, address: str, twice: bool
) -> None:
    many = Observations(_evidence(objects, listed=True).observations)
    pods = [observation for observation in many if observation.kind is Kind.POD]
    wanted = {"app": name, **({"kubernetes.io/service-name": name} if twice else {})}
    assert list(many.labelled(wanted)) == [
        observation for observation in many if wanted.items() <= (observation.fact.metadata.labels or {}).items()
    ]
    assert list(many.labelled({})) == list(many)
    assert list(many.named(name)) == [observation for observation in many if observation.fact.name == name]
    assert list(many.on_node("w1")) == [observation for observation in pods if observation.fact.spec.node_name == "w1"]
    assert list(many.at(address)) == [
        observation for observation in pods if canonical(address) in map(canonical, observation.fact.ips)
    ]
    assert many.present is many
    assert many.named("none") == ()
