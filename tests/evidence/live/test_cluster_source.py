"""A cluster as a Source: what it reads, and that trouble becomes a reason, never a hang, a traceback or a false pass."""

from __future__ import annotations

import functools
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import svcpath
from svcpath.errors import SourceUnavailable, UnknownTarget, UsageError
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.request import Request
from svcpath.evidence.sources import kube_client
from svcpath.evidence.sources.kube import ClusterSource
from svcpath.evidence.sources.kube_client import Access
from svcpath.reports.records import Report
from svcpath.walk.ahead import first
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api, serving

NAMESPACE = "service-ops"
CLIENT = "service-ops/client"
SERVICE = Need(Kind.SERVICE, namespace=NAMESPACE, name="wrong-port")
SLICES = Need(Kind.ENDPOINT_SLICE, namespace=NAMESPACE, service="wrong-port")
PODS = Need(Kind.POD, namespace=NAMESPACE)


def diagnose(source: ClusterSource | Unhurried, service: str = "wrong-port", *, thorough: bool = False) -> Report:
    return svcpath.diagnose(source, f"svc/{service}", namespace=NAMESPACE, client="pod/client", thorough=thorough)


def one(source: ClusterSource, need: Need) -> Observation[Any]:
    return source.observe([need])[0][0]


def test_a_fault_is_found_live_with_its_proof(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        report = diagnose(cluster)
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == ("fault", "ports", "SP403")
    assert {method for method, _ in scripted.seen} == {"GET"}


def test_a_healthy_service_is_dialled_and_passes(scripted: Api, source: Source) -> None:
    address = next(
        obj for obj in scripted.objects if obj["metadata"]["name"] == "echo-server" and obj["kind"] == "Service"
    )
    scripted.looks["client"]["lookup"] = (
        f"python3\nlibc\tglibc 2.36\necho-server\tok\t{address['spec']['clusterIP']}\n",
        0,
    )
    with source(scripted) as cluster:
        report = diagnose(cluster, "echo-server")
    assert report.verdict.status == "healthy", report.verdict
    dataplane = next(layer for layer in report.layers if layer.name == "dataplane")
    assert "new connections" in dataplane.sentence


def test_probes_wait_for_cheaper_evidence_unless_thorough(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        diagnose(cluster)
        assert "connections" not in {done.what for done in cluster.execs}
        diagnose(cluster, thorough=True)
        assert "connections" in {done.what for done in cluster.execs}


def test_provenance_says_what_to_run_again_and_when(scripted: Api, source: Source) -> None:
    scripted.date = 1_700_000_000.0
    with source(scripted) as cluster:
        found = one(cluster, SERVICE)
        assert found.provenance.command == "kubectl -n service-ops get service wrong-port -o yaml"
        assert found.provenance.at == "2023-11-14T22:13:20Z"
        assert found.provenance.source == "kube"
        assert cluster.skew > 86_400


def test_a_clock_that_differs_changes_no_verdict(scripted: Api, source: Source) -> None:
    scripted.date = time.time() - 600
    with source(scripted) as cluster:
        assert diagnose(cluster).verdict.code == "SP403"


def test_pages_are_joined_and_make_a_complete_list(scripted: Api, source: Source) -> None:
    scripted.page = 2
    with source(scripted) as cluster:
        found = cluster.observe([Need(Kind.EVENT, namespace="kube-system")])[0]
    events = [
        obj for obj in scripted.objects if obj["kind"] == "Event" and obj["metadata"]["namespace"] == "kube-system"
    ]
    assert len(found) == len(events) > 20
    assert all(observed.provenance.listing for observed in found)


def test_slices_are_asked_for_by_their_service(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        found = cluster.observe([SLICES])[0]
    assert [observed.fact.service_name for observed in found] == ["wrong-port"]


def test_an_object_that_is_not_there_is_absent(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        assert one(cluster, Need(Kind.SERVICE, namespace=NAMESPACE, name="nope")).state is State.ABSENT


class Unhurried:
    """A cluster that can't begin before it is asked."""

    def __init__(self, cluster: ClusterSource) -> None:
        self._cluster = cluster

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return self._cluster.observe(needs)


@pytest.mark.parametrize("service", ["wrong-port", "echo-server", "empty-service"])
def test_what_is_begun_ahead_is_what_the_walk_asks_in_fewer_requests(
    scripted: Api, source: Source, service: str
) -> None:
    reports: list[Report] = []
    asked: list[list[str]] = []
    for ahead in (False, True):
        scripted.seen.clear()
        with source(scripted) as cluster:
            one(cluster, Need(Kind.POD, namespace=NAMESPACE, name="client"))
            reports.append(diagnose(cluster if ahead else Unhurried(cluster), service))
        asked.append(sorted(path for _, path in scripted.seen))
    alone, begun = (Counter(paths) for paths in asked)
    assert begun - alone == Counter()
    # Slices and Pods out of lists that are read anyway, no Pods of namespaces that are not there; two execs in one.
    spared = alone - begun
    assert sum(count for path, count in spared.items() if path.endswith("/exec")) in (1, 2)
    assert any(path.endswith("/endpointslices") for path in spared)
    assert "/api/v1/namespaces/calico-system/pods" not in begun
    assert reports[0].verdict == reports[1].verdict
    assert [layer.sentence for layer in reports[0].layers] == [layer.sentence for layer in reports[1].layers]


def test_what_was_begun_ahead_ends_with_the_source(scripted: Api, source: Source) -> None:
    scripted.exec_trouble = "slow"
    with source(scripted, timeout=30.0) as cluster:
        cluster.expect(first(Request.of("svc/wrong-port", namespace=NAMESPACE, client=f"pod/{CLIENT}")))
    cluster.close()


def test_the_number_of_calls_does_not_grow_with_other_services(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        diagnose(cluster)
    few = len(scripted.seen)
    pattern = next(obj for obj in scripted.objects if obj["kind"] == "Service")
    for namespace in ("elsewhere", NAMESPACE):
        for number in range(1500):
            more = json.loads(json.dumps(pattern))
            more["metadata"] = {"name": f"other-{number}", "namespace": namespace}
            more["spec"]["clusterIP"] = f"10.97.{number // 250}.{number % 250 + 1}"
            more["spec"]["clusterIPs"] = [more["spec"]["clusterIP"]]
            scripted.objects.append(more)
    scripted.seen.clear()
    scripted.page = 10_000
    with source(scripted) as cluster:
        assert diagnose(cluster).verdict.code == "SP403"
    assert len(scripted.seen) <= few


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (403, "forbidden: no right to list endpointslices.discovery.k8s.io in namespace service-ops"),
        (429, "too busy"),
        (500, "answered 500"),
        (410, "changes faster"),
        (401, "not logged in"),
    ],
)
def test_a_refused_list_is_unreadable_with_the_reason(scripted: Api, source: Source, status: int, words: str) -> None:
    scripted.trouble = lambda path, count: status if path.endswith("/endpointslices") else None
    with source(scripted) as cluster:
        found = one(cluster, SLICES)
        assert found.state is State.UNREADABLE
        assert words in found.why
        report = diagnose(cluster)
    assert report.verdict.status == "inconclusive"
    assert any(words in gap.why for gap in report.not_looked_at)


def test_a_missing_right_is_named_as_the_rule_that_would_give_it(scripted: Api, source: Source) -> None:
    scripted.trouble = lambda path, count: 403 if path.endswith("/endpointslices") else None
    with source(scripted) as cluster:
        why = one(cluster, SLICES).why
    assert '{apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"]}' in why


@pytest.mark.parametrize("status", [429, 500, 503, 410])
def test_a_passing_trouble_is_overcome(scripted: Api, source: Source, status: int) -> None:
    scripted.trouble = lambda path, count: status if path.endswith("/endpointslices") and count == 0 else None
    with source(scripted) as cluster:
        assert one(cluster, SLICES).state is State.PRESENT


@pytest.mark.parametrize("trouble", ["cut", "garbage"])
def test_an_answer_that_breaks_off_is_unreadable(scripted: Api, source: Source, trouble: str) -> None:
    scripted.trouble = lambda path, count: trouble if path.endswith("/pods") else None
    with source(scripted) as cluster:
        assert one(cluster, PODS).state is State.UNREADABLE
        assert diagnose(cluster).verdict.status in ("inconclusive", "fault", "healthy")


def test_a_silent_server_costs_no_more_than_the_time_that_was_given(scripted: Api, source: Source) -> None:
    scripted.trouble = lambda path, count: "slow" if path != "/version" else None
    started = time.monotonic()
    with source(scripted, timeout=2.0) as cluster:
        report = diagnose(cluster)
    assert time.monotonic() - started < 15
    assert report.verdict.status == "inconclusive"
    assert any("no answer" in gap.why or "--timeout" in gap.why for gap in report.not_looked_at)


def test_every_kind_of_refusal_everywhere_still_ends_in_a_report(scripted: Api, source: Source) -> None:
    def refuses(status: int, path: str, count: int) -> int | None:
        return status if path != "/version" else None

    for status in (403, 429, 500, 410):
        scripted.trouble = functools.partial(refuses, status)
        with source(scripted, timeout=6.0) as cluster:
            assert diagnose(cluster).verdict.status in ("inconclusive", "fault")
    scripted.trouble = functools.partial(refuses, 404)
    with source(scripted, timeout=6.0) as cluster, pytest.raises(UnknownTarget, match="no Pod client"):
        diagnose(cluster)


def test_an_answer_beyond_the_limit_is_refused(scripted: Api, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_client, "MAX_BODY", 2000)
    with source(scripted) as cluster:
        found = one(cluster, PODS)
    assert found.state is State.UNREADABLE
    assert "MiB in one answer" in found.why


def test_no_server_at_all_is_a_source_that_is_not_available(tmp_path: Path, scripted: Api) -> None:
    scripted.port = 9  # discard: nothing listens
    with pytest.raises(SourceUnavailable, match="can't be reached"):
        ClusterSource(Access(kubeconfig=scripted.kubeconfig(tmp_path), timeout=5))


def test_a_context_that_is_not_there_is_a_usage_error(tmp_path: Path, scripted: Api) -> None:
    with pytest.raises(UsageError, match="no context 'nope'"):
        ClusterSource(Access(kubeconfig=scripted.kubeconfig(tmp_path), context="nope", timeout=5))


def test_a_server_that_goes_away_leaves_reasons(scripted: Api, tmp_path: Path) -> None:
    with serving(scripted):
        cluster = ClusterSource(Access(kubeconfig=scripted.kubeconfig(tmp_path), timeout=5))
    with cluster:
        assert "can't be reached" in one(cluster, PODS).why


def test_impersonation_travels_in_every_request(scripted: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users: list[str] = []
    handle = scripted.handle

    async def spy(request: web.Request) -> web.StreamResponse:
        users.append(request.headers.get("Impersonate-User", ""))
        return await handle(request)

    monkeypatch.setattr(scripted, "handle", spy)
    with (
        serving(scripted),
        ClusterSource(Access(kubeconfig=scripted.kubeconfig(tmp_path), impersonate="jane", timeout=5)) as cluster,
    ):
        cluster.observe([SERVICE, Need(Kind.RESOLV_CONF, pod=CLIENT, cost=Cost.EXEC)])
    assert set(users) == {"jane"}
    assert len(users) > 2
