"""A live DNS server: one question at a time over UDP or TCP, its answer as a fact. Traffic is bounded.

dnspython makes and reads the wire format (RFC 1035); what a resolver does with an answer is the models' business.
"""

from __future__ import annotations

import ipaddress

from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.facts.dns import DnsAnswer

#: Seconds to wait for one answer, and questions that one run may send.
TIMEOUT = 2.0
MAX_QUESTIONS = 500


class DnsServer:
    """Asks one server. Raises UsageError for what is no address, SourceUnavailable once the bound is reached."""

    def __init__(self, address: str, *, timeout: float = TIMEOUT, limit: int = MAX_QUESTIONS) -> None:
        """``address``: "IP", "IPv4:PORT" or "[IPv6]:PORT"."""
        self.host, self.port = _endpoint(address)
        self._timeout = timeout
        self._left = limit

    def ask(self, name: str, rrtype: str, transport: str = "udp") -> DnsAnswer:
        """One question with RD set; ``name`` is absolute, with or without its final dot.

        The rcode is IANA's, or TIMEOUT for silence, UNREACHABLE for an ICMP error or a refused connection, TRUNCATED
        for a reply with TC over UDP. A name that can't be sent is FORMERR without a question.
        """
        import dns.exception
        import dns.flags
        import dns.message
        import dns.query
        import dns.rcode

        if self._left <= 0:
            raise SourceUnavailable(
                f"{self.host}: the bound of {MAX_QUESTIONS} questions a run is reached; ask for fewer names"
            )
        self._left -= 1
        bare = name.removesuffix(".")
        try:
            question = dns.message.make_query(f"{bare}.", rrtype)
        except dns.exception.DNSException:
            return DnsAnswer(name=bare, type=rrtype, rcode="FORMERR", server=self.host)
        send = dns.query.tcp if transport == "tcp" else dns.query.udp
        try:
            reply = send(question, self.host, timeout=self._timeout, port=self.port)
        except dns.exception.Timeout:
            return DnsAnswer(name=bare, type=rrtype, rcode="TIMEOUT", server=self.host)
        except (OSError, EOFError):
            return DnsAnswer(name=bare, type=rrtype, rcode="UNREACHABLE", server=self.host)
        except dns.exception.DNSException:
            return DnsAnswer(name=bare, type=rrtype, rcode="FORMERR", server=self.host)
        if reply.flags & dns.flags.TC:
            return DnsAnswer(name=bare, type=rrtype, rcode="TRUNCATED", server=self.host)
        answers = tuple(record.to_text() for rrset in reply.answer for record in rrset)
        return DnsAnswer(
            name=bare, type=rrtype, rcode=dns.rcode.to_text(reply.rcode()), answers=answers, server=self.host
        )


def _endpoint(text: str) -> tuple[str, int]:
    host, port = text, 53
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            host = ""
        port = _port(rest[1:], text) if rest.startswith(":") else 53
    elif text.count(":") == 1:
        host, _, rest = text.partition(":")
        port = _port(rest, text)
    try:
        return str(ipaddress.ip_address(host)), port
    except ValueError:
        raise UsageError(f"--server {text!r}: give an address, or ADDRESS:PORT with IPv6 in brackets") from None


def _port(text: str, whole: str) -> int:
    if text.isdecimal() and 0 < int(text) < 65536:
        return int(text)
    raise UsageError(f"--server {whole!r}: {text!r} is no port")
