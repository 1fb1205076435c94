"""YAML as Kubernetes reads it, with the position of every node kept.

Scalars resolve as in sigs.k8s.io/yaml v1.6 (goyaml.v2/resolve.go): yes/no/on/off/y/n are booleans, a leading zero is
octal, no base-60 numbers, dates stay text. Documents part at lines that start with ``---``, as
k8s.io/apimachinery/pkg/util/yaml cuts streams, so that a broken document does not take its neighbours along. A key that
occurs twice is an error (kubectl's strict validation). libyaml gives events, which are put together here without
recursion, so that nesting and alias bombs meet a limit and not the C stack.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.formats import limits

#: libyaml's event parser; PyYAML's own, some five times slower, where it was built without libyaml.
_Parser: Any = getattr(yaml, "CLoader", yaml.SafeLoader)

Step = str | int


@dataclass(slots=True)
class _Place:
    line: int
    column: int
    children: dict[Step, _Place] | None = None


class Positions(msgspec.Struct, frozen=True):
    """Where each value of a document stands: line and column, from 1, of a value's first character."""

    _root: _Place

    def at(self, path: Sequence[Step]) -> tuple[int, int]:
        """Position of the value at ``path``, or of its nearest ancestor that the text has."""
        place = self._root
        for step in path:
            child = (place.children or {}).get(step)
            if child is None:
                break
            place = child
        return place.line, place.column


class YamlDocument(msgspec.Struct, frozen=True):
    """One document: plain dicts with str keys, lists, str, int, float, bool, None."""

    value: Any
    positions: Positions
    line: int


_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INT_DIGITS = 40


