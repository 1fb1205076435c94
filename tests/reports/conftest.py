"""A real browser for the tests that need one: Debian's Chromium, driven by Playwright's client without its downloads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Scheme = Literal["light", "dark"]

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def _missing(what: str) -> NoReturn:
    """A reason to skip on a user's machine, a failure where every kind of test has to run."""
    if os.environ.get("SVCPATH_CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        _missing("no chromium: apt-get install chromium")
    try:
        import axe_playwright_python.sync_playwright
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        _missing(f"no {error.name}: make .venv/.browser")
    assert axe_playwright_python.sync_playwright.Axe
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()
