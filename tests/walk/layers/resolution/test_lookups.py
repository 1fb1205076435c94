"""What a client resolves itself is not denied by a model that was given less."""

from __future__ import annotations

from tests.fixtures.clients import client_of
from tests.walk.layers.resolution.lookups import CONF

NAME = "db.back.svc.cluster.local"


def test_a_name_that_the_clients_own_resolver_finds_is_there() -> None:
    made = client_of(CONF, f"glibc-2.36 {NAME} -> 10.96.10.77\n")
    report = made.diagnose("svc/web", client="pod/client", lookup=NAME, resolver="glibc")
    assert not {finding.code for finding in report.findings} & {"SP101", "SP102", "SP118", "SP119"}


def test_without_the_lookup_the_models_answer_stands() -> None:
    report = client_of(CONF).diagnose("svc/web", client="pod/client", lookup=NAME, resolver="glibc")
    assert report.verdict.layer == "resolution"
    assert report.verdict.code in ("SP101", "SP119")


def test_what_another_resolver_finds_does_not_speak_for_the_clients() -> None:
    made = client_of(CONF, f"glibc-2.36 {NAME} -> 10.96.10.77\n")
    report = made.diagnose("svc/web", client="pod/client", lookup=NAME, resolver="musl")
    assert "SP101" in {finding.code for finding in report.findings}
