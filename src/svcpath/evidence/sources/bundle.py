"""Bundles on disk: one tar.zst of the members that formats/bundles.py describes, and a bundle as a Source.

Nothing is unpacked to a disk. Links, devices, absolute paths, parent folders and names that occur twice are refused, and
so is anything above the limits; the decompressor's window is bounded too.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import zstandard

from svcpath.errors import FormatError, SourceUnavailable, TooLarge
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, unreadable
from svcpath.evidence.facts.request import Request
from svcpath.evidence.formats import limits
from svcpath.evidence.formats.bundles import Bundle, left_out, pack, unpack
from svcpath.evidence.formats.evidence import EvidenceIndex

MAGIC = b"\x28\xb5\x2f\xfd"
_WINDOW = 1 << 27
_LEVEL = 9
_MAX_MEMBERS = 20_000


def is_bundle(path: Path) -> bool:
    """Whether a file starts as a zstd stream does."""
    try:
        with path.open("rb") as stream:
            return path.is_file() and stream.read(4) == MAGIC
    except OSError:
        return False


def write(path: Path, bundle: Bundle) -> None:
    """Write a bundle, readable by its owner alone; a file that is there is replaced when the new one is whole."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in pack(bundle).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o600
            tar.addfile(entry, io.BytesIO(data))
    beside = path.with_name(path.name + ".part")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(zstandard.ZstdCompressor(level=_LEVEL).compress(buffer.getvalue()))
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise SourceUnavailable(f"can't write {path}: {error.strerror or error}") from error


def read(path: Path) -> Bundle:
    """Read a bundle. Raises SourceUnavailable, FormatError or TooLarge."""
    try:
        with path.open("rb") as stream:
            data = stream.read(limits.MAX_FILE + 1)
    except OSError as error:
        raise SourceUnavailable(f"can't read {path}: {error.strerror or error}") from error
    if len(data) > limits.MAX_FILE:
        raise TooLarge(f"{path}: a bundle of more than {limits.MAX_FILE // limits.MIB} MiB")
    try:
        return unpack(_members(_expanded(data)))
    except FormatError as error:
        inner = f"{path}: {error.path}" if error.path else str(path)
        raise FormatError(error.message, path=inner, line=error.line) from error


def _expanded(data: bytes) -> bytes:
    content = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(io.BytesIO(data)) as stream:
            while chunk := stream.read(1 << 20):
                content += chunk
                if len(content) > limits.MAX_EXPANDED:
                    raise TooLarge(f"the bundle expands to more than {limits.MAX_EXPANDED // limits.MIB} MiB")
    except zstandard.ZstdError as error:
        raise FormatError(f"no zstd stream, or a damaged one: {error}") from error
    return bytes(content)


def _members(data: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for entry in tar:
                name = PurePosixPath(entry.name)
                if not entry.isreg():
                    raise FormatError("is no regular file: a bundle holds none but these", path=entry.name)
                if name.is_absolute() or ".." in name.parts or "\0" in entry.name or "\\" in entry.name:
                    raise FormatError("leads out of the bundle", path=entry.name)
                if entry.name in found:
                    raise FormatError("occurs twice", path=entry.name)
                if len(found) >= _MAX_MEMBERS:
                    raise TooLarge(f"a bundle of more than {_MAX_MEMBERS} members")
                stream = tar.extractfile(entry)
                content = stream.read() if stream is not None else b""
                if len(content) != entry.size:
                    raise FormatError("is cut off", path=entry.name)
                found[entry.name] = content
    except (tarfile.TarError, EOFError, ValueError, OverflowError, OSError) as error:
        raise FormatError(f"no tar archive, or a damaged one: {error}") from error
    return found


_SUBJECT = ("kind", "namespace", "name", "service", "node", "pod", "container")


class BundleSource:
    """A bundle as a Source: what was asked then is answered as it was then; other Needs are met by what it holds."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._by_subject: dict[tuple[Any, ...], tuple[Observation[Any], ...]] = {}
        for need, observations in bundle.log.items():
            self._by_subject.setdefault(_subject(need), observations)
        present = tuple(observation for observation in bundle.observations if observation.state is State.PRESENT)
        self._rest = EvidenceIndex(present, (), frozenset(), ())
        self._gaps = {need.kind for need, observations in bundle.log.items() if left_out(need) in observations}

    @classmethod
    def open(cls, path: Path) -> BundleSource:
        return cls(read(path))

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return [self._meet(need) for need in needs]

    def _meet(self, need: Need) -> tuple[Observation[Any], ...]:
        recorded = self.bundle.log.get(need)
        if recorded is not None:
            return recorded
        if not need.about and (recorded := self._by_subject.get(_subject(need))) is not None:
            return recorded
        found = self._rest.meet(need)
        if need.kind not in self._gaps:
            return found
        # What is missing from the bundle may be just what is asked for now.
        return (*(observation for observation in found if observation.state is State.PRESENT), left_out(need))

    def settled(self, request: Request) -> Request:
        """Where no target is named, what the bundle was collected for."""
        words = self.bundle.manifest.request
        return request.filled(Request.of(**words)) if words and not request.service else request

    def inventory(self) -> tuple[Observation[Any], ...]:
        return self.bundle.observations


def _subject(need: Need) -> tuple[Any, ...]:
    return tuple(getattr(need, name) for name in _SUBJECT)


class JoinedSource:
    """Several Sources as one: every present observation of each; without any, the first one's answer that looked."""

    def __init__(self, sources: Sequence[Any]) -> None:
        self._sources = tuple(sources)

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        answers = [source.observe(needs) for source in self._sources]
        return [_joined([answer[number] for answer in answers], needs[number].kind) for number in range(len(needs))]


def _joined(answers: Sequence[tuple[Observation[Any], ...]], kind: Kind) -> tuple[Observation[Any], ...]:
    present = tuple(observation for answer in answers for observation in answer if observation.state is State.PRESENT)
    if present:
        return present
    absent = next(
        (answer for answer in answers if all(observation.state is State.ABSENT for observation in answer)), None
    )
    if absent is not None:
        return absent
    return next(iter(answers), (unreadable(kind, Trouble(Reason.NOT_RECORDED, "no source"), Provenance()),))
