"""An address has one text form, as the standard library gives it."""

from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.formats.addresses import address_of

NUMBERS = st.sampled_from(
    ("0", "1", "9", "10", "01", "00", "99", "100", "199", "200", "249", "250", "255", "256", "1000", "")
)
WORDS = st.ip_addresses().map(str) | st.lists(NUMBERS, min_size=3, max_size=5).map(".".join) | st.text(max_size=12)


@given(WORDS)
def test_the_quick_way_is_the_standard_library_s(word: str) -> None:
    try:
        plain = str(ipaddress.ip_address(word))
    except ValueError:
        plain = ""
    assert address_of(word) == plain
