"""Looks inside containers: what is asked, what is counted, and what a refusal says."""

from __future__ import annotations

import time
from typing import Any

import pytest

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.sources.dials import attempt_of
from svcpath.evidence.sources.kube import ClusterSource
from tests.evidence.live.conftest import PROCESSES, Source
from tests.evidence.live.test_cluster_source import CLIENT, diagnose
from tests.fixtures.recorded_api import Api

RESOLV = Need(Kind.RESOLV_CONF, pod=CLIENT, cost=Cost.EXEC)
RUNTIME = Need(Kind.RUNTIME, pod=CLIENT, cost=Cost.EXEC)
DIAL = Need(Kind.ATTEMPTS, pod=CLIENT, cost=Cost.PROBE, about=("http://10.0.0.1:80",) * 6)


def one(source: ClusterSource, need: Need) -> Observation[Any]:
    return source.observe([need])[0][0]


def test_one_exec_brings_all_files_of_the_client(scripted: Api, source: Source) -> None:
    kinds = (Kind.RESOLV_CONF, Kind.HOSTS, Kind.NSSWITCH_CONF, Kind.ENVIRONMENT, Kind.RUNTIME)
    with source(scripted) as cluster:
        found = cluster.observe([Need(kind, pod=CLIENT, cost=Cost.EXEC) for kind in kinds])
    assert [observed[0].state for observed in found] == [
        State.PRESENT,
        State.PRESENT,
        State.ABSENT,
        State.PRESENT,
        State.PRESENT,
    ]
    assert len(scripted.execs) == 1


@pytest.mark.parametrize(
    ("processes", "libc", "resolver"),
    [
        (PROCESSES, "glibc 2.36\n", "glibc-2.36"),
        (
            "process\t1\t0\t1\t/app/server\nlibrary\t1\t/lib/ld-musl-x86_64.so.1\n",
            "musl musl libc (x86_64) Version 1.2.5 Dynamic\n",
            "musl-1.2.5",
        ),
        ("process\t1\t0\t1\t/server\ngo\t1\n", "", "go"),
        ("process\t1\t0\t0\t/bin/dash\nprocess\t8\t1\t1\t/opt/java/bin/java\n", "glibc 2.31\n", "jvm"),
        (
            "process\t1\t0\t1\t/usr/sbin/nginx\n",
            "ld.so (Debian GLIBC 2.36-9) stable release version 2.36.\n",
            "glibc-2.36",
        ),
    ],
)
def test_the_resolver_is_that_of_the_process_that_owns_a_socket(
    scripted: Api, source: Source, processes: str, libc: str, resolver: str
) -> None:
    scripted.looks["client"] |= {"processes": (processes, 0), "libc": (libc, 0)}
    with source(scripted) as cluster:
        assert one(cluster, RUNTIME).fact.resolver == resolver


@pytest.mark.parametrize(
    ("processes", "libc"),
    [
        ("process\t1\t0\t1\t/static\n", ""),
        ("process\t1\t0\t1\t/static\n", "glibc 2.36\nmusl musl libc (x86_64) Version 1.2.3\n"),
        ("", "glibc 2.36\n"),
    ],
)
def test_a_resolver_that_can_not_be_told_is_not_guessed(
    scripted: Api, source: Source, processes: str, libc: str
) -> None:
    scripted.looks["client"] |= {"processes": (processes, 0), "libc": (libc, 0)}
    with source(scripted) as cluster:
        assert one(cluster, RUNTIME).state is State.UNREADABLE


def test_a_container_without_a_shell_is_asked_with_cat(scripted: Api, source: Source) -> None:
    scripted.exec_trouble = "no shell"
    scripted.looks["client"]["cat /etc/resolv.conf"] = ("nameserver 10.96.0.10\n", 0)
    with source(scripted) as cluster:
        assert one(cluster, RESOLV).fact.text == "nameserver 10.96.0.10\n"
        assert "--allow-debug-container" in one(cluster, RUNTIME).why


def test_no_exec_means_none_and_says_so(scripted: Api, source: Source) -> None:
    with source(scripted, execs=False) as cluster:
        report = diagnose(cluster, thorough=True)
        assert cluster.execs == ()
    assert scripted.execs == []
    assert any("--no-exec" in gap.why for gap in report.not_looked_at)


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("forbidden", 'resources: ["pods/exec"], verbs: ["get", "create"]'),
        ("cut", "cut off"),
        ("unreachable node", "does not reach the kubelet"),
        ("silent kubelet", "does not reach the kubelet at 172.30.0.12:10250: dial tcp 172.30.0.12:10250: i/o timeout"),
    ],
)
def test_an_exec_that_fails_is_named_and_accuses_nobody(
    scripted: Api, source: Source, trouble: str, words: str
) -> None:
    scripted.exec_trouble = trouble
    with source(scripted) as cluster:
        report = diagnose(cluster)
    assert report.verdict.status in ("inconclusive", "healthy", "warning")
    if trouble != "cut":
        assert any(words in gap.why for gap in report.not_looked_at)
    assert report.not_looked_at
    assert max(len(gap.why) for gap in report.not_looked_at) < 1000


