"""The failure this project began with, and the public cases of its kind (searches that end where others go on).

Cases: k3s-io/k3s#6561 (node suffix answers NODATA), k3s-io/k3s#6132 (search "."), kubernetes/kubernetes#33554 (ndots:1).
"""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.evidence.facts.kubernetes import Namespace, ObjectMeta, Service, ServicePort, ServiceSpec
from svcpath.models.resolvers import COMPARED, Environment, RecordedWorld, compare, resolve
from svcpath.models.resolvers.servers.coredns import CoreDns, CoreDnsWorld
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects
from svcpath.models.resolvers.servers.corefile import parse

NAME = "echo-server.service-ops.svc.cluster.local"
CONF = "search service-ops.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
COREFILE = ".:53 {\n    kubernetes cluster.local in-addr.arpa {\n        fallthrough in-addr.arpa\n    }\n    forward . 9.9.9.9\n}\n"
CLUSTER = WatchedObjects(
    services=(
        Service(
            metadata=ObjectMeta(name="echo-server", namespace="service-ops"),
            spec=ServiceSpec(type="ClusterIP", cluster_ip="10.96.7.7", ports=(ServicePort(port=80),)),
        ),
    ),
    namespaces=(Namespace(metadata=ObjectMeta(name="service-ops")),),
)
SEARCHING = [name for name in COMPARED if name not in ("node-resolve4", "dnspython", "nginx")]


def rows(*entries: str) -> RecordedWorld:
    made = []
    for entry in entries:
        name, kind, rcode, *answers = entry.split()
        made.append(DnsAnswer(name=name, type=kind, rcode=rcode, answers=tuple(answers)))
    return RecordedWorld(made)


@pytest.mark.parametrize("resolver", COMPARED)
def test_a_plain_coredns_lets_every_resolver_find_the_four_dot_name(resolver: str) -> None:
    world = CoreDnsWorld(CoreDns(parse(COREFILE), CLUSTER))
    outcome = resolve(resolver, NAME, Environment(resolv_conf=CONF), world).outcome
    assert outcome is not None
    assert outcome.addresses == ("10.96.7.7",)


def poisoned(candidate: int) -> RecordedWorld:
    suffixes = ("service-ops.svc.cluster.local", "svc.cluster.local", "cluster.local")
    entries = [
        f"{NAME}.{suffix} {kind} {'NOERROR' if index == candidate else 'NXDOMAIN'}"
        for index, suffix in enumerate(suffixes)
        for kind in ("A", "AAAA")
    ]
    entries.append("echo-server.service-ops.svc.cluster.local A NOERROR 10.96.7.7")
    entries.append("echo-server.service-ops.svc.cluster.local AAAA NOERROR")
    entries.append("echo-server A NXDOMAIN")
    return rows(*entries)


@pytest.mark.parametrize("candidate", [0, 1, 2])
def test_one_candidate_without_data_stops_musl_and_dnspython_alone(candidate: int) -> None:
    comparison = compare(NAME, Environment(resolv_conf=CONF), poisoned(candidate))
    failing = {line.resolver for line in comparison.lines if not line.resolves}
    assert failing == {"musl", "musl-1.2.3", "dnspython-search"}
    musl = comparison.line("musl").outcome
    assert musl is not None
    assert (musl.code, musl.number, musl.text) == ("EAI_NODATA", -5, "Name has no usable address")
    old = comparison.line("musl-1.2.3").outcome
    assert old is not None
    assert (old.code, old.number) == ("EAI_NONAME", -2)
    search = comparison.line("dnspython-search").outcome
    assert search is not None
    assert search.code == "NoAnswer"


def test_the_divergence_names_the_candidate_its_answers_and_both_rules() -> None:
    comparison = compare(NAME, Environment(resolv_conf=CONF), poisoned(1))
    apart = comparison.divergence
    assert apart is not None
    assert (apart.position, apart.of) == (2, 4)
    assert apart.candidate.name == f"{NAME}.svc.cluster.local"
    assert apart.candidate.sentence == "A NODATA, AAAA NODATA"
    stops = next(side for side in apart.sides if "musl" in side.resolvers)
    assert "name_from_dns_search" in stops.source
    assert not stops.resolves
    assert any("glibc" in side.resolvers and side.resolves for side in apart.sides)


