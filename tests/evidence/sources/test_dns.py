"""A live DNS server, asked over real sockets: every way an answer can end, and the bound."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from svcpath.api import resolve
from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.sources.dns import DnsServer
from svcpath.evidence.sources.memory import BytesSource

NAMES = {
    "a.example.": ("NOERROR", ["192.0.2.1"]),
    "none.example.": ("NOERROR", []),
    "gone.example.": ("NXDOMAIN", []),
    "bad.example.": ("SERVFAIL", []),
}


def _serve(server: socket.socket) -> None:
    while True:
        try:
            raw, peer = server.recvfrom(4096)
        except OSError:
            return
        query = dns.message.from_wire(raw)
        question = query.question[0]
        name = question.name.to_text().lower()
        if name == "silent.example.":
            continue
        reply = dns.message.make_response(query)
        if name == "long.example.":
            reply.flags |= dns.flags.TC
        rcode, addresses = NAMES.get(name, ("NXDOMAIN", []))
        reply.set_rcode(dns.rcode.from_text(rcode))
        if addresses and question.rdtype == 1:
            reply.answer.append(dns.rrset.from_text(question.name, 30, "IN", "A", *addresses))
        server.sendto(reply.to_wire(), peer)


@pytest.fixture
def server() -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=_serve, args=(bound,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{bound.getsockname()[1]}"
        bound.close()


@pytest.mark.parametrize(
    ("name", "rcode", "answers"),
    [
        ("a.example", "NOERROR", ("192.0.2.1",)),
        ("none.example", "NOERROR", ()),
        ("gone.example", "NXDOMAIN", ()),
        ("bad.example", "SERVFAIL", ()),
        ("long.example", "TRUNCATED", ()),
        ("silent.example", "TIMEOUT", ()),
        ("a" * 64 + ".example", "FORMERR", ()),
    ],
)
def test_each_way_an_answer_can_end_has_its_word(server: str, name: str, rcode: str, answers: tuple[str, ...]) -> None:
    found = DnsServer(server, timeout=0.5).ask(name, "A")
    assert (found.rcode, found.answers) == (rcode, answers)


def test_a_port_where_nobody_answers_is_unreachable() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert DnsServer(f"127.0.0.1:{port}", timeout=0.5).ask("a.example", "A").rcode in ("UNREACHABLE", "TIMEOUT")


def test_traffic_is_bounded(server: str) -> None:
    asked = DnsServer(server, limit=2)
    asked.ask("a.example", "A")
    asked.ask("a.example", "A")
    with pytest.raises(SourceUnavailable):
        asked.ask("a.example", "A")


@pytest.mark.parametrize("text", ["", "dns.example", "10.0.0.1:0", "10.0.0.1:x", "[fd00::1", "fd00::zz"])
def test_what_is_no_address_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        DnsServer(text)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("10.0.0.1", "10.0.0.1", 53),
        ("10.0.0.1:5353", "10.0.0.1", 5353),
        ("fd00::1", "fd00::1", 53),
        ("[fd00::1]:54", "fd00::1", 54),
    ],
)
def test_addresses_of_both_families_are_read(text: str, host: str, port: int) -> None:
    server = DnsServer(text)
    assert (server.host, server.port) == (host, port)


def test_a_resolver_model_walks_a_live_server(server: str) -> None:
    evidence = BytesSource({"resolv.conf": b"search gone.example\nnameserver 127.0.0.1\noptions ndots:5\n"})
    found = resolve(evidence, ["a.example"], resolver="glibc", server=server).names[0].resolvers[0]
    assert found.outcome is not None
    assert found.outcome.addresses == ("192.0.2.1",)
    assert [step.name for step in found.steps] == ["a.example.gone.example", "a.example"]
