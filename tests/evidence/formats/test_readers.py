"""What the readers make of single files: tables of inputs and facts."""

from __future__ import annotations

from typing import Any

import pytest

from svcpath.evidence.facts.connections import Attempt
from svcpath.evidence.facts.dns import DnsAnswer, Lookup
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import recognise
from tests.evidence.samples import SAMPLES


def fact(data: bytes | str, kind: Kind) -> Any:
    raw = data.encode() if isinstance(data, str) else data
    (item,) = [
        observation for observation in recognise(raw) if isinstance(observation, Item) and observation.kind is kind
    ]
    return item.value


def attempts(text: str) -> tuple[Attempt, ...]:
    found = fact(text, Kind.ATTEMPTS).attempts
    assert isinstance(found, tuple)
    return found


def test_dns_columns_follow_the_header() -> None:
    rows = fact(SAMPLES["dns-answers__server-and-delay"], Kind.DNS_ANSWERS).rows
    assert rows[0] == DnsAnswer(
        name="api.example.org",
        type="A",
        rcode="NOERROR",
        answers=("203.0.113.20",),
        server="10.96.0.10",
        delay_ms=1.5,
        line=2,
    )
    assert [(row.rcode, row.answers, row.delay_ms) for row in rows[1:]] == [
        ("NOERROR", (), 0.4),
        ("TIMEOUT", (), 5000.0),
        ("NOERROR", ("2001:db8::1", "2001:db8::2"), 0.7),
    ]


def test_dns_rows_that_do_not_fit_are_named_by_line() -> None:
    text = "# name type rcode answer\na.example. A NOERROR 10.0.0.1,10.0.0.2\nb.example A MAYBE -\n"
    assert fact(text, Kind.DNS_ANSWERS).rows[0].answers == ("10.0.0.1", "10.0.0.2")
    assert fact(text, Kind.DAMAGED).line == 3


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("10.96.28.101", Lookup(resolver="musl-1.2.3", name="a", addresses=("10.96.28.101",))),
        ("10.0.0.1 fd00::1", Lookup(resolver="musl-1.2.3", name="a", addresses=("10.0.0.1", "fd00::1"))),
        ("-3 Try again", Lookup(resolver="musl-1.2.3", name="a", code="-3", error="Try again")),
        ("EAI_NODATA No address", Lookup(resolver="musl-1.2.3", name="a", code="EAI_NODATA", error="No address")),
        ("NXDOMAIN", Lookup(resolver="musl-1.2.3", name="a", error="NXDOMAIN")),
    ],
)
def test_what_a_name_resolved_to(result: str, expected: Lookup) -> None:
    assert fact(f"musl-1.2.3 a -> {result}\n", Kind.LOOKUPS).lookups == (expected,)


@pytest.mark.parametrize(
    ("line", "host", "port", "address", "outcome"),
    [
        ("curl 10.96.40.13:80 -> timeout", "10.96.40.13", 80, "10.96.40.13", "timeout"),
        ("curl http://cart.shop/x -> 200", "cart.shop", 80, "", "ok"),
        ("curl https://cart.shop -> 503 Service Unavailable", "cart.shop", 443, "", "http-error"),
        ("curl http://[fd00::1]:8080/ -> Connection refused", "fd00::1", 8080, "fd00::1", "refused"),
        ("nc 10.0.0.1 5432 -> no route to host", "10.0.0.1", 5432, "10.0.0.1", "no-route"),
        ("nc -vz fd00::1 5432 -> open", "fd00::1", 5432, "fd00::1", "ok"),
        ("curl -sv -m 2 http://10.0.0.1:80/x => timed out", "10.0.0.1", 80, "10.0.0.1", "timeout"),
        ("nc -w 2 10.0.0.1 5432 -> refused", "10.0.0.1", 5432, "10.0.0.1", "refused"),
        ("curl cart:80 -> Could not resolve host: cart", "cart", 80, "", "dns-failure"),
        ("curl cart:443 -> x509: certificate signed by unknown authority", "cart", 443, "", "tls-error"),
        ("curl cart:80 -> Connection reset by peer", "cart", 80, "", "reset"),
        ("client keeps connecting to 10.244.1.4:8500", "10.244.1.4", 8500, "10.244.1.4", "unknown"),
    ],
)
def test_sentences_about_connections(line: str, host: str, port: int, address: str, outcome: str) -> None:
    (found,) = attempts(line + "\n")
    assert (found.host, found.port, found.address, found.outcome) == (host, port, address, outcome)


