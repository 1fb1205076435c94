"""A page with 60,000 connections in a real browser: how long it takes to open, and the frames of a scripted pan.

The claims: open in under 3 s, and 95 of 100 frames within 50 ms.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from svcpath.reports.document import Connections, Document, Lane, LaneEvent, Span, Statement, Timeline
from svcpath.reports.renderers import html
from svcpath.status import Status
from tests.bench._machine import machine, version, write
from tests.reports.conftest import FLAGS

if TYPE_CHECKING:
    from playwright.sync_api import Page

CONNECTIONS = 60_000
OPENS, FRAME = 3.0, 50.0

#: Pans half the axis over the whole in 240 steps, a frame each; the 50th and 95th percentile and the longest, in ms.
PAN = """async () => {
  const section = document.querySelector(".timeline");
  const [start, end] = [Number(section.dataset.start), Number(section.dataset.end)];
  const taken = [];
  let last = performance.now();
  for (let i = 0; i < 240; i++) {
    const from = start + ((end - start) / 2) * (i / 240);
    section.view(from, from + (end - start) / 2);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    taken.push(now - last);
    last = now;
  }
  taken.sort((a, b) => a - b);
  return [taken[120], taken[228], taken[239]];
}"""


def drain() -> Document:
    """A drain of four Pods under 1,000 requests a second, their times drawn at random from a fixed seed."""
    lot = random.Random(1)
    starts = tuple(sorted(lot.uniform(0, 60) for _ in range(CONNECTIONS)))
    connections = Connections(
        starts=starts,
        lengths=tuple(lot.choice((0.005, 0.02, 0.1, 6.0)) * lot.uniform(0.5, 1.5) for _ in starts),
        outcome=tuple(lot.choices((0, 1, 2), (97, 2, 1))[0] for _ in starts),
        backend=tuple(lot.randrange(4) for _ in starts),
        outcomes=(("ok", Status.PASS), ("refused", Status.FAIL), ("http-error", Status.WARN)),
        backends=("web-1", "web-2", "web-3", "web-4"),
    )
    lanes = tuple(
        Lane(
            f"web-{i}", "Pods", (Span(i, i + 10, "preStop"),), (LaneEvent(i, "delete"), LaneEvent(i + 20, "grace ends"))
        )
        for i in range(4)
    )
    terms = (Span(0, 0.4, "endpoint propagation"), Span(10, 10.2, "shutdown"))
    picture = Timeline("On one axis", -2, 70, lanes, connections, terms)
    return Document("drain", (Statement(Status.PASS, "DRAINED", "nothing was lost"), picture), "timeline")


def measure(page: Page, path: Path) -> tuple[float, list[float]]:
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.locator("canvas[data-drawn]").wait_for()
    opened = time.perf_counter() - start
    frames: list[float] = page.evaluate(PAN)
    return opened, frames


def main() -> None:
    browser_path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser_path = None
    if browser_path is None:
        sys.stdout.write("page: not measured: needs chromium and `make .venv/.browser`\n")
        return
    text = html.render(drain())
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, "utf-8")
        browser = play.chromium.launch(executable_path=browser_path, args=FLAGS)
        found = [measure(browser.new_page(viewport={"width": 1280, "height": 900}), path) for _ in range(3)]
        browser.close()
    opened = min(seconds for seconds, _ in found)
    middle, most, longest = min((frames for _, frames in found), key=lambda frames: frames[1])
    write(
        "page",
        {
            "machine": machine(),
            "browser": version(browser_path, "--version"),
            "connections": CONNECTIONS,
            "bytes": len(text.encode()),
            "open s": round(opened, 3),
            "frame ms": {"median": round(middle, 1), "p95": round(most, 1), "longest": round(longest, 1)},
            "ratios": {
                "open, of 3 s": {"ratio": round(opened / OPENS, 3), "limit": 1.0},
                "95th percentile of frames in a pan, of 50 ms": {"ratio": round(most / FRAME, 3), "limit": 1.0},
            },
        },
    )


if __name__ == "__main__":
    main()
