"""Evidence in files and folders: the I/O. What the bytes mean is decided in evidence.formats.

Folders are walked in sorted order; symbolic links to folders are not followed and special files are not opened, so that
a hostile folder can neither loop nor block. A file that can't be read is named with the reason; one file never ends it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from svcpath.errors import SourceUnavailable
from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.formats import limits
from svcpath.evidence.formats.evidence import EvidenceIndex, WatchEvent
from svcpath.evidence.formats.item import Item, unplaced
from svcpath.evidence.sources.worth import usable

_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


class FilesSource:
    """A Source over files and folders. Paths of provenance are relative to the folder given, or to the file's folder;
    with several arguments each is prefixed with the argument's own name, so that equal names stay apart."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        """Reads everything at once. Raises SourceUnavailable when a path that was named does not exist."""
        self._refused: list[tuple[str, Item]] = []
        self.evidence = EvidenceIndex.of(self._read(paths), self._refused)

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return [self.evidence.meet(need) for need in needs]

    def settled(self, request: Request) -> Request:
        """Raises SourceUnavailable when no file could be used."""
        usable(self.inventory())
        return request

    def inventory(self) -> tuple[Observation[Any], ...]:
        """Every observation, in order of path and place in the file, Unplaced and Damaged ones included."""
        return self.evidence.observations

    def watch_events(self) -> tuple[WatchEvent, ...]:
        """All events of recorded watches, in recorded order per file."""
        return self.evidence.watched

    def _read(self, paths: Sequence[str | Path]) -> Iterator[tuple[str, bytes]]:
        for name, path in _named(paths):
            data = self._bytes(name, path)
            if data is not None:
                yield name, data

    def _bytes(self, name: str, path: Path) -> bytes | None:
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                why = "no regular file"
            elif found.st_size > limits.MAX_FILE:
                why = f"larger than {limits.MAX_FILE // limits.MIB} MiB: split it"
            else:
                return path.read_bytes()
            size = found.st_size
        except OSError as error:
            why, size = f"can't be read: {error.strerror or error}", 0
        self._refused.append((name, unplaced(why, size)))
        return None


def _named(paths: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """(relative name, path) of every file, sorted; a file reached twice counts once."""
    found: dict[str, Path] = {}
    seen: set[Path] = set()
    for given in paths:
        root = Path(given)
        if not root.exists():
            raise SourceUnavailable(f"{given}: no such file or folder")
        prefix = "" if len(paths) == 1 else _label(root)
        for relative, path in _files(root):
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
            name = "/".join(part for part in (prefix, relative) if part)
            while name in found:
                name += "'"
            found[name] = path
            if len(found) > limits.MAX_FILES:
                raise SourceUnavailable(f"{given}: more than {limits.MAX_FILES} files: name the folder that is meant")
    return sorted(found.items())


def _label(root: Path) -> str:
    if root.is_dir():
        return root.name or root.resolve().name
    return ""


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    if not root.is_dir():
        yield root.name, root
        return
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            path = Path(folder) / name
            yield path.relative_to(root).as_posix(), path