def test_a_heading_names_who_connects_until_another_is_named() -> None:
    found = attempts(SAMPLES["attempts__case37"].decode())
    assert [(fact.client, fact.source_address, fact.outcome) for fact in found] == [
        ("self-1", "10.244.2.23", "timeout"),
        ("self-1", "10.244.2.23", "ok"),
        ("other", "", "ok"),
    ]


@pytest.mark.parametrize(
    ("who", "client"),
    [
        ("other pod", "other"),
        ("from client", "client"),
        ("pod web-1", "web-1"),
        ("from node w1", "node/w1"),
        ("same pod", ""),
    ],
)
def test_who_a_sentence_is_about(who: str, client: str) -> None:
    assert attempts(f"{who}: curl 10.0.0.1:80 -> 200\n")[0].client == client


def test_curl_lines_carry_exit_code_status_and_time() -> None:
    found = attempts(SAMPLES["attempts__curl"].decode())
    assert (found[0].address, found[0].status, found[0].seconds, found[0].body) == (
        "10.96.28.101",
        200,
        0.00214,
        "echo-server-5698c6f946-h6gmq",
    )
    assert (found[3].host, found[3].port, found[3].address) == ("echo-headless", 8080, "10.244.2.4")
    assert [item.outcome for item in found] == ["ok"] * 6 + ["refused"] * 6


@pytest.mark.parametrize(
    ("code", "text", "outcome"),
    [
        ("7", "curl: (7) Failed to connect to a port 80 after 3051 ms: No route to host", "no-route"),
        ("7", "curl: (7) Failed to connect to a port 80 after 3051 ms: Couldn't connect to server", "error"),
        ("6", "curl: (6) Could not resolve host: a", "dns-failure"),
        ("28", "curl: (28) Connection timed out after 2001 milliseconds", "timeout"),
        ("56", "curl: (56) Recv failure: Connection reset by peer", "reset"),
        ("52", "curl: (52) Empty reply from server", "http-error"),
        ("60", "curl: (60) SSL certificate problem", "tls-error"),
        ("92", "curl: (92) HTTP/2 stream", "error"),
    ],
)
def test_curl_exit_codes(code: str, text: str, outcome: str) -> None:
    line = f"2026-01-01T00:00:00Z http://a/ {text}  code=000 exit={code} remote=:0 connect=0.000000\n"
    assert attempts(line)[0].outcome == outcome


def test_the_own_form_of_attempts_is_checked() -> None:
    assert fact(SAMPLES["attempts__own.json"], Kind.ATTEMPTS).attempts[0].outcome == "refused"
    bad = '{"schema": "svcpath.attempts/v1", "attempts": [{"host": "a", "port": 80, "outcome": "maybe"}]}'
    assert "'maybe' is none of" in fact(bad, Kind.DAMAGED).why
    wrong = '{"schema": "svcpath.attempts/v1", "attempts": [{"host": "a", "port": "80", "outcome": "ok"}]}'
    assert "attempts[0]" in fact(wrong, Kind.DAMAGED).why


def test_conntrack_directions_flags_and_fields() -> None:
    tcp, udp = fact(SAMPLES["conntrack__nf_conntrack"], Kind.CONNTRACK).flows
    assert (tcp.protocol, tcp.state, tcp.timeout, tcp.assured, tcp.zone) == ("TCP", "ESTABLISHED", 86399, True, 0)
    assert (tcp.original.destination, tcp.reply.source, tcp.reply.source_port) == ("10.96.0.1", "172.30.0.11", 6443)
    assert (udp.protocol, udp.unreplied, udp.original.destination) == ("UDP", True, "fd00:1::a")
    (extended,) = fact(SAMPLES["conntrack__extended-id"], Kind.CONNTRACK).flows
    assert extended.id == 4021523456


