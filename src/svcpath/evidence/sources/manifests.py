"""Files as a Source that also knows where each field stands, for findings that name file and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from svcpath.evidence.formats.places import Places
from svcpath.evidence.sources.files import FilesSource


class ManifestSource(FilesSource):
    """A FilesSource whose ``places`` give the line of a field."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        """Raises SourceUnavailable when a path that was named does not exist."""
        self.places = Places()
        super().__init__(paths)

    def _read(self, paths: Sequence[str | Path]) -> Iterator[tuple[str, bytes]]:
        for path, data in super()._read(paths):
            if path.endswith((".yaml", ".yml", ".json")) or b"\nkind:" in data[:65536] or data.startswith(b"kind:"):
                self.places.add(path, data)
            yield path, data
