from __future__ import annotations

import gzip

import msgspec
import pytest

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import Harm
from svcpath.evidence.formats import text as texts
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import FORMATS, recognise
from tests.evidence.samples import SAMPLES, expected_kinds


def items(data: bytes) -> list[Item]:
    return [item for item in recognise(data) if isinstance(item, Item)]


def kinds(data: bytes) -> set[str]:
    return {item.kind.value for item in items(data)}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_recognised_as_exactly_its_kinds(name: str) -> None:
    assert kinds(SAMPLES[name]) == expected_kinds(name)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_two_text_formats_claim_one_sample(name: str) -> None:
    text = texts.decode(SAMPLES[name])
    claims = [known.name for known in FORMATS if known.knows(text)]
    assert len(claims) <= 1, claims


def test_every_kind_that_a_file_can_hold_has_a_sample() -> None:
    made_by_hand = {"Namespace", "NetworkPolicy", "PodDisruptionBudget", "runtime", "damaged", "mixed-clusters"}
    kinds = set().union(*(expected_kinds(name) for name in SAMPLES))
    assert {kind.value for kind in Kind} - kinds - made_by_hand == set()


@pytest.mark.parametrize("name", SAMPLES)
def test_compressed_samples_give_the_same_facts(name: str) -> None:
    packed, plain = items(gzip.compress(SAMPLES[name])), items(SAMPLES[name])
    assert [item.kind for item in packed] == [item.kind for item in plain]
    if expected_kinds(name) != {"unplaced"}:
        assert packed == plain


@pytest.mark.parametrize("name", SAMPLES)
def test_windows_line_ends_and_a_byte_order_mark_change_no_kind(name: str) -> None:
    if name.endswith((".json", ".jsonl")):
        data = b"\xef\xbb\xbf" + SAMPLES[name]
    else:
        data = b"\xef\xbb\xbf" + SAMPLES[name].replace(b"\n", b"\r\n")
    assert kinds(data) == expected_kinds(name)


def test_utf16_with_a_byte_order_mark_is_read() -> None:
    data = SAMPLES["resolv.conf__case01"].decode().encode("utf-16")
    assert kinds(data) == {"resolv.conf"}


def test_latin1_bytes_are_replaced_and_said() -> None:
    data = SAMPLES["resolv.conf__case01"] + b"# caf\xe9\n"
    found = items(data)
    assert found[0].kind is Kind.RESOLV_CONF
    assert found[1].kind is Kind.DAMAGED
    assert "not UTF-8 from line 4" in found[1].value.why
    assert found[1].value.harm is Harm.REPLACED


def test_documents_that_are_no_objects_took_nothing_from_those_that_are() -> None:
    data = b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\nreplicas: 3\n"
    assert [item.value.harm for item in items(data) if item.kind is Kind.DAMAGED] == [Harm.FOREIGN]


