"""Takes the README's pictures again: ``python -m tests.reports.write_images`` (needs `make .venv/.browser`, chromium)."""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from svcpath.reports.renderers import html
from tests.reports.conftest import FLAGS, Scheme
from tests.reports.test_browser import DOCUMENTS, ROOT

#: Name of the picture, document, colour scheme, height in pixels.
PICTURES: tuple[tuple[str, str, Scheme, int], ...] = (
    ("diagnose", "nftables-wrong-port", "light", 720),
    ("resolve", "resolve", "light", 860),
    ("backends", "stale", "dark", 800),
)

#: A PNG made smaller: the browser itself writes WebP.
SHRINK = """async (png) => {
  const image = new Image();
  image.src = png;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.86);
}"""


def picture(browser: Browser, document: str, scheme: Scheme, height: int, folder: Path) -> bytes:
    path = folder / f"{document}.html"
    path.write_text(html.render(DOCUMENTS[document]()), "utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
    page.goto(path.as_uri())
    if document == "stale":
        # The table of backends right under the picture: close what stands between.
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false")
        page.evaluate("scrollTo(0, document.querySelector('.picture').offsetTop - 16)")
    png = base64.b64encode(page.screenshot()).decode()
    page.goto("about:blank")
    url: str = page.evaluate(SHRINK, f"data:image/png;base64,{png}")
    page.close()
    return base64.b64decode(url.partition(",")[2])


def main() -> None:
    target = ROOT / "docs" / "images"
    target.mkdir(exist_ok=True)
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, document, scheme, height in PICTURES:
            (target / f"{name}.webp").write_bytes(picture(browser, document, scheme, height, Path(folder)))
        browser.close()


if __name__ == "__main__":
    main()
