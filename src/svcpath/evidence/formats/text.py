"""Bytes to text: gzip, byte order marks, wrong encodings, binary files.

gzip is RFC 1952; a cut member gives what decompressed before the cut. Kubernetes and the tools write UTF-8; UTF-16
comes from redirected output on Windows and is read when it has its byte order mark.
"""

from __future__ import annotations

import codecs
import zlib
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.facts.text import Harm
from svcpath.evidence.formats import limits

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20


class BinaryFile(FormatError):
    """Bytes that are no text: an image, an archive, a core dump."""


class Complaint(msgspec.Struct, frozen=True):
    """What was wrong with the bytes of a text, and what that took away."""

    why: str
    harm: Harm = Harm.LOST


@dataclass(frozen=True)
class Text:
    """Decoded text with what was wrong with its bytes (empty: nothing)."""

    text: str
    complaints: tuple[Complaint, ...] = ()
    size: int = 0
    _raw: bytes | None = field(default=None, repr=False)

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(line.rstrip("\r") for line in self.text.split("\n"))

    @cached_property
    def sample(self) -> tuple[str, ...]:
        """The first lines that are neither blank nor comments: what recognisers look at."""
        found: list[str] = []
        for line in self.lines:
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                found.append(line)
                if len(found) == 200:
                    break
        return tuple(found)

    @cached_property
    def head(self) -> str:
        return self.text[:4096].lstrip()

    @cached_property
    def utf8(self) -> bytes:
        return self._raw if self._raw is not None else self.text.encode("utf-8", "replace")


def of(text: str) -> Text:
    return Text(text, size=len(text))


def gunzip(data: bytes) -> tuple[bytes, str]:
    """Expand gzip members up to the limit; returns the bytes and what was wrong ("" if nothing)."""
    out = bytearray()
    rest = data
    while rest[:2] == GZIP_MAGIC:
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            chunk = stream.decompress(rest, _CHUNK)
            while chunk or stream.unconsumed_tail:
                out += chunk
                if len(out) > limits.MAX_EXPANDED:
                    raise TooLarge(f"expands to more than {limits.MAX_EXPANDED // limits.MIB} MiB: split it")
                chunk = stream.decompress(stream.unconsumed_tail, _CHUNK)
            out += stream.flush()
        except zlib.error as error:
            return bytes(out), f"gzip data is corrupt: {error}"
        if not stream.eof:
            return bytes(out), "gzip data is cut off"
        rest = stream.unused_data
    return bytes(out), ""


def decode(data: bytes) -> Text:
    """Text of a file's bytes. Raises BinaryFile or TooLarge; wrong encodings are read with replacement and said."""
    if len(data) > limits.MAX_FILE:
        raise TooLarge(f"larger than {limits.MAX_FILE // limits.MIB} MiB: split it")
    complaints: list[Complaint] = []
    size = len(data)
    for _ in range(2):
        if data[:2] == GZIP_MAGIC:
            data, complaint = gunzip(data)
            if complaint:
                complaints.append(Complaint(complaint))
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            text = data[len(mark) :].decode(codec, "replace")
            if "\ufffd" in text:
                # Half a character is how UTF-16 ends that was cut off.
                harm = Harm.REPLACED if mark is codecs.BOM_UTF8 else Harm.LOST
                complaints.append(Complaint(f"bytes that are not {codec.upper()}", harm))
            if "\0" in text[:4096]:
                raise BinaryFile("binary data")
            return Text(_unix(text), tuple(complaints), size)
    if b"\0" in data[:8192]:
        raise BinaryFile("binary data")
    try:
        return Text(_unix(data.decode("utf-8")), tuple(complaints), size, data)
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        bad = text.count("\ufffd")
        controls = sum(1 for character in text[:4096] if character < " " and character not in "\t\n\r\f\x1b")
        if bad * 10 > len(text) or controls * 20 > min(len(text), 4096):
            raise BinaryFile("binary data") from error
        line = data.count(b"\n", 0, error.start) + 1
        why = f"bytes that are not UTF-8 from line {line} on were replaced"
        complaints.append(Complaint(why, Harm.REPLACED))
        return Text(_unix(text), tuple(complaints), size)


def _unix(text: str) -> str:
    """A terminal (kubectl exec -t) or Windows ends every line with CR LF; a carriage return here and there is content."""
    if "\r" not in text:
        return text
    ends = text.count("\r\n")
    return text.replace("\r\n", "\n") if ends and ends == text.count("\n") else text
