"""Whatever a Pod's files and servers say, a model ends in an outcome: no exception, no endless asking."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svcpath.models.resolvers import RESOLVERS, Answer, Environment, Query, UnknownAnswer, resolve
from svcpath.models.resolvers.base import MAX_STEPS

WORDS = st.sampled_from(
    [
        "search", "domain", "nameserver", "options", "ndots:5", "ndots:", "ndots:99999999999999999999", "timeout:0",
        "attempts:0", "attempts:255", "rotate", "use-vc", "no-aaaa", "edns0", "single-request", "127.0.0.1", "::1",
        "fe80::1%eth0", "a.t", ".", "..", "b.t.", "#", ";", "svc.cluster.local", "x" * 70, "\u00fc", "lookup", "sortlist",
    ]
)  # fmt: skip
LINES = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=8)
TEXTS = st.one_of(LINES.map("\n".join), LINES.map("\r\n".join), st.text(max_size=120))
NAMES = st.one_of(
    st.sampled_from(["echo", "a.b.c.d.e", "a.", ".", "", "..", "a..b", "1.2.3.4", "::1", "a b", "x" * 64, "y." * 130]),
    st.text(max_size=40),
)
ANSWERS = st.sampled_from(
    [
        Answer("NOERROR", ("10.0.0.1",), 1),
        Answer("NOERROR"),
        Answer("NXDOMAIN"),
        Answer("SERVFAIL"),
        Answer("REFUSED"),
        Answer("FORMERR"),
        Answer("TIMEOUT"),
        Answer("UNREACHABLE"),
        Answer("CLOSED"),
        Answer("NOERROR", truncated=True),
        Answer("NOERROR", lame=True),
        Answer("NOERROR", (), 1, "other.test"),
        Answer("NOERROR", ("10.0.0.2",), 1, delay=0.7),
        UnknownAnswer("not recorded"),
    ]
)


class Drawn:
    """Answers by the name's and type's hash, so that the same question gets the same answer."""

    def __init__(self, answers: list[Answer | UnknownAnswer]) -> None:
        self.answers = answers
        self.asked = 0

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        self.asked += 1
        return self.answers[sum(map(ord, query.name + query.type + query.server)) % len(self.answers)]


@pytest.mark.parametrize("resolver", RESOLVERS)
@settings(max_examples=60, deadline=None)
@given(
    conf=TEXTS,
    hosts=TEXTS,
    nsswitch=TEXTS,
    name=NAMES,
    answers=st.lists(ANSWERS, min_size=1, max_size=4),
    data=st.data(),
)
def test_every_model_ends_in_an_outcome(
    resolver: str,
    conf: str,
    hosts: str,
    nsswitch: str,
    name: str,
    answers: list[Answer | UnknownAnswer],
    data: st.DataObject,
) -> None:
    environment = Environment(
        resolv_conf=conf,
        hosts=hosts,
        nsswitch=data.draw(st.sampled_from([None, nsswitch, f"hosts: {nsswitch}"])),
        hostname=data.draw(st.sampled_from(["", "box", "box.corp.example"])),
        family=data.draw(st.sampled_from(["unspec", "inet", "inet6"])),
        variables=data.draw(
            st.sampled_from([{}, {"LOCALDOMAIN": ""}, {"RES_OPTIONS": "ndots:2 rotate", "HOSTALIASES": "x"}])
        ),
        hostaliases="echo other.test\n",
    )
    resolution = resolve(resolver, name, environment, Drawn(answers))
    for trace in resolution.traces:
        assert len(trace.steps) <= MAX_STEPS + 1
        assert trace.outcome.ok or trace.outcome.code
        assert all(query.sent >= 0 for query in trace.queries)