def test_each_mend_is_run_and_names_whom_it_helps() -> None:
    comparison = compare(NAME, Environment(resolv_conf=CONF), poisoned(0))
    fixes = {fix.kind: fix for fix in comparison.fixes}
    assert {"trailing-dot", "short-name", "ndots", "search"} <= fixes.keys()
    for kind in ("trailing-dot", "ndots"):
        assert "musl" in fixes[kind].fixed
        assert not fixes[kind].still
        assert fixes[kind].queries == (2 if kind == "trailing-dot" else fixes[kind].queries)
    assert set(fixes["short-name"].broken) == {"node-resolve4", "dnspython", "nginx"}
    assert fixes["short-name"].queries == 2


@pytest.mark.parametrize("resolver", SEARCHING)
def test_the_short_name_and_the_trailing_dot_work_for_whoever_searches(resolver: str) -> None:
    for name in ("echo-server", f"{NAME}."):
        outcome = resolve(resolver, name, Environment(resolv_conf=CONF), poisoned(0)).outcome
        assert outcome is not None
        assert outcome.addresses == ("10.96.7.7",), name


@pytest.mark.parametrize("resolver", ["node-resolve4", "dnspython", "nginx"])
def test_whoever_never_searches_fails_on_the_short_name(resolver: str) -> None:
    outcome = resolve(resolver, "echo-server", Environment(resolv_conf=CONF), poisoned(0)).outcome
    assert outcome is not None
    assert not outcome.ok


NODE_SUFFIX = rows(
    "www.example.org.shop.svc.cluster.local A NXDOMAIN",
    "www.example.org.svc.cluster.local A NXDOMAIN",
    "www.example.org.cluster.local A NXDOMAIN",
    "www.example.org.corp.example A NOERROR",
    "www.example.org A NOERROR 203.0.113.80",
)
NODE_CONF = "search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver 10.96.0.10\noptions ndots:5\n"


@pytest.mark.parametrize(
    ("resolver", "code", "addresses"),
    [
        ("musl", "EAI_NODATA", ()),
        ("musl-1.2.3", "EAI_NONAME", ()),
        ("glibc", "", ("203.0.113.80",)),
        ("go", "", ("203.0.113.80",)),
        ("jvm", "", ("203.0.113.80",)),
    ],
)
def test_a_leaked_node_suffix_stops_musl_at_the_fourth_candidate(
    resolver: str, code: str, addresses: tuple[str, ...]
) -> None:
    resolution = resolve(resolver, "www.example.org", Environment(resolv_conf=NODE_CONF), NODE_SUFFIX)
    outcome = resolution.outcome
    assert outcome is not None
    assert (outcome.code, outcome.addresses) == (code, addresses)
    asked = list(dict.fromkeys(query.name for query in resolution.trace.queries))
    assert len(asked) == (4 if code else 5)


def test_a_single_dot_in_search_breaks_old_musl_alone() -> None:
    world = rows(
        "api.example.org.shop.svc.cluster.local A NXDOMAIN",
        "api.example.org.svc.cluster.local A NXDOMAIN",
        "api.example.org.cluster.local A NXDOMAIN",
        "api.example.org A NOERROR 203.0.113.20",
    )
    conf = "search shop.svc.cluster.local svc.cluster.local cluster.local .\nnameserver 10.96.0.10\noptions ndots:5\n"
    comparison = compare("api.example.org", Environment(resolv_conf=conf), world)
    assert {line.resolver for line in comparison.lines if not line.resolves} == {"musl-1.2.3"}


def test_enough_dots_end_musls_search_where_glibc_and_go_fall_back() -> None:
    world = rows(
        "kubernetes.default A NXDOMAIN",
        "kubernetes.default.default.svc.cluster.local A NXDOMAIN",
        "kubernetes.default.svc.cluster.local A NOERROR 10.96.0.1",
        "kubernetes.default.cluster.local A NXDOMAIN",
    )
    conf = "search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:1\n"
    comparison = compare("kubernetes.default", Environment(resolv_conf=conf), world, ("musl", "glibc", "go"))
    assert [line.resolves for line in comparison.lines] == [False, True, True]
    asked = [query.name for query in comparison.line("glibc").resolution.trace.queries][::2]
    assert asked == [
        "kubernetes.default",
        "kubernetes.default.default.svc.cluster.local",
        "kubernetes.default.svc.cluster.local",
    ]
    assert len(comparison.line("musl").resolution.trace.queries) == 2
