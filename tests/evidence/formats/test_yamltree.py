from __future__ import annotations

import math
from typing import Any

import pytest
import yaml

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.formats import limits, yamltree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("No", False),
        ("on", True),
        ("OFF", False),
        ("y", True),
        ("N", False),
        ("true", True),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 15),
        ("0b101", 5),
        ("-0b101", -5),
        ("0", 0),
        ("08", 8),
        ("1:30", "1:30"),
        ("22:22", "22:22"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000),
        ("1.0", 1),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("10.0.0.1", "10.0.0.1"),
        ("0x", "0x"),
        ("1e999", "1e999"),
        ("18446744073709551616", 18446744073709551616),
        ('"yes"', "yes"),
        ("'8080'", "8080"),
        ("!!str 8080", "8080"),
        ("!!int 8080", 8080),
        ("!!float 1", 1),
        ("! 12", "12"),
    ],
)
def test_scalars_resolve_as_the_kubernetes_parser_does(text: str, value: Any) -> None:
    found = yamltree.load(f"key: {text}\n").value["key"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(yamltree.load("a: .NaN").value["a"])


@pytest.mark.parametrize(("key", "name"), [("on", "true"), ("8080", "8080"), ("1.5", "1.5"), ("'x'", "x")])
def test_keys_become_text(key: str, name: str) -> None:
    assert list(yamltree.load(f"{key}: 1").value) == [name]


def test_merge_keys_fill_in_what_is_not_given() -> None:
    value = yamltree.load("base: &b {a: 1, b: 2}\nother:\n  <<: *b\n  a: 3\n").value
    assert value["other"] == {"a": 3, "b": 2}
    several = yamltree.load("x: &x {a: 1}\ny: &y {a: 2, b: 2}\nz: {<<: [*x, *y]}\n").value
    assert several["z"] == {"a": 1, "b": 2}


def test_positions_are_found_by_path() -> None:
    document = yamltree.load("\nspec:\n  ports:\n  - port: 80\n    name: http\n")
    assert document.positions.at(["spec", "ports", 0, "name"]) == (5, 11)
    assert document.positions.at(["spec", "ports", 0]) == (4, 5)
    assert document.positions.at(["spec", "ports", 0, "absent"]) == (4, 5)


def test_positions_count_from_the_start_of_the_file() -> None:
    second = list(yamltree.documents("a: 1\n---\n# note\nb: 2\n"))[1]
    assert isinstance(second, yamltree.YamlDocument)
    assert second.positions.at(["b"]) == (4, 4)


def test_a_broken_document_leaves_its_neighbours() -> None:
    first, second, third = yamltree.documents("a: 1\n---\nb: {\n---\nc: 3\n")
    assert isinstance(first, yamltree.YamlDocument)
    assert isinstance(second, FormatError)
    assert isinstance(third, yamltree.YamlDocument)
    assert third.value == {"c": 3}


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "given twice", (3, 1)),
        ("a: &a [*a]\n", "unknown anchor", (1, 8)),
        ("a: *b\n", "unknown anchor", (1, 4)),
        ("a: !!int x\n", "no !!int", (1, 4)),
        ("a:\n  - b\n c: d\n", "", (3, 2)),
        ("<<: 1\n", "merge", (1, 1)),
        ("a: \ud800\n", "not YAML", (1, 0)),
        ("? [1]\n: 2\n", "mapping key", (1, 3)),
    ],
)
def test_errors_say_where(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(FormatError) as caught:
        yamltree.load(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == place


def test_an_alias_bomb_is_refused() -> None:
    levels = "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9))
    with pytest.raises(FormatError, match="aliases expand"):
        yamltree.load("a: &a [x, x, x, x, x, x, x, x, x]\n" + levels)


@pytest.mark.parametrize("text", ["[" * 5000, "- " * 5000, "{a: " * 5000, "? " * 5000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        yamltree.load(text)


def test_yaml_above_the_limit_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_YAML", 10)
    with pytest.raises(TooLarge, match="YAML of more than"):
        list(yamltree.documents("a: 1\n" * 10))


@pytest.mark.parametrize("text", ["a: &x {b: 1}\nc: *x\n---\n- 010\n- yes\n", "a: [", "[" * 500, "a: 1\na: 2\n"])
def test_both_parsers_of_pyyaml_give_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> list[Any]:
        return [
            document.value if isinstance(document, yamltree.YamlDocument) else "error"
            for document in yamltree.documents(text)
        ]

    fast = outcome()
    monkeypatch.setattr(yamltree, "_Parser", yaml.SafeLoader)
    assert outcome() == fast
