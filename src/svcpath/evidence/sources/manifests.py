"""Files as a Source that also knows where each field stands, for findings that name file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from svcpath.evidence.formats.places import Places
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.memory import BytesSource


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


class ManifestBytes(BytesSource):
    """The same over content that is in memory: what an API server answered."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.places = Places.of(files.items())
        super().__init__(files)
