"""Tar archives, as must-gather, troubleshoot and svcpath's own bundles travel: each member is a file of the evidence.

Nothing is unpacked to a disk: members are read in memory under the limits, links and devices are passed over, and a cut
archive gives the members before the cut.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator

from svcpath.errors import TooLarge
from svcpath.evidence.formats import limits
from svcpath.evidence.formats.item import Item, damaged, unplaced
from svcpath.evidence.formats.text import GZIP_MAGIC, gunzip

_MAGIC = slice(257, 262)


def is_tar(data: bytes) -> bool:
    """Whether the bytes are a tar archive (POSIX ustar or GNU), compressed with gzip or not."""
    if data[:2] == GZIP_MAGIC:
        try:
            data = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, 512)
        except zlib.error:
            return False
    return data[_MAGIC] == b"ustar"


def members(path: str, data: bytes) -> Iterator[tuple[str, bytes | Item]]:
    """(path of the member, content or why it is not read) for each regular file; a Damaged item for a broken archive."""
    complaint = ""
    if data[:2] == GZIP_MAGIC:
        try:
            data, complaint = gunzip(data)
        except TooLarge as error:
            yield path, unplaced(str(error), len(data))
            return
    count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errorlevel=0) as tar:
            for member in tar:
                if not member.isreg():
                    continue
                count += 1
                if count > limits.MAX_FILES:
                    complaint = complaint or f"more than {limits.MAX_FILES} files: the rest is not read"
                    break
                name = "/".join(part for part in member.name.split("/") if part not in ("", ".", ".."))
                stream = tar.extractfile(member)
                content = stream.read() if stream is not None else b""
                yield f"{path}/{name}", content
                if len(content) < member.size:
                    complaint = complaint or f"cut off inside {name}"
    except (tarfile.TarError, EOFError, ValueError, OverflowError, OSError) as error:
        complaint = complaint or f"{error}"
    if complaint:
        yield path, damaged("tar archive", complaint, read=f"{count} files")