def test_an_empty_conntrack_table_is_a_table() -> None:
    empty = "conntrack v1.4.7 (conntrack-tools): 0 flow entries have been shown.\n"
    assert fact(empty, Kind.CONNTRACK).flows == ()


def test_conntrack_counters_are_summed() -> None:
    stats = fact(SAMPLES["conntrack-stats__case09"], Kind.CONNTRACK_STATS)
    assert (stats.cpus, stats.counters["insert_failed"]) == (4, 358)


@pytest.mark.parametrize(
    ("name", "covers", "listening"),
    [
        ("sockets__case32-proc-net-tcp", {"tcp"}, {("TCP", "127.0.0.1", 50105, None)}),
        ("sockets__case32-ss", {"tcp", "tcp6"}, {("TCP", "127.0.0.1", 50105, None)}),
        ("sockets__case34-tcp6-empty", {"tcp6"}, set()),
        ("sockets__case52-ss-headerless", set(), {("TCP", "::", 31002, True)}),
        ("sockets__ss-tno", set(), set()),
        (
            "sockets__netstat",
            {"tcp", "tcp6", "udp", "udp6"},
            {("TCP", "0.0.0.0", 8080, None), ("TCP", "::", 9090, None), ("UDP", "0.0.0.0", 53, None)},
        ),
        (
            "sockets__ss-lntup",
            {"tcp", "tcp6", "udp", "udp6"},
            {("UDP", "0.0.0.0", 53, None), ("TCP", "::", 8080, True), ("TCP", "::", 9090, False)},
        ),
        (
            "sockets__procfs-tcp6",
            {"udp6"},
            {("UDP", "::", 5355, None), ("UDP", "fe80::56e1:adff:fe7c:6609", 51073, None)},
        ),
    ],
)
def test_sockets_and_what_they_cover(name: str, covers: set[str], listening: set[tuple[object, ...]]) -> None:
    table = fact(SAMPLES[name], Kind.SOCKETS)
    assert table.covers == covers
    assert {
        (socket.protocol, socket.local_address, socket.local_port, socket.dual_stack)
        for socket in table.sockets
        if socket.state in ("LISTEN", "UNCONN")
    } == listening


def test_two_tables_in_one_file_part_at_their_headers() -> None:
    both = SAMPLES["sockets__case32-proc-net-tcp"] + SAMPLES["sockets__case34-tcp6-empty"]
    assert fact(both, Kind.SOCKETS).covers == {"tcp", "tcp6"}


def test_hairpin_sysctl_and_health_lines() -> None:
    assert fact(SAMPLES["hairpin_mode+sysctl__case37"], Kind.HAIRPIN_MODE).ports == {"veth1a2b3c": False}
    assert fact("/sys/class/net/cni0/brif/veth1/hairpin_mode:1\n", Kind.HAIRPIN_MODE).ports == {"veth1": True}
    assert fact("veth7 hairpin_mode 0\n", Kind.HAIRPIN_MODE).ports == {"veth7": False}
    assert fact("net.ipv4.ip_forward = 1\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n", Kind.SYSCTL).values == {
        "net.ipv4.ip_forward": "1",
        "net.ipv4.tcp_rmem": "4096 131072 6291456",
    }
    first, second = fact(SAMPLES["health-replies__case52"], Kind.HEALTH_REPLIES).replies
    assert (first.node, second.node, second.port, second.status, second.local_endpoints) == (
        "node-a",
        "node-b",
        31002,
        200,
        1,
    )
    assert (
        fact('[fd00::1]:31002 HTTP/1.1 503 Service Unavailable {"localEndpoints":0}\n', Kind.HEALTH_REPLIES)
        .replies[0]
        .status
        == 503
    )


