"""A share in percent keeps a digit that says something: never 0 % for some, never 100 % for not all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.percent import percent, percent_of


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(1, 2), "50 %"),
        (Fraction(1, 3), "33.3 %"),
        (Fraction(1, 250), "0.4 %"),
        (Fraction(1, 3000), "0.03 %"),
        (Fraction(2999, 3000), "99.97 %"),
        (0.016, "1.6 %"),
        (0, "0 %"),
        (1, "100 %"),
    ],
)
def test_a_share_is_percent_with_the_digits_that_matter(share: Fraction | float, text: str) -> None:
    assert percent(share) == text


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_only_none_is_0_percent_and_only_all_is_100_percent(share: Fraction) -> None:
    assert (percent(share) == "0 %") == (share == 0)
    assert (percent(share) == "100 %") == (share == 1)


def test_a_contracts_share_is_shown_in_percent_and_other_text_as_it_is() -> None:
    assert percent_of("1/3") == "33.3 %"
    assert [percent_of(text) for text in ("", "a/b", "1/0")] == ["", "a/b", "1/0"]
