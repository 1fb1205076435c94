"""Where hickory 0.25 and 0.26 part, each as the real ones were seen to (the differential tests ask them again)."""

from __future__ import annotations

import pytest

from svcpath.models.resolvers.base import Answer, Query, Resolution, run
from svcpath.models.resolvers.environment import Environment
from svcpath.replay import probes, scripted

CONF = "search a.t\nnameserver 127.0.0.1\noptions ndots:2 timeout:1 attempts:1\n"


class Server:
    """The scripted server: actions by "name/type" or name, everything else does not exist."""

    def __init__(self, actions: dict[str, str]) -> None:
        self.actions = actions

    def answer(self, query: Query) -> Answer:
        actions = self.actions
        action = actions.get(f"{query.name}/{query.type}", actions.get(query.name, "NXDOMAIN"))
        return scripted.answer(action, query.type, query.transport)


def _resolve(probe: str, name: str, actions: dict[str, str], conf: str = CONF) -> Resolution:
    model = probes.model_of(probe, Environment(resolv_conf=conf))
    assert model is not None
    return run(model, name, Server(actions))


def _asked(probe: str, name: str, actions: dict[str, str], conf: str = CONF) -> list[str]:
    trace = _resolve(probe, name, actions, conf).trace
    return [f"{query.sent:g} {query.transport} {query.type} {query.name}" for query in trace.queries]


def test_0_26_asks_both_types_at_once_and_0_25_asks_aaaa_when_a_gave_nothing() -> None:
    actions = {"web/A": "A:10.1.1.1", "web.a.t/A": "A:10.1.1.2"}
    assert _asked("hickory", "web", actions) == ["0 udp A web.a.t"]
    new = _resolve("hickory-0.26", "web", actions).trace
    assert [[query.type for query in step.batch.queries] for step in new.steps] == [["AAAA", "A"]]
    assert new.outcome.addresses == ("10.1.1.2",)


@pytest.mark.parametrize("action", ["SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"])
def test_0_26_asks_again_after_an_error_code_and_0_25_does_not(action: str) -> None:
    assert len(_asked("hickory", "web.", {"web": action})) == 2
    assert len(_asked("hickory-0.26", "web.", {"web": action})) == 4


def test_0_26_shows_the_error_of_aaaa() -> None:
    outcome = _resolve("hickory-0.26", "web.", {"web/A": "REFUSED", "web/AAAA": "SERVFAIL"}).trace.outcome
    assert outcome.text == "DNS error: error response: Server Failure"


def test_0_26_keeps_what_it_knows_of_a_resolv_conf_and_0_25_gives_it_up() -> None:
    conf = CONF + "options xndots:5\nnameservers 10.0.0.1\n"
    assert _resolve("hickory", "web", {"web.a.t": "A:10.1.1.1"}, conf).trace.outcome.code == "config"
    assert _resolve("hickory-0.26", "web", {"web.a.t": "A:10.1.1.1"}, conf).trace.outcome.addresses == ("10.1.1.1",)


def test_0_26_keeps_the_search_list_when_a_domain_line_has_no_value() -> None:
    assert _asked("hickory-0.26", "web", {"web.a.t": "A:10.1.1.1"}, CONF + "domain\n")[-1] == "0 udp A web.a.t"


def test_0_26_sends_a_silent_query_three_times_within_each_timeout() -> None:
    asked = _asked("hickory-0.26", "web.", {"web/A": "DROP", "web/AAAA": "AAAA:fd00::1"})
    assert [line for line in asked if " A " in line] == [
        f"{sent:g} udp A web" for sent in (0, 0.333, 0.666, 1, 1.333, 1.666)
    ]


def test_replies_without_records_make_0_26_wait_longer_before_it_sends_again() -> None:
    """Each counts as a failure of the server: after six the wait is beyond the timeout."""
    names = " ".join(f"s{number}.t" for number in range(6))
    conf = f"search {names}\nnameserver 127.0.0.1\noptions ndots:2 timeout:1 attempts:0\n"
    asked = _asked("hickory-0.26", "web", {"web/A": "DROP", "web/AAAA": "NXDOMAIN"}, conf)
    assert [line for line in asked if line.endswith(" A web")] == ["0 udp A web"]


def test_in_0_26_an_alias_of_an_alias_is_asked_though_its_address_came_along() -> None:
    actions = {"web/A": "CNAME:one.w", "one.w/A": "CNAME:two.w=10.1.1.1", "two.w/A": "A:10.1.1.2"}
    assert _resolve("hickory", "web.", actions).trace.outcome.addresses == ("10.1.1.1",)
    new = _resolve("hickory-0.26", "web.", actions).trace
    assert new.outcome.addresses == ("10.1.1.2",)
    assert "0 udp A two.w" in [f"{query.sent:g} {query.transport} {query.type} {query.name}" for query in new.queries]


def test_0_26_goes_on_over_an_open_tcp_connection_once_udp_was_silent() -> None:
    asked = _asked("hickory-0.26", "web.", {"web/A": "DROP", "web/AAAA": "TC:AAAA:fd00::1"})
    assert asked[-1] == "1 tcp A web"


def test_two_truncated_replies_end_a_try_of_0_26_without_tcp() -> None:
    conf = "nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions timeout:1 attempts:1\n"
    resolution = _resolve("hickory-0.26", "web.", {"web": "TC:A:10.1.1.1"}, conf)
    assert {query.transport for trace in resolution.traces for query in trace.queries} == {"udp"}
    assert resolution.outcome is not None
    assert resolution.outcome.code == "truncated"


def test_a_connection_closed_under_both_types_leaves_open_which_error_is_shown() -> None:
    outcomes = _resolve("hickory-0.26", "web.", {"web": "TCDROP:A:10.1.1.1"}).outcomes
    assert {outcome.code for outcome in outcomes} == {"truncated", "io"}
