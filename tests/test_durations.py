"""One grammar of durations: what it takes is what was written, and everything else is a usage error that says what to write."""

from __future__ import annotations

import math
import re

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath import durations
from svcpath.cli import live
from svcpath.cli.seconds import at_least, seconds
from svcpath.errors import UsageError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBERS = st.from_regex(r"\A(?:[0-9]{1,4}(?:\.[0-9]{0,3})?|\.[0-9]{1,3})\Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("30", 30.0), ("2.5", 2.5), ("0", 0.0), (".5", 0.5), ("5.", 5.0), (" 7 ", 7.0)),
        *(("500ms", 0.5), ("90s", 90.0), ("1m30s", 90.0), ("1h", 3600.0), ("1h1m1s1ms", 3661.001), ("1.5m", 90.0)),
    ],
)
def test_a_duration_is_read(text: str, expected: float) -> None:
    assert durations.seconds(text) == pytest.approx(expected)


@given(parts=st.lists(st.tuples(_NUMBERS, st.sampled_from(sorted(_UNITS))), min_size=1, max_size=4))
def test_parts_add_up_in_any_order(parts: list[tuple[str, str]]) -> None:
    text = "".join(number + unit for number, unit in parts)
    assert durations.seconds(text) == pytest.approx(sum(float(number) * _UNITS[unit] for number, unit in parts))
    assert durations.seconds("".join(number + unit for number, unit in reversed(parts))) == durations.seconds(text)


@given(number=_NUMBERS)
def test_a_plain_number_is_seconds(number: str) -> None:
    assert durations.seconds(number) == float(number) == durations.seconds(f"{number}s")


@given(text=st.text(max_size=12) | st.from_regex(r"[-+0-9.eEinfas mhd]{0,10}"))
def test_any_text_is_a_finite_duration_or_a_usage_error(text: str) -> None:
    try:
        found = durations.seconds(text)
    except UsageError:
        return
    assert math.isfinite(found)
    assert 0 <= found <= durations.LONGEST
    assert re.fullmatch(r"[0-9.msh]+", text.strip())


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "inf",
            "-inf",
            "nan",
            "-1",
            "-1s",
            "+5",
            "1e3",
            "1e999",
            "5x",
            "1d",
            "1 m",
            "1m 30s",
            "1m30",
            "ms",
            "٣",
        ),
        *("9" * 400, "9" * 400 + "h", "315360001"),
    ],
)
def test_what_is_no_duration_is_a_usage_error_everywhere(text: str) -> None:
    for reads in (durations.seconds, live.seconds):
        with pytest.raises(UsageError, match=r"no duration|out of range"):
            reads(text)
    for parses in (seconds, at_least(0.05)):
        with pytest.raises(click.BadParameter, match=r"no duration|out of range"):
            parses(text)


def test_bounds_are_the_options_own() -> None:
    assert at_least(0.05)("50ms") == 0.05
    with pytest.raises(click.BadParameter, match=r"0\.05 s"):
        at_least(0.05)("10ms")
    assert live.seconds("1h30m") == 5400.0
    for text in ("0", "25h"):
        with pytest.raises(UsageError, match="out of range"):
            live.seconds(text)
