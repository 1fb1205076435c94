"""Corefiles read and judged, and the answers that a real CoreDNS 1.12.1 gave."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.errors import FormatError
from svcpath.evidence.facts.kubernetes import (
    Endpoint,
    EndpointPort,
    EndpointSlice,
    Namespace,
    ObjectMeta,
    Pod,
    PodStatus,
    Service,
    ServicePort,
    ServiceSpec,
)
from svcpath.models.resolvers.base import Answer, Query, UnknownAnswer
from svcpath.models.resolvers.servers.coredns import CoreDns, denial_seconds
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects
from svcpath.models.resolvers.servers.corefile import normalize, parse
from svcpath.models.resolvers.servers.corefile_lint import lint
from tests.replay.recordings import lines

KUBEADM = """\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""


HTTP = ServicePort(name="http", port=80, protocol="TCP")


def service(
    name: str,
    *,
    type: str = "ClusterIP",
    cluster_ip: str | None = None,
    external_name: str | None = None,
    ports: tuple[ServicePort, ...] = (HTTP,),
) -> Service:
    return Service(
        metadata=ObjectMeta(name=name, namespace="service-ops"),
        spec=ServiceSpec(type=type, cluster_ip=cluster_ip, external_name=external_name, ports=ports),
    )


CLUSTER = WatchedObjects(
    services=(
        service("echo-server", cluster_ip="10.96.7.7"),
        service("noports", cluster_ip="10.96.7.9", ports=()),
        service("headless", cluster_ip="None"),
        service("headless-empty", cluster_ip="None"),
        service("ext", type="ExternalName", external_name="www.example.com"),
        service("extin", type="ExternalName", external_name="echo-server.service-ops.svc.cluster.local"),
    ),
    slices=(
        EndpointSlice(
            metadata=ObjectMeta(name="h", namespace="service-ops", labels={"kubernetes.io/service-name": "headless"}),
            endpoints=(Endpoint(addresses=("10.244.0.5",), hostname="pod-0"),),
            ports=(EndpointPort(name="http", port=8080, protocol="TCP"),),
        ),
    ),
    pods=(Pod(metadata=ObjectMeta(name="c", namespace="service-ops"), status=PodStatus(pod_ip="127.0.0.1")),),
    namespaces=(Namespace(metadata=ObjectMeta(name="service-ops")), Namespace(metadata=ObjectMeta(name="default"))),
)


class Upstream:
    """What the recorded runs' upstream said."""

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        if query.name == "www.example.com":
            return Answer("NOERROR", ("93.184.216.34",) if query.type == "A" else (), int(query.type == "A"))
        return Answer("NXDOMAIN")


@pytest.mark.parametrize("scenario", ["default kubeadm-like Corefile, 3 suffixes", "default Corefile, shapes"])
def test_the_cluster_zone_answers_as_the_recorded_coredns(scenario: str) -> None:
    server = CoreDns(parse(KUBEADM), CLUSTER, Upstream())
    compared = 0
    for line in lines("coredns"):
        record = json.loads(line)
        if record["scenario"] != scenario or "q" not in record:
            continue
        for rrtype in ("A", "AAAA"):
            response = server.respond(record["q"], rrtype)
            assert not isinstance(response, UnknownAnswer)
            rcode, answers, *_ = record[rrtype].split()
            assert response.rcode == rcode.partition("/")[0], record
            assert len(response.answers) == int(answers.removeprefix("an=")), record
            assert response.authoritative == ("AA" in record[rrtype].split()), record
            compared += 1
    assert compared >= 8


def test_a_forwarded_name_without_an_answer_stays_unknown_and_names_the_line() -> None:
    response = CoreDns(parse(KUBEADM), CLUSTER).respond("www.example.com", "A")
    assert isinstance(response, UnknownAnswer)
    assert "line 13" in response.reason


def test_an_unsynced_api_fails_the_whole_zone_but_its_apex() -> None:
    server = CoreDns(parse(KUBEADM), WatchedObjects(synced=False))
    inside, apex = (
        server.respond(name, "A") for name in ("echo-server.service-ops.svc.cluster.local", "cluster.local")
    )
    assert not isinstance(inside, UnknownAnswer)
    assert not isinstance(apex, UnknownAnswer)
    assert (inside.rcode, apex.rcode) == ("SERVFAIL", "NOERROR")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (".:53 {\n  errors\n", 1),
        ("}\n", 1),
        (".:53 {\n  forward . {\n    a\n  }\n", 1),
        ('.:53 {\n  template IN A {\n    answer "x\n  }\n}\n', 3),
        ("{\n}\n", 1),
    ],
)
def test_a_corefile_that_coredns_would_refuse_is_a_format_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        parse(text)
    assert caught.value.line == line


