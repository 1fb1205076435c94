"""Equal addresses are equal strings: one text form, and one address to compare by."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.facts.addresses import address_of, canonical, family_of, text_form

NUMBERS = st.sampled_from(
    ("0", "1", "9", "10", "01", "00", "99", "100", "199", "200", "249", "250", "255", "256", "1000", "")
)
MAPPED = st.ip_addresses(v=4).flatmap(
    lambda v4: st.sampled_from((f"::ffff:{v4}", f"::FFFF:{int(v4) >> 16:x}:{int(v4) & 0xFFFF:x}"))
)
WORDS = (
    st.ip_addresses().map(str)
    | st.ip_addresses(v=6).map(lambda address: address.exploded.upper())
    | MAPPED
    | st.lists(NUMBERS, min_size=3, max_size=5).map(".".join)
    | st.text(max_size=12)
)


def _parsed(word: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(word)
    except ValueError:
        return None


@given(WORDS)
def test_the_quick_way_is_the_standard_library_s(word: str) -> None:
    parsed = _parsed(word)
    assert address_of(word) == ("" if parsed is None else str(parsed))
    assert family_of(word) == (0 if parsed is None else parsed.version)
    assert text_form(word) == (word if parsed is None else str(parsed))


@given(WORDS)
def test_the_canonical_form_is_the_address_and_ipv4_where_it_is_mapped(word: str) -> None:
    parsed = _parsed(word)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    assert canonical(word) == (word if parsed is None else str(mapped or parsed))
    assert canonical(canonical(word)) == canonical(word) == canonical(text_form(word))


@given(first=WORDS, second=WORDS)
def test_equal_addresses_and_no_others_are_equal_strings(first: str, second: str) -> None:
    former, latter = _parsed(first), _parsed(second)
    if former is not None and latter is not None:
        assert (text_form(first) == text_form(second)) == (former == latter)


@pytest.mark.parametrize(
    "text", ["", "10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1/32", "[::1]", "web.shop.svc", "anywhere"]
)
def test_what_is_no_address_stays(text: str) -> None:
    assert (canonical(text), text_form(text), address_of(text), family_of(text)) == (text, text, "", 0)


def test_a_mapped_address_keeps_its_family_in_facts_and_rules() -> None:
    mapped = "::ffff:10.96.0.10"
    assert canonical(mapped) == "10.96.0.10"
    assert ":" in address_of(mapped)
    assert family_of(mapped) == 6


def test_zones_stay() -> None:
    assert canonical("FE80::1%eth0") == text_form("FE80::1%eth0") == "fe80::1%eth0"
