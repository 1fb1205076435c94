"""Pages in Chromium: quiet, closed off, readable without scrolling, usable by keyboard, accessible, deaf to hostile text."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from svcpath import api
from svcpath.drain.load import load
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.document import Document
from svcpath.reports.records import Report
from svcpath.reports.renderers import html
from svcpath.reports.timeline import timeline_report
from svcpath.reports.views import budget_page, drift_page, resolution_page, timeline_page
from svcpath.reports.views import drain as drain_view
from svcpath.reports.views import score as score_view
from svcpath.reports.views.diagnosis_page import page as page_of
from tests.fixtures.cluster import cluster
from tests.reports.conftest import Scheme
from tests.reports.samples import RECORDED, drain, every_code, hostile, recorded, score
from tests.reports.test_html import timeline

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "cases" / "public"
SHOTS = ROOT / "ci-output"


def _diagnosis(mode: str, service: str) -> Document:
    return page_of(recorded(mode, service))


def _resolve() -> Document:
    source = FilesSource([CASES / "01-musl-search-nodata-stops"])
    return resolution_page.page(api.resolve(source, ["www.example.org"]))


def _drift() -> Document:
    return drift_page.page(api.drift(FilesSource([CASES / "47-leftover-iptables-reject-after-ipvs"])))


def _drain() -> Document:
    found, gaps = load([ROOT / "tests" / "data" / "drain" / "recorded"])
    return timeline_page.page(timeline_report(found, gaps))


def _budget() -> Document:
    return budget_page.page(api.budget(api.manifests(CASES / "62-prestop-longer-than-grace"), longest_request=6))


def stale() -> Report:
    """A backend that a node's table holds and no slice gives."""
    made = cluster(3).settle()
    made.dumps = True
    evidence = made.evidence()
    for item in made.of("EndpointSlice"):
        item["endpoints"] = item["endpoints"][1:]
    evidence["objects.json"] = made.evidence()["objects.json"]
    return api.diagnose(BytesSource(evidence), "svc/web", namespace="shop")


DOCUMENTS: dict[str, Callable[[], Document]] = {
    **{f"{mode}-{service}": functools.partial(_diagnosis, mode, service) for mode, service in RECORDED},
    "every-code": lambda: page_of(every_code()),
    "stale": lambda: page_of(stale()),
    "resolve": _resolve,
    "drift": _drift,
    "timeline": lambda: timeline(400),
    "drain": _drain,
    "budget": _budget,
    "score": lambda: score_view.page(score()),
    "drain-run": lambda: drain_view.page(drain()),
}


