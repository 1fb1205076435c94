from __future__ import annotations

import io
import json
import os
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest

from svcpath.errors import SourceUnavailable
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Reason, State
from svcpath.evidence.formats import limits
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.memory import BytesSource
from tests.evidence.samples import SAMPLES


def obj(kind: str, name: str, version: str = "", namespace: str = "shop", **more: Any) -> dict[str, Any]:
    group = {"EndpointSlice": "discovery.k8s.io/v1", "Deployment": "apps/v1"}.get(kind, "v1")
    metadata = {"name": name, "namespace": namespace, "resourceVersion": version, **more.pop("metadata", {})}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, **more}


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def listing(*objects: dict[str, Any], kind: str = "List") -> bytes:
    return dump({"apiVersion": "v1", "kind": kind, "items": objects})


def slice_of(service: str, name: str) -> dict[str, Any]:
    return obj("EndpointSlice", name, metadata={"labels": {"kubernetes.io/service-name": service}}, addressType="IPv4")


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_folders_are_walked_and_nothing_hostile_stops_it(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/resolv.conf": SAMPLES["resolv.conf__case01"], "x.bin": b"\0\1", ".git/config": b"name: x\n"})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    found = {item.provenance.path: item for item in FilesSource([tmp_path]).inventory()}
    assert found["a/b/resolv.conf"].kind is Kind.RESOLV_CONF
    assert found["x.bin"].fact.why == "binary data"
    assert found["pipe"].fact.why == "no regular file"
    assert "can't be read" in found["nowhere"].fact.why
    assert set(found) == {"a/b/resolv.conf", "x.bin", "pipe", "nowhere"}


def test_a_path_that_is_not_there_is_an_error() -> None:
    with pytest.raises(SourceUnavailable, match="no such file"):
        FilesSource(["absent-folder"])


def test_a_file_above_the_limit_is_named_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILE", 4)
    write(tmp_path, {"big": b"nameserver 10.0.0.1\n"})
    (found,) = FilesSource([tmp_path]).inventory()
    assert (found.kind, found.fact.size) == (Kind.UNPLACED, 20)


def test_files_of_two_arguments_keep_apart(tmp_path: Path) -> None:
    write(tmp_path, {"one/hosts": b"10.0.0.1 a\n", "two/hosts": b"10.0.0.2 b\n"})
    source = FilesSource([tmp_path / "one", tmp_path / "two", tmp_path / "one/hosts"])
    assert [item.provenance.path for item in source.inventory()] == ["one/hosts", "two/hosts"]


def test_memory_and_disk_give_the_same_observations(tmp_path: Path) -> None:
    write(tmp_path, SAMPLES)
    order = list(SAMPLES)
    random.Random(7).shuffle(order)
    memory = BytesSource({name: SAMPLES[name] for name in order})
    assert FilesSource([tmp_path]).inventory() == memory.inventory()


def test_an_archive_is_evidence_and_a_cut_one_gives_what_it_can() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in ("resolv.conf__case01", "iptables-save__case38", "nft-list__handles"):
            info = tarfile.TarInfo(f"bundle/{name}")
            info.size = len(SAMPLES[name])
            tar.addfile(info, io.BytesIO(SAMPLES[name]))
        link = tarfile.TarInfo("bundle/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    data = buffer.getvalue()
    whole = BytesSource({"b.tar.gz": data}).inventory()
    assert [observation.kind for observation in whole] == [Kind.IPTABLES_SAVE, Kind.NFT_LIST, Kind.RESOLV_CONF]
    assert whole[0].provenance.path == "b.tar.gz/bundle/iptables-save__case38"
    cut = BytesSource({"b.tar.gz": data[: len(data) // 2]}).inventory()
    assert cut[0].kind is Kind.DAMAGED
    assert Kind.RESOLV_CONF in {observation.kind for observation in cut}


def test_needs_are_met_by_kind_namespace_name_and_service() -> None:
    source = BytesSource(
        {
            "objects.json": listing(
                obj("Service", "a"),
                obj("Service", "a", namespace="other"),
                obj("Pod", "a-1", spec={"nodeName": "w1"}),
                slice_of("a", "a-x"),
                slice_of("b", "b-x"),
                obj("Event", "e1", involvedObject={"kind": "Pod", "name": "a-1"}),
            )
        }
    )

    def found(need: Need) -> list[str]:
        (observations,) = source.observe([need])
        return [observation.value.name for observation in observations if observation.value is not None]

    assert found(Need(Kind.SERVICE, namespace="shop", name="a")) == ["a"]
    assert found(Need(Kind.SERVICE)) == ["a", "a"]
    assert found(Need(Kind.ENDPOINT_SLICE, namespace="shop", service="a")) == ["a-x"]
    assert found(Need(Kind.POD, node="w1")) == ["a-1"]
    assert found(Need(Kind.POD, pod="shop/a-1")) == ["a-1"]
    assert found(Need(Kind.EVENT, namespace="shop", service="a-1")) == ["e1"]


@pytest.mark.parametrize(
    ("files", "need", "reason", "listed", "why"),
    [
        (
            {"l": listing(obj("Pod", "x"))},
            Need(Kind.POD, "shop", "y"),
            Reason.NOT_AMONG,
            True,
            "not among the 1 Pod of namespace shop",
        ),
        ({"l": dump(obj("Pod", "x"))}, Need(Kind.POD, "shop", "y"), Reason.NOT_AMONG, False, "not among the 1 Pod"),
        (
            {"l": listing(obj("Pod", "x"))},
            Need(Kind.POD, "other", "y"),
            Reason.NOT_RECORDED,
            False,
            "no Pod of namespace other",
        ),
        (
            {"l": listing(obj("Pod", "x"))},
            Need(Kind.NETWORK_POLICY, "shop"),
            Reason.NOT_RECORDED,
            False,
            "no NetworkPolicy",
        ),
        (
            {"l": listing(slice_of("b", "b-x"))},
            Need(Kind.ENDPOINT_SLICE, "shop", service="a"),
            Reason.NOT_AMONG,
            True,
            "not among",
        ),
        (
            {"l": listing(kind="EndpointSliceList")},
            Need(Kind.SERVICE, "shop"),
            Reason.NOT_RECORDED,
            False,
            "no Service",
        ),
        (
            {"l": listing(kind="PodList")},
            Need(Kind.POD, "shop"),
            Reason.NOT_AMONG,
            True,
            "the list in the evidence has no Pod",
        ),
        (
            {"l": listing(obj("Pod", "x"))},
            Need(Kind.SOCKETS, pod="shop/x"),
            Reason.NOT_RECORDED,
            False,
            "no sockets in the evidence",
        ),
    ],
)
def test_absent_and_unreadable_are_told_apart(
    files: dict[str, bytes], need: Need, reason: Reason, listed: bool, why: str
) -> None:
    ((found,),) = BytesSource(files).observe([need])
    assert (found.reason, found.provenance.listing) == (reason, listed)
    assert found.state is (State.ABSENT if reason is Reason.NOT_AMONG else State.UNREADABLE)
    assert why in found.why
    assert found.provenance.command


def test_the_newest_resource_version_counts() -> None:
    old, new = (
        obj("Service", "a", "9", spec={"type": "ClusterIP"}),
        obj("Service", "a", "10", spec={"type": "NodePort"}),
    )
    for files in ({"a": dump(old), "b": dump(new)}, {"a": dump(new), "b": dump(old)}):
        ((found,),) = BytesSource(files).observe([Need(Kind.SERVICE, "shop", "a")])
        assert found.fact.spec.type == "NodePort"


def test_equal_manifests_count_once_and_different_ones_stay() -> None:
    once, twice = obj("Deployment", "a", spec={"replicas": 1}), obj("Deployment", "a", spec={"replicas": 2})
    source = BytesSource({"a": dump(once), "b": dump(once), "c": dump(twice)})
    assert [found.fact.spec.replicas for found in source.inventory()] == [1, 2]


def test_the_last_state_of_a_watch_counts_and_all_events_stay() -> None:
    events = [
        ("ADDED", obj("Pod", "a", "1")),
        ("ADDED", obj("Pod", "b", "2")),
        ("MODIFIED", obj("Pod", "a", "3", status={"phase": "Running"})),
        ("DELETED", obj("Pod", "b", "4")),
        ("BOOKMARK", {"apiVersion": "v1", "kind": "Pod", "metadata": {"resourceVersion": "5"}}),
    ]
    stream = b"\n".join(
        dump({"type": kind, "object": value, "received": f"t{n}"}) for n, (kind, value) in enumerate(events)
    )
    source = BytesSource({"pods.jsonl": stream})
    (a,), (b,), everything = source.observe([Need(Kind.POD, "shop", "a"), Need(Kind.POD, "shop", "b"), Need(Kind.POD)])
    assert (a.state, a.fact.status.phase, a.provenance.line, a.provenance.at) == (State.PRESENT, "Running", 3, "t2")
    assert (b.state, b.provenance.line) == (State.ABSENT, 4)
    assert (b.reason, b.why) == (Reason.DELETED, "deleted, as the recorded watch shows")
    assert [observation.fact.name for observation in everything] == ["a"]
    assert [event.type for event in source.watch_events()] == ["ADDED", "ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


def test_commands_quote_hostile_names() -> None:
    source = BytesSource({"a": dump(obj("Service", "a; rm -rf ~", namespace="$(x)"))})
    (found,) = source.inventory()
    assert found.provenance.command == "kubectl -n '$(x)' get service 'a; rm -rf ~' -o yaml"


def test_a_cluster_info_dump_is_evidence(tmp_path: Path) -> None:
    bare = {
        "metadata": {"name": "web-1", "namespace": "shop"},
        "spec": {"nodeName": "w1", "containers": [{"name": "app"}]},
    }
    write(
        tmp_path,
        {
            "shop/pods.json": dump({"kind": "PodList", "apiVersion": "v1", "items": [bare]}),
            "shop/services.json": dump({"kind": "ServiceList", "apiVersion": "v1", "items": []}),
            "kube-system/coredns-1/logs.txt": b"==== START logs for container coredns of pod kube-system/coredns-1 ====\n"
            + SAMPLES["log__case11-coredns"]
            + b"==== END logs for container coredns of pod kube-system/coredns-1 ====\n",
            "kube-system/pods.json": dump(
                {"kind": "PodList", "apiVersion": "v1", "items": [obj("Pod", "coredns-1", namespace="kube-system")]}
            ),
        },
    )
    source = FilesSource([tmp_path])
    (pod,), (service,), (log,) = source.observe(
        [Need(Kind.POD, "shop", "web-1"), Need(Kind.SERVICE, "shop"), Need(Kind.LOG, pod="kube-system/coredns-1")]
    )
    assert pod.provenance.listing
    assert service.state is State.ABSENT
    assert log.fact.component == "coredns"
