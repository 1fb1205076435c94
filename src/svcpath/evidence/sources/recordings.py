"""The recordings that ship with the package, as a Source."""

from __future__ import annotations

import importlib.resources

from svcpath.errors import UnknownTarget
from svcpath.evidence.sources.memory import BytesSource

NAMES = ("iptables", "nftables")


def recording_files(name: str) -> dict[str, bytes]:
    """File name -> content of one shipped recording, as recorded (compressed). Raises UnknownTarget."""
    if name not in NAMES:
        raise UnknownTarget(f"no recording {name!r}; there are {', '.join(NAMES)}")
    folder = importlib.resources.files("svcpath.recordings").joinpath(name)
    return {entry.name: entry.read_bytes() for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)}


def recording(name: str) -> BytesSource:
    """A shipped recording as a Source: "iptables" or "nftables"."""
    return BytesSource(recording_files(name))
