"""A catalogue entry, or the hypotheses of a symptom, as a Document."""

from __future__ import annotations

from svcpath.findings.catalogue import catalogue, entry
from svcpath.findings.finding import Hypothesis
from svcpath.findings.symptoms import Symptom
from svcpath.reports.document import Document, Note, Point, Points, Section, Table

#: Names in a disproof that stand for a whole command, which depends on the node's data plane.
COMMANDS = {"check": "{print the node's rules for this Service: iptables-save, nft list or ipvsadm}"}


def code(name: str) -> Document:
    """One code: what it means, what would prove it wrong, how to mend it. Raises UnknownTarget."""
    known = entry(name)
    sections: list[Section] = [Note(known.meaning)]
    if known.disproof is not None:
        command = known.disproof.command
        for part, words in COMMANDS.items():
            command = command.replace(f"{{{part}}}", words)
        point = Point("", command, after=known.disproof.refutes)
        sections.append(Points("This would prove it wrong", (point,)))
    if known.remedy:
        sections.append(Points("Mend", (Point(known.remedy),)))
    return Document(f"{name}  {known.layer}  {known.title}", tuple(sections))


def all_codes() -> Document:
    rows = tuple((name, one.layer, one.title) for name, one in catalogue().items())
    return Document("Codes", (Table(("code", "layer", "title"), rows),))


def symptom(one: Symptom, ranked: tuple[Hypothesis, ...]) -> Document:
    points = tuple(
        Point(
            f"{each.cause} ({each.layer})",
            each.disproof.command if each.disproof else "",
            after=f"against it: {each.disproof.refutes}" if each.disproof else "",
        )
        for each in ranked
    )
    note = Note("An error text never locates a fault: each of these shows the same text. In the order to look:")
    return Document(f'"{one.name}"', (note, Points("Hypotheses", points, numbered=True)))