class Watched:
    """A page with all that it must never do written down."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.asked: list[str] = []
        self.console: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        page.set_default_timeout(60_000)
        page.goto(path.as_uri())
        self.own = path.as_uri()

    def check(self) -> None:
        assert self.console == []
        assert [url for url in self.asked if not url.startswith((self.own, "blob:"))] == []


@contextlib.contextmanager
def opened(browser: Browser, tmp_path: Path, document: Document, **options: Any) -> Iterator[Watched]:
    path = tmp_path / "report.html"
    path.write_text(html.render(document), "utf-8")
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    watched = Watched(context.new_page(), path)
    try:
        yield watched
        watched.check()
    finally:
        context.close()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
@pytest.mark.parametrize(("mode", "service"), RECORDED)
def test_the_verdict_is_the_json_summary_and_in_sight(
    browser: Browser, tmp_path: Path, mode: str, service: str, script: bool
) -> None:
    report = recorded(mode, service)
    with opened(browser, tmp_path, page_of(report), java_script_enabled=script) as seen:
        summary = seen.page.locator(".verdict .summary")
        assert summary.inner_text() == report.verdict.summary
        box = summary.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800
        assert seen.page.locator(".picture .hop").count() == 7
        if report.verdict.status == "fault":
            failing = seen.page.locator(".picture .hop.ends")
            place = failing.bounding_box()
            assert failing.count() == 1
            assert place is not None
            assert place["y"] + place["height"] <= 800
            assert report.verdict.layer is not None
            assert report.verdict.layer in failing.inner_text()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
@pytest.mark.parametrize(("mode", "service"), RECORDED)
def test_each_station_opens_by_mouse_and_by_keyboard(
    browser: Browser, tmp_path: Path, mode: str, service: str, script: bool
) -> None:
    with opened(browser, tmp_path, page_of(recorded(mode, service)), java_script_enabled=script) as seen:
        page = seen.page
        for layer in page.locator("details.layer").all():
            body, head = layer.locator(".body"), layer.locator("summary").first
            before = body.is_visible()
            head.click()
            assert body.is_visible() is not before
            head.focus()
            page.keyboard.press("Enter")
            assert body.is_visible() is before
            if before:
                head.click()
        for link in page.locator(".picture a.who").all():
            target = (link.get_attribute("href") or "")[1:]
            body = page.locator(f"[id='{target}']")
            assert not body.is_visible() or page.locator(f".picture a.who[href='#{target}']").count() > 1
            link.focus()
            page.keyboard.press("Enter")
            body.wait_for(state="visible")
        for layer in page.locator("details.layer").all():
            if layer.locator(".body").is_visible():
                layer.locator("summary").first.click()
        for link in page.locator(".picture a.who").all():
            link.click(position={"x": 5, "y": 5})
            page.locator(f"[id='{(link.get_attribute('href') or '')[1:]}']").wait_for(state="visible")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_axe_finds_no_violation_in_light_or_dark_and_no_window_is_too_narrow(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(browser, tmp_path, DOCUMENTS[name]()) as seen:
        page = seen.page
        SHOTS.mkdir(exist_ok=True)
        if name == "timeline":
            page.locator("canvas[data-drawn]").wait_for()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=SHOTS / f"{name}-{scheme}.png")
        # Of a page with every code the layers alone: what they open to is of one make, and axe takes minutes for it.
        opens = "details.layer" if name == "every-code" else "details"
        page.evaluate("(opens) => document.querySelectorAll(opens).forEach((one) => (one.open = true))", opens)
        # Only colours differ between the schemes.
        looks: tuple[tuple[Scheme, dict[str, list[str]] | None], ...] = (
            ("light", None),
            ("dark", {"runOnly": ["color-contrast"]}),
        )
        for scheme, rules in looks:
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page, options=rules).response["violations"]
            violations = [
                (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]]) for violation in found
            ]
            assert violations == [], scheme
        for width in (360, 768, 3840):
            page.set_viewport_size({"width": width, "height": max(700, width * 9 // 16)})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.screenshot(path=SHOTS / f"{name}-{width}.png")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_hostile_evidence_runs_no_script(browser: Browser, tmp_path: Path, script: bool) -> None:
    with opened(browser, tmp_path, page_of(hostile()), java_script_enabled=script) as seen:
        if script:
            seen.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for element in seen.page.locator(".picture a, .command button").all()[:30]:
                element.dispatch_event("click")
                element.dispatch_event("mouseover")
            assert seen.page.evaluate("typeof window.hacked") == "undefined"
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert seen.page.locator("img").count() == 0
        assert seen.page.locator("script").count() == 1


def test_the_policy_stops_a_script_that_got_in(browser: Browser, tmp_path: Path) -> None:
    """The second line of defence, shown by breaking the first."""
    path = tmp_path / "broken.html"
    text = html.render(page_of(recorded("iptables", "wrong-port")))
    path.write_text(text.replace("<main>", "<main><script>window.hacked=1</script><img src='http://192.0.2.1/x'>"))
    context = browser.new_context()
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(path.as_uri())
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert sum("Content Security Policy" in text for text in refused) >= 2
    context.close()


def test_a_command_is_copied_whole(browser: Browser, tmp_path: Path) -> None:
    options = {"permissions": ["clipboard-read", "clipboard-write"]}
    with opened(browser, tmp_path, page_of(recorded("iptables", "wrong-port")), **options) as seen:
        first = seen.page.locator(".command").first
        first.locator("button").click()
        first.locator("button", has_text="copied").wait_for()
        assert seen.page.evaluate("navigator.clipboard.readText()") == first.locator("code").inner_text()


def test_paper_shows_what_a_click_would(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, page_of(recorded("iptables", "wrong-port"))) as seen:
        before = seen.page.locator("details[open]").count()
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.locator("details:not([open])").count() == 0
        seen.page.emulate_media(media="print")
        assert not seen.page.locator(".command button").first.is_visible()
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.locator("details[open]").count() == before


def test_any_two_resolvers_stand_side_by_side(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, _resolve()) as seen:
        names = seen.page.locator(".ladders .ladder h3")
        assert names.count() == 2
        before = names.nth(1).inner_text()
        seen.page.locator(".pickers select").nth(1).select_option(label="Go")
        assert names.nth(1).inner_text() != before
        assert names.nth(1).inner_text().endswith("Go")


def test_a_timeline_zooms_moves_and_tells_exact_times(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, timeline(40)) as seen:
        page = seen.page
        canvas = page.locator("canvas[data-drawn='bars']")
        canvas.wait_for()
        assert canvas.get_attribute("data-seen") == "40"
        page.get_by_role("button", name="zoom in").click()
        page.locator("canvas:not([data-seen='40'])").wait_for()
        page.get_by_role("button", name="the whole time").click()
        page.locator("canvas[data-seen='40']").wait_for()
        box = canvas.bounding_box()
        assert box is not None
        # web-1's first connection begins at 0 s and takes 0.5 s of 12; its row is the first of its band.
        page.mouse.move(box["x"] + box["width"] * 0.02, box["y"] + 16)
        assert "from +0.0000 s to +0.5000 s (0.5000 s)" in page.locator(".hint").inner_text()
        canvas.focus()
        page.keyboard.press("+")
        page.locator("canvas:not([data-seen='40'])").wait_for()


def test_sixty_thousand_connections_are_drawn_as_density_and_single_ones_when_near(
    browser: Browser, tmp_path: Path
) -> None:
    document = timeline(60_000)
    assert len(html.render(document).encode()) < 1_500_000 + 2_000_000
    with opened(browser, tmp_path, document) as seen:
        seen.page.locator("canvas[data-drawn='density']").wait_for()
        seen.page.evaluate("document.querySelector('.timeline').view(3, 3.2)")
        seen.page.locator("canvas[data-drawn='bars']").wait_for()
