"""The HTML form as text: whole, closed off from the world, the same bytes each time, and deaf to hostile evidence."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from svcpath.reports.document import (
    Connections,
    Document,
    Lane,
    LaneEvent,
    Note,
    Point,
    Points,
    Span,
    Statement,
    Table,
    Timeline,
)
from svcpath.reports.records import Report
from svcpath.reports.renderers import html, markdown, terminal
from svcpath.reports.views.diagnosis_page import page
from svcpath.status import Status
from tests.reports import forms
from tests.reports.samples import HOSTILE, RECORDED, every_code, hostile, recorded


def pages() -> list[tuple[str, Report]]:
    found = [(f"{mode} {service}", recorded(mode, service)) for mode, service in RECORDED]
    return [*found, ("every code", every_code()), ("hostile", hostile())]


@pytest.mark.parametrize(("name", "report"), pages(), ids=lambda name: name if isinstance(name, str) else "")
def test_a_page_is_well_formed_and_admits_nothing_but_its_own_style_and_script(name: str, report: Report) -> None:
    text = html.render(page(report))
    read = forms.Page(text)
    assert not read.faults
    policy = next(
        attributes["content"]
        for tag, attributes in read.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    for block, source in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(read.blocks[block].encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}';" in (policy or "")
    assert (policy or "").startswith("default-src 'none';")
    assert [tag for tag, _ in read.tags].count("script") == 1
    for tag, attributes in read.tags:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "form", "audio", "video"), tag
        assert not [
            attribute
            for attribute in attributes
            if attribute.startswith("on") or attribute in ("style", "src", "srcdoc", "action")
        ], attributes
        if "href" in attributes:
            assert re.fullmatch(r"#[a-z0-9-]+", attributes["href"] or ""), attributes
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(attributes.get("href") or "")[1:] for _, attributes in read.tags if "href" in attributes} <= set(ids)
    assert len(text.encode()) < 1_500_000


def test_the_same_report_gives_the_same_bytes() -> None:
    assert html.render(page(recorded("iptables", "wrong-port"))) == html.render(
        page(recorded("iptables", "wrong-port"))
    )


def test_hostile_text_is_shown_and_never_markup() -> None:
    text = html.render(page(hostile()))
    assert "<script>window" not in text
    assert "<img" not in text
    for direction in ("\u202e", "\u2066", "\u200f", "\ufeff", "\x1b", "\x00"):
        assert direction not in text
    assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in text
    assert "\\u202egnp.exe" in text


def test_a_page_with_every_finding_of_a_huge_service_stays_small() -> None:
    base = recorded("iptables", "wrong-port")
    many = tuple(base.backends[i % len(base.backends)] for i in range(5000))
    fat = type(base)(
        **{name: getattr(base, name) for name in base.__struct_fields__}
        | {"backends": many, "findings": base.findings * 300, "observations": base.observations * 300}
    )
    text = html.render(page(fat))
    assert len(text.encode()) < 1_500_000
    assert "more rows are in the JSON form" in text


def timeline(count: int = 40) -> Document:
    starts = tuple(i * 10 / count for i in range(count))
    connections = Connections(
        starts=starts,
        lengths=tuple((0.5 + i % 3) * min(1, 400 / count) for i in range(count)),
        outcome=tuple(int(i % 7 == 0) for i in range(count)),
        backend=tuple(i % 2 for i in range(count)),
        outcomes=(("200", Status.PASS), (HOSTILE[0], Status.FAIL)),
        backends=("web-1", HOSTILE[1]),
    )
    lanes = (
        Lane("web-1", "Pods", (Span(0, 4, "preStop", Status.WARN),), (LaneEvent(4, "SIGTERM", Status.FAIL),)),
        Lane(HOSTILE[2], "Data planes", (), (LaneEvent(0.4, HOSTILE[3], Status.PASS),)),
    )
    terms = (Span(0, 0.4, "endpoint propagation"),)
    return Document(
        "drain", (Statement(Status.PASS, "HOLDS", "3 s"), Timeline("T", 0, 12, lanes, connections, terms)), "drain"
    )


def test_a_timeline_is_well_formed_and_its_hostile_names_stay_text() -> None:
    text = html.render(timeline())
    read = forms.Page(text)
    assert not read.faults
    assert "<img" not in text
    assert "<script>window" not in text
    assert [attributes.get("type") for tag, attributes in read.tags if tag == "script"] == [
        "application/json",
        "text/plain",
        None,
    ]


def test_a_timeline_reads_as_tables_where_nothing_can_be_drawn() -> None:
    for text in (terminal.render(timeline()), markdown.render(timeline())):
        assert "+4.00" in text
        assert "SIGTERM" in text
        assert "connections to" in text


def test_plain_sections_render_as_lists_and_tables() -> None:
    document = Document(
        "t",
        (
            Note("a note"),
            Points("why", (Point("one", "kubectl get", "a:1", "after"), Point("two")), numbered=True),
            Table(("a", "b"), (("1", "2"),), "lr", "numbers"),
        ),
    )
    read = forms.Page(html.render(document))
    assert not read.faults
    words = " ".join(read.text)
    for word in ("a note", "why", "one", "kubectl get", "a:1", "after", "numbers"):
        assert word in words
