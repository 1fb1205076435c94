"""DNS messages for the scripted servers: a question's action turned into bytes (dnspython does the encoding)."""

from __future__ import annotations

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

SOA = "ns.invalid. hostmaster.invalid. 1 7200 1800 86400 30"
SILENT = ("DROP", "TIMEOUT")


def presentation(name: dns.name.Name) -> str:
    """A name's labels as characters, one a byte, without the final dot."""
    return ".".join(label.decode("latin-1") for label in name.labels if label)


def reply(query: dns.message.Message, action: str, transport: str) -> bytes | None:
    """What the scripted server sends, or None for silence; the action's own delay is the caller's matter."""
    head, _, rest = action.partition(":")
    if action in SILENT:
        return None
    if head == "WRONGID" and transport == "tcp":
        return None
    if head == "WRONGID":
        body = reply(query, rest, transport)
        return body and bytes([body[0] ^ 1]) + body[1:]
    if head in ("TC", "TCDROP"):
        if transport == "tcp":
            return None if head == "TCDROP" else reply(query, rest, transport)
        message = _empty(query)
        message.flags |= dns.flags.TC
        return message.to_wire()
    message = _empty(query)
    if action == "LAME":
        message.flags &= ~dns.flags.RA
        return message.to_wire()
    question = query.question[0]
    records = _records(question, head, rest)
    for owner, kind, data in records:
        message.answer.append(dns.rrset.from_text(owner, 30, dns.rdataclass.IN, kind, data))
    if not records:
        if head not in ("A", "AAAA", "CNAME", "NODATA"):
            message.set_rcode(dns.rcode.from_text(head))
        message.authority.append(dns.rrset.from_text(".", 30, dns.rdataclass.IN, "SOA", SOA))
    return message.to_wire()


def _empty(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query, recursion_available=True)
    message.use_edns(False)
    return message


def _records(question: dns.rrset.RRset, head: str, rest: str) -> list[tuple[dns.name.Name, str, str]]:
    kind = dns.rdatatype.to_text(question.rdtype)
    if head in ("A", "AAAA"):
        return [(question.name, kind, address) for address in rest.split(",")] if kind == head else []
    if head == "CNAME":
        target, equals, address = rest.partition("=")
        records = [(question.name, "CNAME", f"{target}.")]
        if equals and (":" in address) == (kind == "AAAA"):
            records.append((dns.name.from_text(target), kind, address))
        return records
    return []