@given(st.text(alphabet=st.sampled_from('.{}()"\\# \n\tab:53/,$%import-'), max_size=200))
def test_any_text_is_a_corefile_or_a_format_error(text: str) -> None:
    try:
        corefile = parse(text)
    except FormatError:
        return
    server = CoreDns(corefile, CLUSTER)
    server.respond("echo-server.service-ops.svc.cluster.local", "A")
    lint(corefile, host_resolv_conf="nameserver 127.0.0.53\n")


@given(st.text(max_size=300))
def test_any_unicode_is_a_corefile_or_a_format_error(text: str) -> None:
    try:
        parse(text)
    except FormatError:
        return


def test_snippets_imports_environment_and_prefixes_are_understood() -> None:
    text = (
        "(common) {\n  errors\n  cache 5\n}\n10.96.0.0/16:{$PORT} a.test {\n  import common\n  import other.conf\n}\n"
    )
    corefile = parse(text, variables={"PORT": "1053"})
    (block,) = corefile.blocks
    assert [(zone.name, zone.port) for zone in block.zones] == [("96.10.in-addr.arpa.", "1053"), ("a.test.", "53")]
    assert [directive.name for directive in block.directives] == ["errors", "cache"]
    assert corefile.not_understood == ((7, "import other.conf"),)
    assert normalize("fd00:96::/32")[0].endswith(".ip6.arpa.")


def codes(
    text: str,
    *,
    cluster_domain: str = "cluster.local",
    own_addresses: Sequence[str] = (),
    host_resolv_conf: str | None = None,
) -> list[tuple[str, int]]:
    found = lint(
        parse(text), cluster_domain=cluster_domain, own_addresses=own_addresses, host_resolv_conf=host_resolv_conf
    )
    return [(finding.code, finding.line) for finding in found]


def test_a_loopback_upstream_is_a_loop_with_the_forward_line() -> None:
    findings = codes(KUBEADM, host_resolv_conf="nameserver 127.0.0.53\nsearch lan\n")
    assert findings == [("forward-to-loopback", 13)]
    assert codes(KUBEADM, host_resolv_conf="nameserver 192.0.2.53\n") == []


def test_a_corefile_that_leads_back_to_itself_or_misses_the_cluster_zone_is_found() -> None:
    assert codes(".:53 {\n  kubernetes cluster.local\n  forward . 10.96.0.10\n}\n", own_addresses=["10.96.0.10"]) == [
        ("forward-to-self", 3)
    ]
    assert codes(".:53 {\n  forward . 9.9.9.9\n}\n") == [("no-cluster-zone", 1)]
    assert codes(".:53 {\n  kubernetes k8s.test\n}\n") == [("wrong-cluster-zone", 2)]
    assert codes(".:53 {\n  kubernetes k8s.test\n}\n", cluster_domain="k8s.test") == []


def test_a_fallthrough_of_the_cluster_zone_and_poisonous_templates_are_found() -> None:
    assert codes(".:53 {\n  kubernetes cluster.local {\n    fallthrough\n  }\n  forward . 9.9.9.9\n}\n") == [
        ("fallthrough-cluster-zone", 3)
    ]
    assert codes(".:53 {\n  kubernetes cluster.local\n  template ANY AAAA {\n    rcode NXDOMAIN\n  }\n}\n") == [
        ("template-nxdomain", 3)
    ]


def test_a_node_cache_forwards_over_tcp_and_its_placeholders_are_no_error() -> None:
    text = "cluster.local:53 {\n  forward . __PILLAR__CLUSTER__DNS__ {\n    force_tcp\n  }\n}\n"
    assert codes(text) == [("force-tcp", 2), ("placeholder", 2)]
    assert all(finding.severity == "info" for finding in lint(parse(text)))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (KUBEADM, 30),
        (".:53 {\n  kubernetes cluster.local\n  cache 30\n}\n", 5),
        (".:53 {\n  kubernetes cluster.local {\n    ttl 30\n  }\n  cache {\n    denial 9984 10\n  }\n}\n", 10),
        (".:53 {\n  kubernetes cluster.local\n}\n", 0),
    ],
)
def test_a_denial_is_kept_for_the_smaller_of_the_caches_limit_and_the_zones_ttl(text: str, seconds: int) -> None:
    assert denial_seconds(parse(text), "cluster.local") == seconds