def test_an_exec_that_hangs_ends_with_the_time(scripted: Api, source: Source) -> None:
    scripted.exec_trouble = "slow"
    started = time.monotonic()
    with source(scripted, timeout=3.0) as cluster:
        report = diagnose(cluster)
    assert time.monotonic() - started < 20
    assert report.verdict.status != "fault"


def test_probes_are_capped(scripted: Api, source: Source) -> None:
    with source(scripted, probes=4) as cluster:
        assert len(one(cluster, DIAL).fact.attempts) == 4
        again = Need(Kind.ATTEMPTS, pod=CLIENT, cost=Cost.PROBE, about=("http://10.0.0.2:80",))
        assert "cap of 4 probes" in one(cluster, again).why


def test_a_wrong_container_lists_those_there_are(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        found = one(cluster, Need(Kind.HOSTS, pod=CLIENT, container="nope", cost=Cost.EXEC))
    assert "has no container nope; it has" in found.why


@pytest.mark.parametrize(
    ("row", "program", "outcome", "status"),
    [
        ("http://10.0.0.1:80\tok\t200\t10.1.1.1\t40000\t0.001\t", "python3", "ok", 200),
        ("http://10.0.0.1:80\tok\t503\t10.1.1.1\t40000\t0.001\t", "python3", "http-error", 503),
        ("tcp://10.0.0.1:80\terrno\t0\t\t0\t\t[Errno 111] Connection refused", "python3", "refused", 0),
        ("tcp://[fd00::1]:80\terrno\t0\t\t0\t\t[Errno 113] No route to host", "python3", "no-route", 0),
        ("tcp://10.0.0.1:80\ttimeout\t0\t\t0\t\tno answer in 2 s", "python3", "timeout", 0),
        ("http://10.0.0.1:80\t0\tW=200 I=10.1.1.1 P=4000 T=0.001", "curl", "ok", 200),
        (
            (
                "http://10.0.0.1:80\t7\tcurl: (7) Failed to connect to 10.0.0.1 port 80 after 1 ms: Connection refused"
                " W=000 I= P=0 T=0.000"
            ),
            "curl",
            "refused",
            0,
        ),
        (
            "http://10.0.0.1:80\t28\tcurl: (28) Connection timed out after 2001 ms W=000 I= P=0 T=0.000",
            "curl",
            "timeout",
            0,
        ),
        ("tcp://10.0.0.1:5432\t28\tcurl: (28) Operation timed out W=000 I=10.1.1.1 P=4000 T=0.002", "curl", "ok", 0),
        ("http://10.0.0.1:80\t28\tcurl: (28) Operation timed out W=000 I=1.1.1.1 P=4 T=0.002", "curl", "http-error", 0),
        ("https://10.0.0.1:443\t35\tcurl: (35) SSL connect error W=000 I=10.1.1.1 P=4 T=0.002", "curl", "tls-error", 0),
        ("tcp://10.0.0.1:80\t0\t", "bash", "ok", 0),
        ("tcp://10.0.0.1:80\t1\tbash: connect: Connection refused", "bash", "refused", 0),
        ("tcp://10.0.0.1:80\t124\t", "bash", "timeout", 0),
        ("tcp://10.0.0.1:80\t1\tnc: 10.0.0.1 (10.0.0.1:80): Connection refused", "nc", "refused", 0),
        ("http://10.0.0.1:80\t1\twget: server returned error: HTTP/1.0 404 Not Found", "wget", "http-error", 0),
    ],
)
def test_each_tool_tells_how_a_connection_ended(row: str, program: str, outcome: str, status: int) -> None:
    attempt = attempt_of(row, program, CLIENT, "")
    assert attempt is not None
    assert (attempt.outcome, attempt.status) == (outcome, status)
    assert attempt.address


@pytest.mark.parametrize("row", ["", "\t\t", "nonsense", "http://10.0.0.1:80", "http://10.0.0.1:80\tok"])
def test_a_line_that_is_no_attempt_is_none(row: str) -> None:
    assert attempt_of(row, "python3", CLIENT, "") is None
