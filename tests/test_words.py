"""One word per thing: the words that are not used appear nowhere, and a class name stands for one thing."""

from __future__ import annotations

import ast
import collections
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from svcpath.cli.app import COMMANDS, tree
from tests.words import ROOT, WORDS, places

ROOMS = sorted(
    folder.relative_to(ROOT).as_posix()
    for start in ("src/svcpath", "lab/src/svcpath_lab", "tests")
    for folder in (ROOT / start).iterdir()
    if folder.name not in ("__pycache__", "data") and (folder.is_dir() or folder.suffix == ".py")
)
#: Programs that run elsewhere: each is alone where it runs.
ALONE = ("/scripts/", "/resources/")
RECORDS = "src/svcpath/reports/records.py"


@pytest.mark.parametrize("room", [*ROOMS, "docs", "deploy", *(path.name for path in sorted(ROOT.glob("*.md")))])
def test_the_words_that_are_not_used_appear_nowhere(room: str) -> None:
    found = [str(place) for place in places(room)]
    assert found == [], "\n".join(found)


def test_the_list_finds_an_old_word(tmp_path: Path) -> None:
    """Each pattern meets the very word that it is there for."""
    olds = (
        "Mend", "This would prove it wrong", "falsifier", "standing", "What the findings rest on", "Changed lately",
        "They part at candidate 4", "It hangs on", "not tested", "what each lack costs", "Time for all looks together",
        "slice and data plane", "stop signal", "orderly end", "The clock of one deletion", "of no known kind", "--as-user",
        "counter-world", "twin", "drawn by lot", "made anew", "told", "nobody", "for ever", "widths.py",
    )  # fmt: skip
    unmet = [word.instead for word in WORDS if not any(word.pattern.search(old) for old in olds)]
    assert unmet == []
    missed = [old for old in olds if not any(word.pattern.search(old) for word in WORDS)]
    assert missed == []


# --- contracts and help ----------------------------------------------------------------------------------------------


def _schema_words(value: Any) -> Iterator[str]:
    """Names of fields and values of enums of a JSON Schema, and its descriptions."""
    if isinstance(value, dict):
        yield from value.get("properties", {})
        yield from (word for word in value.get("enum", ()) if isinstance(word, str))
        yield str(value.get("description", ""))
        for inner in value.values():
            yield from _schema_words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _schema_words(inner)


@pytest.mark.parametrize(
    "schema", sorted((ROOT / "src/svcpath/reports/schemas").glob("*.json")), ids=lambda path: path.name
)
def test_no_contract_has_an_old_word(schema: Path) -> None:
    found = {
        text for text in _schema_words(json.loads(schema.read_text())) for word in WORDS if word.pattern.search(text)
    }
    assert found == set()


def _helps(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=" ".join(("svcpath", *words)))
    yield " ".join(words), command.get_help(context)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _helps(inner, (*words, name))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_help_has_an_old_word(name: str) -> None:
    root = tree([name])
    for words, text in _helps(root.commands[name], (name,)):
        found = [word.instead for word in WORDS if word.pattern.search(text)]
        assert found == [], words


#: Verbs and names that end like a plural.
_NO_PLURAL = frozenset(
    {"is", "was", "has", "does", "holds", "looks", "finds", "agrees", "this", "class", "address", "s", "ms"}
)


@pytest.mark.parametrize(
    "path", sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]), ids=lambda path: path.name
)
def test_one_thing_is_never_in_the_plural(path: Path) -> None:
    found = [
        match[0]
        for match in re.finditer(r"(?<![\w.,/:-])(?<!\| )1 ([a-z]+s)\b", path.read_text())
        if match[1] not in _NO_PLURAL
    ]
    assert found == []


# --- classes ---------------------------------------------------------------------------------------------------------


def _classes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for start in ("src", "lab/src"):
        for path in sorted((ROOT / start).rglob("*.py")):
            relative = path.relative_to(ROOT).as_posix()
            if any(part in f"/{relative}" for part in ALONE):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(relative)
    return found


def test_a_class_name_stands_for_one_thing() -> None:
    """A record of the report has the name of what it records; no other name is there twice."""
    doubled = {
        name: homes
        for name, homes in _classes().items()
        if len(homes) > 1 and not (len(homes) == 2 and RECORDS in homes)
    }
    assert doubled == {}


def test_a_record_has_the_name_of_what_it_records() -> None:
    own = {"Record", "Report", "Target", "Layer"}
    records = {name for name, homes in _classes().items() if RECORDS in homes}
    alone = {name for name in records if len(_classes()[name]) == 1}
    assert alone - own == set()
