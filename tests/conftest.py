"""What a test needs of the machine, in one place: left out with the reason where it is missing.

``SVCPATH_CI=1`` says that nothing may be left out: programs are then built or installed by the tests that need them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CI = os.environ.get("SVCPATH_CI") == "1"


def _lab_is_missing() -> str:
    """Why no practice cluster can be brought up here without a long build; empty if one can."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "svcpath" / "lab"
    if any(cache.glob("*/bin/kube-apiserver")) or CI:
        return ""
    return "needs the Kubernetes programs, which are built once: make lab"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = sys.platform == "linux" and os.geteuid() == 0
    lab = _lab_is_missing()
    for item in items:
        if not root and (item.get_closest_marker("root") or item.get_closest_marker("lab")):
            item.add_marker(pytest.mark.skip(reason="needs root on Linux (network namespaces)"))
        elif lab and item.get_closest_marker("lab"):
            item.add_marker(pytest.mark.skip(reason=lab))


#: Under this name a test's lines travel in its report, so that they arrive from xdist's workers too.
SAID = "closing in the summary"


@pytest.fixture
def say_in_summary(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Lines that a run shows at its end whatever the outcome: how much of the whole was tried, with which seed."""

    def say(text: str) -> None:
        record_property(SAID, text)

    return say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for group in terminalreporter.stats.values() for report in group]
    ended = [report for report in reports if isinstance(report, pytest.TestReport) and report.when == "teardown"]
    closing = [str(text) for process in ended for name, text in process.user_properties if name == SAID]
    if closing:
        terminalreporter.section("measured against the real thing")
        for text in closing:
            terminalreporter.write_line(text)