def test_node_reports() -> None:
    first, second = fact(SAMPLES["node-report__get-nodes"], Kind.NODE_REPORT).nodes
    assert (first.name, first.status) == ("w1", "Ready")
    assert (second.name, second.status) == ("w2", "NotReady,SchedulingDisabled")
    assert fact(SAMPLES["node-report__uname"], Kind.NODE_REPORT).nodes[0].kernel == "5.15.0-91-generic"
    assert [node.kube_proxy for node in fact(SAMPLES["node-report__case51.json"], Kind.NODE_REPORT).nodes] == [
        "1.24",
        "1.28",
    ]
    assert fact(SAMPLES["node-report__case57"], Kind.NODE_REPORT).nodes[1].status == "Unknown"


def test_jvm_settings_hold_no_expectation() -> None:
    settings = fact(SAMPLES["jvm__case08.json"], Kind.JVM).settings
    assert settings[4].flags == ("-Dsun.net.inetaddr.ttl=30",)
    assert settings[4].security_properties == {"networkaddress.cache.ttl": "60"}
    assert [setting.security_manager for setting in settings] == [False, True, True, True, True]


def test_timelines_keep_answers_with_the_name_asked() -> None:
    entries = fact(SAMPLES["timeline__case13"], Kind.TIMELINE).entries
    assert [(entry.start, entry.end, entry.name, entry.rcode, entry.answers) for entry in entries] == [
        (0.0, 0.0, "ring-0.ring", "NXDOMAIN", ()),
        (2.0, 2.0, "", "", ()),
        (2.0, 29.0, "ring-0.ring", "NXDOMAIN", ()),
        (31.0, 31.0, "ring-0.ring", "NOERROR", ("10.244.1.8",)),
    ]


def test_queries() -> None:
    assert fact(SAMPLES["query__case01"], Kind.QUERY).resolvers == ("musl", "glibc", "go", "jvm(glibc)")
    assert fact(SAMPLES["query__case07"], Kind.QUERY).families == ("A", "AAAA")
    assert fact(SAMPLES["query__case14"], Kind.QUERY).url == "http://partner.shop.svc.cluster.local:80/"
    connect = fact(SAMPLES["query__case16"], Kind.QUERY)
    assert (connect.name, connect.port) == ("vault.shop", 8200)


def test_durations() -> None:
    assert fact(SAMPLES["durations__case09"], Kind.DURATIONS).seconds[2] == 5.006
    named = fact("time_namelookup: 0.004\ntime_namelookup: 5 ms\n", Kind.DURATIONS)
    assert (named.what, named.seconds) == ("lookup", (0.004, 0.005))


def test_load_balancer_settings_and_targets() -> None:
    settings = fact(SAMPLES["load-balancer-health__case63.json"], Kind.LOAD_BALANCER_HEALTH)
    assert (settings.health_check_interval, settings.unhealthy_threshold) == (15.0, 2)
    (target,) = fact(SAMPLES["load-balancer-health__target-health.json"], Kind.LOAD_BALANCER_HEALTH).targets
    assert (target.id, target.port, target.state, target.reason) == (
        "i-0a1",
        31002,
        "unhealthy",
        "Target.FailedHealthChecks",
    )
    attributes = fact(SAMPLES["load-balancer-health__attributes.json"], Kind.LOAD_BALANCER_HEALTH)
    assert attributes.deregistration_delay == 300.0
    groups = fact(SAMPLES["load-balancer-health__target-groups.json"], Kind.LOAD_BALANCER_HEALTH)
    assert (groups.healthy_threshold, groups.health_check_interval) == (3, 10.0)


def test_metrics_with_labels_and_escapes() -> None:
    samples = fact('a_total{x="1",y="q\\"\\\\n\\n"} 3\nb_total 1e3 1700000000\nc_total NaN\n', Kind.METRICS).samples
    assert samples[0].labels == {"x": "1", "y": 'q"\\n\n'}
    assert samples[1].value == 1000.0
