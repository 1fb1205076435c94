"""All inputs judged again with every sentence replaced by one placeholder: nothing but the sentences changes."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from svcpath.reports.records import Report
from svcpath.reports.views import diagnosis, diagnosis_page
from svcpath.status import Status
from tests.fixtures.inputs import Input, folders, made, public, recordings
from tests.fixtures.wordless import PLACEHOLDER, wordless

GROUPS: dict[str, Callable[[], Iterator[Input]]] = {
    "public": public,
    "folders": folders,
    "made": made,
    "recordings": recordings,
}
#: Fields of the report that hold texts for people.
WORDS = frozenset({"sentence", "summary", "share", "details", "remedy", "cause", "what", "why", "reason"})
#: Of the picture, whose texts are the objects' own words.
NOT_WORDS = frozenset({"path", "backends", "planes"})
#: Shown beside the verdict, and put in order by its words where its times are equal.
NOT_JUDGED = "changes"


def _texts(value: Any) -> Iterator[str]:
    """Every text for people in a report as plain data."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in WORDS:
                yield from (text for text in (inner if isinstance(inner, list | tuple) else [inner]) if text)
            elif key not in NOT_WORDS:
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _shape(value: Any, key: str = "") -> Any:
    """A report as plain data, with only this left of its texts: whether there is one, and how many."""
    if key == NOT_JUDGED:
        return None
    if isinstance(value, dict):
        if key in NOT_WORDS:
            return value
        return {name: _hidden(inner) if name in WORDS else _shape(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shape(inner, key) for inner in value] if key not in NOT_WORDS else value
    return value


def _hidden(text: Any) -> Any:
    return len(text) if isinstance(text, list | tuple) else bool(text)


def _marks(value: Any) -> list[str]:
    """The statuses of a Document, in its order."""
    if isinstance(value, Status):
        return [value.value]
    if isinstance(value, enum.Enum | str) or value is None:
        return []
    if isinstance(value, msgspec.Struct):
        return [status for name in value.__struct_fields__ for status in _marks(getattr(value, name))]
    if dataclasses.is_dataclass(value):
        return [status for field in dataclasses.fields(value) for status in _marks(getattr(value, field.name))]
    if isinstance(value, list | tuple):
        return [status for inner in value for status in _marks(inner)]
    return []


def _differences(before: Any, after: Any, at: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _differences(before.get(key), after.get(key), f"{at}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{at}[{number}]")
    elif before != after:
        yield f"{at}: {before!r} -> {after!r}"


def _compared(found: Input, plain: Report, bare: Report) -> Iterator[str]:
    rows = _differences(_shape(msgspec.to_builtins(plain)), _shape(msgspec.to_builtins(bare)))
    yield from (f"{found.name}{row}" for row in rows)
    for view in (diagnosis.document, diagnosis_page.page):
        if (old := _marks(view(plain))) != (new := _marks(view(bare))):
            yield f"{found.name} statuses of {view.__module__}: {old} -> {new}"


@pytest.mark.parametrize("group", GROUPS)
def test_without_words_all_inputs_get_the_same_verdict_and_marks(group: str) -> None:
    inputs = list(GROUPS[group]())
    plain = [found.report() for found in inputs]
    with wordless():
        bare = [found.report() for found in inputs]
    assert {word for report in bare for word in _texts(msgspec.to_builtins(report))} <= {PLACEHOLDER}
    different = [row for rows in map(_compared, inputs, plain, bare) for row in rows]
    assert not different, "\n".join(different[:60])


def test_the_placeholder_arrives_and_goes_again() -> None:
    (found, *_) = public()
    before = found.report()
    with wordless():
        bare = found.report()
    assert set(_texts(msgspec.to_builtins(bare))) == {PLACEHOLDER}
    assert found.report() == before
    assert PLACEHOLDER not in set(_texts(msgspec.to_builtins(before)))
