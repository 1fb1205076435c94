"""Official release downloads, never used before their published SHA-256 agrees.

The checksum files come in two shapes: the bare hash (dl.k8s.io), or lines ``HASH  NAME`` as sha256sum(1) writes them.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

from svcpath_lab.binaries.catalogue import Program
from svcpath_lab.errors import LabError

_HASH = re.compile(r"^[0-9a-fA-F]{64}$")


class DownloadFailed(LabError):
    """A release that could not be had, or whose bytes are not what was published."""


def checksum_for(text: str, file_name: str) -> str:
    """The SHA-256 that a checksum file states for a file; raises DownloadFailed if it states none."""
    for line in text.splitlines():
        words = line.split()
        if not words or not _HASH.match(words[0]):
            continue
        if len(words) == 1 or words[-1].lstrip("*").rsplit("/", 1)[-1] == file_name:
            return words[0].lower()
    raise DownloadFailed(f"the checksum file names no SHA-256 for {file_name}")


def download(program: Program, into: Path, *, timeout: float = 20.0) -> Path:
    """Fetch one program into the folder ``into`` and return its path.

    The file appears under its name only when complete and proven: it is written beside and renamed. ``timeout`` is the
    longest silence of the server, in seconds.
    """
    if not program.url or not program.checksum:
        raise DownloadFailed(f"{program.name}: no release address in the catalogue")
    published = checksum_for(
        _fetch(program.checksum, timeout).decode("ascii", "replace"), program.url.rsplit("/", 1)[-1]
    )
    archive = _fetch(program.url, timeout)
    found = hashlib.sha256(archive).hexdigest()
    if found != published:
        raise DownloadFailed(f"{program.url}: SHA-256 {found} is not the published {published}; nothing was kept")
    return place(_member(archive, program), into / program.name)


def place(content: bytes, path: Path) -> Path:
    """Write an executable so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.chmod(0o755)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def _fetch(url: str, timeout: float) -> bytes:
    if not url.startswith(("https://", "http://127.0.0.1:", "http://[::1]:")):
        raise DownloadFailed(f"{url}: releases are fetched over https alone")
    try:
        with urllib.request.urlopen(url, timeout=timeout) as reply:
            body = reply.read()
    except (urllib.error.URLError, OSError) as failed:
        raise DownloadFailed(f"{url}: {failed}") from failed
    return bytes(body)


def _member(archive: bytes, program: Program) -> bytes:
    if not program.member:
        return archive
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            names = {name.removeprefix("./"): name for name in tar.getnames()}
            inside = names.get(program.member.removeprefix("./"))
            handle = tar.extractfile(inside) if inside is not None else None
            if handle is None:
                raise DownloadFailed(f"{program.url}: holds no file {program.member}")
            return handle.read()
    except (tarfile.TarError, EOFError, OSError) as broken:
        raise DownloadFailed(f"{program.url}: not a readable .tar.gz: {broken}") from broken
