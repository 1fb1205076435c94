"""What recorded answers say, and what they leave open."""

from __future__ import annotations

import pytest

from svcpath.errors import UsageError
from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.models.resolvers import (
    Answer,
    Environment,
    Layered,
    Query,
    RecordedWorld,
    UnknownAnswer,
    canonical,
    resolve,
)
from svcpath.models.resolvers.registry import RESOLVERS

CONF = "search a.t\nnameserver 127.0.0.1\noptions ndots:5\n"


def ask(world: RecordedWorld | Layered, name: str, kind: str = "A") -> Answer | UnknownAnswer:
    return world.answer(Query(name, kind, "127.0.0.1"))


def test_a_missing_name_is_missing_for_every_type() -> None:
    world = RecordedWorld([DnsAnswer(name="x", type="A", rcode="NXDOMAIN")])
    answer = ask(world, "X.", "AAAA")
    assert isinstance(answer, Answer)
    assert answer.rcode == "NXDOMAIN"
    assert "RFC 8020" in answer.note


def test_a_name_with_another_type_recorded_is_taken_to_have_no_data_and_says_so() -> None:
    world = RecordedWorld([DnsAnswer(name="x", type="A", rcode="NOERROR", answers=("10.0.0.1",))])
    answer = ask(world, "x", "AAAA")
    assert isinstance(answer, Answer)
    assert answer.nodata
    assert "NODATA" in answer.note


def test_an_alias_answers_every_type_and_addresses_count_for_their_family_alone() -> None:
    world = RecordedWorld([DnsAnswer(name="x", type="A", rcode="NOERROR", answers=("y.test.", "10.0.0.1", "fd00::1"))])
    answer = ask(world, "x")
    assert isinstance(answer, Answer)
    assert (answer.addresses, answer.records) == (("10.0.0.1",), 3)
    alias = RecordedWorld([DnsAnswer(name="x", type="CNAME", rcode="NOERROR", answers=("gone.test",))])
    dangling = ask(alias, "x", "AAAA")
    assert isinstance(dangling, Answer)
    assert (dangling.addresses, dangling.cname) == ((), "gone.test")


def test_a_name_that_was_not_recorded_is_unknown_and_every_branch_is_followed() -> None:
    world = RecordedWorld([DnsAnswer(name="x.a.t", type="A", rcode="NOERROR", answers=("10.0.0.1",))])
    assert isinstance(ask(world, "y"), UnknownAnswer)
    resolution = resolve("musl", "y", Environment(resolv_conf=CONF), world)
    assert resolution.outcome is None
    assert len(resolution.traces) > 2
    assert {outcome.code for outcome in resolution.outcomes} >= {"", "EAI_NODATA", "EAI_NONAME"}
    assert all(trace.assumed for trace in resolution.traces)


def test_the_first_world_that_knows_answers() -> None:
    first = RecordedWorld([DnsAnswer(name="x", type="A", rcode="NXDOMAIN")])
    second = RecordedWorld([DnsAnswer(name="y", type="A", rcode="NOERROR", answers=("10.0.0.1",))])
    answer = ask(Layered([first, second]), "y")
    assert isinstance(answer, Answer)
    assert answer.addresses == ("10.0.0.1",)
    assert isinstance(ask(Layered([first, second]), "z"), UnknownAnswer)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("musl-1.2.2", "musl-1.2.3"),
        ("musl-1.2.9", "musl"),
        ("glibc-2.39", "glibc"),
        ("glibc-2.43", "glibc-2.41"),
        ("Java", "jvm"),
        ("node", "node-lookup"),
    ],
)
def test_a_version_stands_for_the_model_that_behaves_as_it(given: str, meant: str) -> None:
    assert canonical(given) == meant


def test_an_unknown_resolver_is_a_usage_error_that_lists_them() -> None:
    with pytest.raises(UsageError) as caught:
        canonical("bind")
    assert all(name in str(caught.value) for name in RESOLVERS)
