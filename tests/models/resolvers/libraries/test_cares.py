"""c-ares and a candidate that is longer than DNS can carry, as the real one was seen to end (the differential tests ask again)."""

from __future__ import annotations

import pytest

from svcpath.models.resolvers.base import UNREADABLE, Answer, Query, Resolution, run
from svcpath.models.resolvers.environment import Environment, octets
from svcpath.replay import probes, scripted

SERVERS = "nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions ndots:5 timeout:1 attempts:1\n"


class Denying:
    """Servers to which no name exists, and that read none of over 255 octets."""

    def answer(self, query: Query) -> Answer:
        if octets(query.name) > 253:
            return UNREADABLE
        return scripted.answer("NXDOMAIN", query.type, query.transport)


class Dropping:
    """The first server drops A and truncates what it says of AAAA; the other says that there is no record of the type."""

    def answer(self, query: Query) -> Answer:
        first = {"A": "DROP", "AAAA": "TC:NODATA"}[query.type] if query.server == "127.0.0.1" else "NODATA"
        return scripted.answer(first, query.type, query.transport)


def _resolve(name: str, conf: str, world: Denying | Dropping | None = None) -> Resolution:
    model = probes.model_of("cares-gai", Environment(resolv_conf=conf))
    assert model is not None
    return run(model, name, world or Denying())


def _long(candidate: int) -> str:
    """A search suffix with which "web" is so many characters long."""
    left = candidate - len("web.")
    labels = ["p" * 20] * ((left - 1) // 21)
    rest = left - len(".".join(labels)) - 1
    return ".".join([*labels, "q" * rest])


@pytest.mark.parametrize("length", [254, 255])
def test_a_candidate_that_no_server_can_read_is_asked_of_each_and_ends_the_search(length: int) -> None:
    """254 and 255 characters pass c-ares' own check and are over 255 octets on the wire."""
    resolution = _resolve("web", f"search {_long(length)} b.t\n{SERVERS}")
    assert resolution.outcome is not None
    assert (resolution.outcome.code, resolution.outcome.number) == ("ARES_EBADRESP", 10)
    asked = [(query.server, query.type) for query in resolution.trace.queries]
    assert asked == [(server, kind) for server in ("127.0.0.1", "127.0.0.2") for kind in ("A", "AAAA")]


def test_the_longest_name_that_dns_carries_is_a_name_like_others() -> None:
    resolution = _resolve("web", f"search {_long(253)} b.t\n{SERVERS}")
    assert resolution.outcome is not None
    assert resolution.outcome.code == "ARES_ENOTFOUND"
    assert len({query.name for query in resolution.trace.queries}) == 3


def test_a_longer_one_is_not_sent_at_all() -> None:
    resolution = _resolve("web", f"search {_long(256)} b.t\n{SERVERS}")
    assert resolution.outcome is not None
    assert resolution.outcome.code == "ARES_EBADNAME"
    assert not resolution.trace.queries


def test_a_server_fails_when_its_time_is_over_and_no_earlier_reply_clears_that() -> None:
    """Its time is over after its good reply over TCP came: the next candidate goes to the other server."""
    resolution = _resolve("web.x", f"domain corp.example\n{SERVERS}", Dropping())
    asked = [(query.name, query.type, query.transport, query.server[-1]) for query in resolution.trace.queries]
    assert asked[:4] == [
        ("web.x.corp.example", "A", "udp", "1"),
        ("web.x.corp.example", "AAAA", "udp", "1"),
        ("web.x.corp.example", "AAAA", "tcp", "1"),
        ("web.x.corp.example", "A", "udp", "2"),
    ]
    assert asked[4:] == [("web.x", "A", "udp", "2"), ("web.x", "AAAA", "udp", "2")]