def scalar(text: str) -> Any:
    """The value of a plain (unquoted) scalar."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if not (first.isdigit() or first in "+-.") or not first.isascii():
        return text
    plain = text.replace("_", "") if first != "." else text
    integer = _INTEGER.match(plain)
    if integer and len(plain) <= _INT_DIGITS:
        sign, hexadecimal, binary, octal, decimal = integer.groups()
        if hexadecimal is not None:
            number = int(hexadecimal, 16)
        elif binary is not None:
            number = int(binary, 2)
        elif octal is not None:
            number = int(octal, 8)
        else:
            number = int(decimal)
        return -number if sign == "-" else number
    if _FLOAT.match(plain):
        value = float(plain)
        if math.isinf(value):
            return text
        # The API machinery sees JSON, where an integral float is written without a point.
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    return text


_TAG = "tag:yaml.org,2002:"


def _tagged(tag: str | None, text: str, plain: bool, place: _Place) -> Any:
    if tag is None or tag == "!":
        return scalar(text) if plain and tag is None else text
    kind = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
    if kind in ("str", "binary", "timestamp"):
        return text
    if kind in ("int", "float", "bool", "null"):
        value = scalar(text)
        fits = {
            "int": isinstance(value, int) and not isinstance(value, bool),
            "float": isinstance(value, int | float) and not isinstance(value, bool),
            "bool": isinstance(value, bool),
            "null": value is None,
        }[kind]
        if fits:
            return value
        raise FormatError(f"{text!r} is no !!{kind}", line=place.line, column=place.column)
    return text


def _key(value: Any, place: _Place) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    raise FormatError("a mapping key must be text, a number or a boolean", line=place.line, column=place.column)


class _MergeKey:
    """Stands for the key ``<<`` while a mapping is put together."""


_MERGE = _MergeKey()


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    value: dict[str, Any] | list[Any]
    place: _Place
    anchor: str | None
    nodes_before: int
    key: Any = None
    has_key: bool = False
    merges: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Anchored:
    value: Any
    place: _Place
    nodes: int


class _Builder:
    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.nodes = 0
        self.root: tuple[Any, _Place] | None = None

    def place(self, event: Any) -> _Place:
        mark = event.start_mark
        return _Place(mark.line + self.first_line, mark.column + 1)

    def count(self, nodes: int, place: _Place) -> None:
        self.nodes += nodes
        if self.nodes > limits.MAX_NODES:
            raise FormatError(
                f"aliases expand to more than {limits.MAX_NODES} nodes", line=place.line, column=place.column
            )

    def open(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        place = self.place(event)
        if len(self.stack) >= limits.MAX_DEPTH:
            raise FormatError(f"nested deeper than {limits.MAX_DEPTH} levels", line=place.line, column=place.column)
        self.count(1, place)
        place.children = {}
        self.stack.append(_Open(value, place, event.anchor, self.nodes - 1))

    def close(self) -> None:
        top = self.stack.pop()
        if top.merges and isinstance(top.value, dict):
            self.merge(top)
        if top.anchor:
            self.anchors[top.anchor] = _Anchored(top.value, top.place, self.nodes - top.nodes_before)
        self.add(top.value, top.place)

    def merge(self, top: _Open) -> None:
        assert isinstance(top.value, dict)
        for source in top.merges:
            for mapping in source if isinstance(source, list) else [source]:
                if not isinstance(mapping, dict):
                    raise FormatError(
                        "map merge requires a mapping or a sequence of mappings",
                        line=top.place.line,
                        column=top.place.column,
                    )
                self.count(len(mapping), top.place)
                for key, value in mapping.items():
                    top.value.setdefault(key, value)

    def add(self, value: Any, place: _Place) -> None:
        if not self.stack:
            self.root = (value, place)
            return
        top = self.stack[-1]
        children = top.place.children
        assert children is not None
        if isinstance(top.value, list):
            children[len(top.value)] = place
            top.value.append(value)
        elif not top.has_key:
            top.key = value if value is _MERGE else _key(value, place)
            top.has_key = True
            if top.key is not _MERGE and top.key in top.value:
                raise FormatError(f"key {top.key!r} is given twice", line=place.line, column=place.column)
        elif top.key is _MERGE:
            top.merges.append(value)
            top.has_key = False
        else:
            children[top.key] = place
            top.value[top.key] = value
            top.has_key = False

    def scalar(self, event: Any) -> None:
        mark = event.start_mark
        place = _Place(mark.line + self.first_line, mark.column + 1)
        self.nodes += 1
        if self.nodes > limits.MAX_NODES:
            self.count(0, place)
        text = event.value
        plain = bool(event.implicit[0])
        if plain and text == "<<":
            top = self.stack[-1] if self.stack else None
            if top and isinstance(top.value, dict) and not top.has_key:
                self.add(_MERGE, place)
                return
        value = _tagged(event.tag, text, plain, place)
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, place, 1)
        self.add(value, place)

    def alias(self, event: Any) -> None:
        place = self.place(event)
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            raise FormatError(f"unknown anchor {event.anchor!r}", line=place.line, column=place.column)
        self.count(anchored.nodes, place)
        self.add(anchored.value, _Place(place.line, place.column, anchored.place.children))


def _build(text: str, first_line: int) -> YamlDocument | None:
    builder = _Builder(first_line)
    parser = None
    try:
        parser = _Parser(text)
        while True:
            event = parser.get_event()
            if event is None or isinstance(event, yaml.StreamEndEvent):
                break
            if isinstance(event, yaml.ScalarEvent):
                builder.scalar(event)
            elif isinstance(event, yaml.MappingStartEvent):
                builder.open(event, {})
            elif isinstance(event, yaml.SequenceStartEvent):
                builder.open(event, [])
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                builder.close()
            elif isinstance(event, yaml.AliasEvent):
                builder.alias(event)
            elif isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FormatError(
            error.problem or "not YAML",
            line=mark.line + first_line if mark else first_line,
            column=mark.column + 1 if mark else 0,
        ) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise FormatError(f"not YAML: {str(error).splitlines()[0]}", line=first_line) from error
    finally:
        if parser is not None and hasattr(parser, "dispose"):
            parser.dispose()
    if builder.root is None:
        return None
    value, place = builder.root
    return YamlDocument(value, Positions(place), place.line)


_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """The texts between separator lines, each with the line it starts at; blank ones left out."""
    line = 1
    start = 0
    bounds = [match.start() for match in _SEPARATOR.finditer(text)]
    for bound in [*bounds, len(text)]:
        chunk = text[start:bound]
        body = chunk[3:] if chunk.startswith("---") else chunk
        if not _blank(body):
            yield chunk, line
        line += chunk.count("\n")
        start = bound


def _blank(body: str) -> bool:
    return all(not line.strip() or line.lstrip()[0] in "#%" or line.strip() == "..." for line in body.split("\n"))


def documents(text: str) -> Iterator[YamlDocument | FormatError]:
    """Each document of a stream, or the error that it is. Raises TooLarge for the whole."""
    if len(text) > limits.MAX_YAML:
        raise TooLarge(f"YAML of more than {limits.MAX_YAML // limits.MIB} MiB: save it as JSON, or split it")
    for chunk, line in _chunks(text):
        try:
            document = _build(chunk, line)
        except FormatError as error:
            yield error
            continue
        if document is not None:
            yield document


def load(text: str) -> YamlDocument:
    """The only document of a text. Raises FormatError for none, several or a broken one."""
    found = list(documents(text))
    if len(found) != 1:
        raise FormatError(f"one YAML document expected, {len(found)} found")
    if isinstance(found[0], FormatError):
        raise found[0]
    return found[0]
