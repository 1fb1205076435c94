"""`svcpath resolve`: the failure this project began with, and the worlds that answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run
from svcpath.evidence.sources.recordings import recording_files

CASES = Path(__file__).parent.parent / "cases" / "public"
NAME = "echo-server.service-ops.svc.cluster.local"
DOUBLED = f"{NAME}.service-ops.svc.cluster.local"
NEVER_SEARCH = {"node-resolve4", "dnspython", "nginx"}

COREFILE = """.:53 {{
    errors
{extra}    kubernetes cluster.local in-addr.arpa ip6.arpa {{
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }}
    forward . /etc/resolv.conf
    cache 30
}}
"""


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """The objects and the client's files of a recording, without recorded lookups."""
    files = recording_files("nftables")
    for name in ("objects.json.gz", "client.resolv.conf.gz", "client.hosts.gz"):
        (tmp_path / name.removesuffix(".gz")).write_bytes(gzip.decompress(files[name]))
    (tmp_path / "Corefile").write_text(COREFILE.format(extra=""))
    return tmp_path


def _resolve(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(["resolve", *arguments, "-o", "json"])
    return code, json.loads(capfd.readouterr().out)


def _outcomes(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {resolver["resolver"]: resolver["outcome"] for resolver in found["names"][0]["resolvers"]}


def test_a_plain_coredns_lets_every_resolver_succeed_after_three_nxdomain(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found = _resolve(capfd, NAME, "--resolver", "all", "--evidence", str(evidence))
    assert code == 0
    for resolver in found["names"][0]["resolvers"]:
        assert resolver["outcome"]["addresses"] == ["10.96.28.101"], resolver["resolver"]
    musl = next(resolver for resolver in found["names"][0]["resolvers"] if resolver["resolver"] == "musl")
    assert [step["answers"] for step in musl["steps"]] == [
        *([{"A": "NXDOMAIN", "AAAA": "NXDOMAIN"}] * 3),
        {"A": "10.96.28.101", "AAAA": "NODATA"},
    ]


def test_one_candidate_without_data_stops_musl_alone_of_those_that_use_getaddrinfo(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    template = f"    template ANY ANY {DOUBLED} {{\n        rcode NOERROR\n    }}\n"
    (evidence / "Corefile").write_text(COREFILE.format(extra=template))
    code, found = _resolve(capfd, NAME, "--resolver", "all", "--evidence", str(evidence))
    assert code == 1
    outcomes = _outcomes(found)
    failing = {name for name, outcome in outcomes.items() if not outcome["resolves"]}
    assert failing == {"musl", "musl-1.2.3", "dnspython-search"}
    assert (outcomes["musl"]["code"], outcomes["musl"]["number"], outcomes["musl"]["text"]) == (
        "EAI_NODATA",
        -5,
        "Name has no usable address",
    )
    assert outcomes["dnspython-search"]["code"] == "NoAnswer"
    parting = found["names"][0]["divergence"]
    assert (parting["position"], parting["candidate"]["name"]) == (1, DOUBLED)
    fixes = {fix["label"]: fix for fix in found["names"][0]["fixes"]}
    assert fixes["trailing dot"]["still_failing"] == []
    short = next(fix for label, fix in fixes.items() if label.startswith("short name"))
    assert set(short["fixed"]) == failing
    assert set(short["still_failing"]) | set(short["broken"]) <= NEVER_SEARCH


def test_the_corefile_line_that_leads_there_is_named_by_diagnose(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    template = f"    template ANY ANY {DOUBLED} {{\n        rcode NOERROR\n    }}\n"
    (evidence / "Corefile").write_text(COREFILE.format(extra=template))
    command = ["diagnose", "svc/echo-server", "-n", "service-ops", "--from", "pod/client", "--lookup", NAME]
    assert run([*command, "--evidence", str(evidence)]) == 0
    report = capfd.readouterr().out
    for words in ("WARNING at resolution", "SP102", "Corefile line 3"):
        assert words in report
    assert run([*command, "--evidence", str(evidence), "--resolver", "musl"]) == 1
    assert "FAULT at resolution" in capfd.readouterr().out
    assert run([*command, "--evidence", str(evidence), "--resolver", "glibc"]) == 0
    assert "HEALTHY" in capfd.readouterr().out


def test_an_upstream_that_is_not_known_leaves_the_answer_open(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = COREFILE.format(extra="").replace("fallthrough in-addr.arpa ip6.arpa", "fallthrough")
    (evidence / "Corefile").write_text(text)
    code, found = _resolve(capfd, NAME, "--resolver", "musl", "--evidence", str(evidence))
    resolver = found["names"][0]["resolvers"][0]
    assert (code, resolver["outcome"]) == (3, None)
    assert {"EAI_NODATA"} <= {outcome["code"] for outcome in resolver["possible"]}


@pytest.mark.parametrize(
    ("resolver", "code", "expected"),
    [("musl", 1, "EAI_NODATA"), ("musl-1.2.3", 1, "EAI_NONAME"), ("glibc", 0, ""), ("go", 0, "")],
)
def test_recorded_answers_are_walked_by_each_resolver(
    resolver: str, code: int, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES / "01-musl-search-nodata-stops"
    got, found = _resolve(capfd, "www.example.org", "--resolver", resolver, "--evidence", str(case))
    outcome = _outcomes(found)[resolver]
    assert (got, outcome["code"]) == (code, expected)
    if not code:
        assert outcome["addresses"] == ["203.0.113.80"]


def test_answers_can_be_given_as_a_file_of_their_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers.txt"
    answers.write_text("# server name type rcode answer delay_ms\n10.0.0.1 a.example A NOERROR 192.0.2.7 3\n")
    conf = tmp_path / "conf"
    conf.write_text("nameserver 10.0.0.1\n")
    code, found = _resolve(
        capfd, "a.example", "--resolver", "glibc", "--answers", str(answers), "--evidence", str(conf)
    )
    assert (code, _outcomes(found)["glibc"]["addresses"]) == (0, ["192.0.2.7"])


def test_an_unknown_resolver_lists_those_that_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    case = CASES / "01-musl-search-nodata-stops"
    assert run(["resolve", "a.example", "--resolver", "bind", "--evidence", str(case)]) == 2
    assert "musl" in capfd.readouterr().err
