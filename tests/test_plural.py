import pytest

from svcpath.plural import count


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "endpoint", "1 endpoint"),
        (0, "endpoint", "0 endpoints"),
        (2, "query", "2 queries"),
        (3, "address", "3 addresses"),
        (2, "day", "2 days"),
        (10_000, "table entry", "10,000 table entries"),
        (2, "EndpointSlice", "2 EndpointSlices"),
    ],
)
def test_a_noun_agrees_with_its_number(number: int, noun: str, text: str) -> None:
    assert count(number, noun) == text