def test_a_file_that_breaks_off_lost_something() -> None:
    data = SAMPLES["iptables-save__legacy-counters"]
    assert {item.value.harm for item in items(data[: len(data) // 2]) if item.kind is Kind.DAMAGED} == {Harm.LOST}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "binary"),
        (bytes(range(128, 256)) * 8, "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary"),
    ],
)
def test_what_is_no_text_is_named_with_why(data: bytes, why: str) -> None:
    (item,) = items(data)
    assert item.kind is Kind.UNPLACED
    assert why in item.value.why


def test_of_a_cut_gzip_what_decompressed_is_used() -> None:
    data = gzip.compress(SAMPLES["iptables-save__legacy-counters"])
    found = items(data[: len(data) // 2])
    assert found[0].kind is Kind.IPTABLES_SAVE
    whys = [item.value.why for item in found if item.kind is Kind.DAMAGED]
    assert any("gzip data is cut off" in why for why in whys)
    assert any("no COMMIT" in why for why in whys)


def test_a_secret_keeps_its_name_and_nothing_else() -> None:
    (item,) = items(SAMPLES["OtherObject__secret.json"])
    assert (item.value.namespace, item.value.name) == ("shop", "db")
    encoded = msgspec.json.encode(item.value)
    assert b"hunter2" not in encoded
    assert b"aHVudGVyMg" not in encoded


def test_an_environment_keeps_only_what_changes_name_resolution() -> None:
    (item,) = items(SAMPLES["environment__container"])
    assert item.value.text == "RES_OPTIONS=ndots:2\nJAVA_TOOL_OPTIONS=-Dsun.net.inetaddr.ttl=10\n"


def test_the_last_applied_annotation_is_emptied() -> None:
    found = items(SAMPLES["ConfigMap+Corefile__coredns.json"])
    assert found[0].value.annotations["kubectl.kubernetes.io/last-applied-configuration"] == ""


def test_a_configmap_also_gives_the_corefile_it_holds() -> None:
    config_map, found = items(SAMPLES["ConfigMap+Corefile__coredns.json"])
    assert isinstance(config_map.value, api.ConfigMap)
    assert "kubernetes cluster.local" in found.value.text


def test_kube_proxy_settings_are_read_from_its_configmap() -> None:
    _, found = items(SAMPLES["ConfigMap+kube-proxy-config__kubeadm.yaml"])
    assert found.value.mode == "nftables"


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("log__case10-coredns", "coredns"),
        ("log__case11-coredns", "coredns"),
        ("log__kube-proxy", "kube-proxy"),
    ],
)
def test_a_log_tells_its_component(name: str, component: str) -> None:
    assert items(SAMPLES[name])[0].value.component == component


def test_log_prefixes_of_kubectl_are_passed_over() -> None:
    line = '[pod/kube-proxy-x/kube-proxy] 2026-01-01T00:00:00.1Z I1130 02:06:49.4 1 server_linux.go:253] "Using x"\n'
    (item,) = items(line.replace("02:06:49.4 ", "02:06:49.452038       ").encode())
    assert item.value.component == "kube-proxy"


@pytest.mark.parametrize(
    ("prompt", "command", "text", "kind"),
    [
        ("[root@master ~]# ", "ipvsadm -Ln", "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\nTCP  10.96.0.1:443 rr\n", Kind.IPVSADM_LN),
        ("$ ", "cat /etc/resolv.conf", "nameserver 10.96.0.10\nsearch a.svc.cluster.local\n", Kind.RESOLV_CONF),
        ("ubuntu@VM-0-42:~$ ", "sudo iptables-save", "*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n", Kind.IPTABLES_SAVE),
        ("root@w1:/# ", "kubectl get svc web -o yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n", Kind.SERVICE),
    ],
)  # fmt: skip
def test_a_prompt_that_was_copied_along_hides_nothing(prompt: str, command: str, text: str, kind: Kind) -> None:
    assert kinds(f"{prompt}{command}\n{text}{prompt.rstrip()}\n".encode()) == {kind.value}


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("-P PREROUTING ACCEPT\n-N KUBE-SERVICES\n", "iptables-save"),
        ("Chain KUBE-SERVICES (2 references)\ntarget prot opt source destination\n", "iptables-save"),
        ("Name:              web\nNamespace:         shop\nSelector:          app=web\n", "kubectl get -o yaml"),
        ("NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE\nweb    ClusterIP   10.0.0.1     <none>        80/TCP    3d\n", "kubectl get -o yaml"),
    ],
)  # fmt: skip
def test_output_for_people_is_named_with_what_to_give_instead(text: str, instead: str) -> None:
    (item,) = items(text.encode())
    assert item.kind is Kind.UNPLACED
    assert f"give the output of {instead}" in str(item)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "services is forbidden", "code": 403}',
            "in place of an object: services is forbidden",
        ),
        ('Error from server (Forbidden): pods is forbidden: User "dev" cannot list\n', "Error from server (Forbidden)"),
        ('error: the server doesn\'t have a resource type "endpointslice"\n', "resource type"),
    ],
)
def test_a_refusal_in_place_of_what_was_asked_for_is_named_with_its_reason(text: str, why: str) -> None:
    (item,) = items(text.encode())
    assert item.kind is Kind.UNPLACED
    assert why in item.value.why


_OBJECT = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}'


@pytest.mark.parametrize(
    "before", ["W1130 12:00:00.000000   12 warnings.go:70] v1 Endpoints is deprecated\n", "Warning: old\n"]
)
def test_what_kubectl_warns_of_before_an_object_hides_nothing(before: str) -> None:
    (item,) = items(f"{before}{_OBJECT}\n".encode())
    assert item.kind is Kind.NAMESPACE


def test_a_log_of_lines_that_look_like_kubectls_warnings_stays_whole() -> None:
    text = "W1130 12:00:00.000000       1 proxier.go:70] missing br-netfilter module\nI1130 12:00:01.000000       1 proxier.go:71] Sync\n"
    (item,) = items(text.encode())
    assert item.kind is Kind.LOG
    assert "br-netfilter" in item.value.text
