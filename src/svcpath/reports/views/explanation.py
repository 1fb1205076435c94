"""A catalogue entry, or the hypotheses of a symptom, as a Document."""

from __future__ import annotations

import string

from svcpath.findings.catalogue import catalogue, entry
from svcpath.findings.finding import Hypothesis
from svcpath.findings.symptoms import Symptom
from svcpath.reports.document import Document, Note, Point, Points, Section, Table

#: Placeholders whose name in capitals is not enough: what stands there.
MEANINGS = {
    "check": "CHECK prints the node's rules for this Service, with iptables-save, nft list ruleset or ipvsadm -Ln",
    "port_hex": "PORT-HEX is the port in hexadecimal",
    "reach": "REACH is a pattern of the addresses on which a socket takes the connection, as /proc/net prints them",
    "state_hex": "STATE-HEX is 0A (LISTEN) for TCP, 07 for UDP",
    "tables": "TABLES are the files of the protocol, /proc/net/tcp and /proc/net/tcp6 for TCP",
}


def code(name: str) -> Document:
    """One code: what it means, what would disprove it, how to fix it. Raises UnknownTarget."""
    known = entry(name)
    sections: list[Section] = [Note(known.meaning)]
    if known.disproof is not None:
        command, refutes = known.disproof.command, known.disproof.refutes
        sections.append(Points("To disprove", (Point("", in_capitals(command), after=in_capitals(refutes)),)))
        meanings = [MEANINGS[field] for field in fields(command) if field in MEANINGS]
        sections.extend([Note("; ".join(meanings))] if meanings else [])
    if known.remedy:
        sections.append(Points("Fix", (Point(in_capitals(known.remedy)),)))
    return Document(f"{name}  {known.layer}  {known.title}", tuple(sections))


def fields(template: str) -> tuple[str, ...]:
    """The names that a template is filled with, each once, in their order."""
    names = (name for _, name, _, _ in string.Formatter().parse(template) if name)
    return tuple(dict.fromkeys(names))


def in_capitals(template: str) -> str:
    """``template`` with the names of its fields in capitals where a finding puts a value: ``-n NAMESPACE``."""
    return template.format_map({name: name.upper().replace("_", "-") for name in fields(template)})


def all_codes() -> Document:
    rows = tuple((name, known.layer, known.title) for name, known in catalogue().items())
    return Document("Codes", (Table(("code", "layer", "title"), rows),))


def symptom(recognised: Symptom, ranked: tuple[Hypothesis, ...]) -> Document:
    points = tuple(
        Point(
            f"{hypothesis.cause} ({hypothesis.layer})",
            hypothesis.disproof.command if hypothesis.disproof else "",
            after=hypothesis.disproof.refutes if hypothesis.disproof else "",
        )
        for hypothesis in ranked
    )
    note = Note("An error text never locates a fault: each of these shows the same text. In the order to look:")
    return Document(f'"{recognised.name}"', (note, Points("Hypotheses", points, numbered=True)))
