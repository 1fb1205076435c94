"""Where a field of a manifest stands: file, line and column, for findings that name a line.

Objects are found again by kind, namespace and name among the documents of their file; YAML positions come from yamltree,
and JSON is read as the YAML that it nearly is. A field that the text does not have gives its nearest ancestor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.formats import text as texts
from svcpath.evidence.formats import yamltree

Key = tuple[str, str, str, str]

#: Larger files are dumps of a cluster, where the line of a field is of no help.
LARGEST = 2 * 1024 * 1024


class _Placed(msgspec.Struct, frozen=True):
    positions: yamltree.Positions
    prefix: tuple[yamltree.Step, ...]
    value: Any


class Places:
    """Positions of every object of some files."""

    def __init__(self) -> None:
        self._placed: dict[Key, list[_Placed]] = {}

    @classmethod
    def of(cls, files: Iterable[tuple[str, bytes]]) -> Places:
        """``files`` are (path, content). What is no YAML or JSON has no places; nothing is raised."""
        places = cls()
        for path, data in files:
            places.add(path, data)
        return places

    def add(self, path: str, data: bytes) -> None:
        if len(data) > LARGEST:
            return
        try:
            text = texts.decode(data).text
            for document in yamltree.documents(text):
                if not isinstance(document, FormatError):
                    self._document(path, document)
        except (FormatError, TooLarge):
            return

    def _document(self, path: str, document: yamltree.YamlDocument) -> None:
        value = document.value
        if not isinstance(value, dict):
            return
        items = value.get("items")
        if isinstance(items, list) and str(value.get("kind") or "List").endswith("List"):
            default = str(value.get("kind") or "").removesuffix("List")
            for index, item in enumerate(items):
                self._object(path, document, ("items", index), item, default)
        else:
            self._object(path, document, (), value, "")

    def _object(
        self, path: str, document: yamltree.YamlDocument, prefix: tuple[yamltree.Step, ...], value: Any, kind: str
    ) -> None:
        if not isinstance(value, dict):
            return
        metadata = value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        key = (
            path,
            str(value.get("kind") or kind),
            str(metadata.get("namespace") or ""),
            str(metadata.get("name") or ""),
        )
        self._placed.setdefault(key, []).append(_Placed(document.positions, prefix, value))

    def at(
        self, path: str, kind: str, namespace: str, name: str, field: Sequence[str | int] = (), line: int = 0
    ) -> tuple[int, int]:
        """Line and column, from 1, of a field's value; (``line``, 0) when the object's file is not known.

        ``line`` is where the object starts; it tells objects of one name apart.
        """
        found = self._placed.get((path, kind, namespace, name))
        if not found:
            return line, 0
        placed = next((node for node in found if node.positions.at(node.prefix)[0] == line), found[0])
        return placed.positions.at((*placed.prefix, *field))

    def value(self, path: str, kind: str, namespace: str, name: str) -> Any:
        """The object as plain data, for fields that no record declares; None when it is not there."""
        found = self._placed.get((path, kind, namespace, name))
        return found[0].value if found else None
