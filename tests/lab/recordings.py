"""The recordings of tests/data/lab: `lab record`'s files for each fault, one archive for each proxy mode.

Recordings of one cluster are alike, so together they pack to a fraction of what each takes alone. Written by
`make recordings` from what `lab score --keep` leaves:  python -m tests.lab.recordings FOLDER SCORE.json
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.records import Report

DATA = Path(__file__).parents[1] / "data" / "lab"
MODES = ("iptables", "nftables")


@dataclass(frozen=True)
class Recording:
    """One fault as it was recorded: what to ask, what a right diagnosis gives, and the evidence."""

    fault: str
    mode: str
    expected: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict, repr=False)


def archive(mode: str) -> Path:
    return DATA / f"recordings-{mode}.tar.zst"


def shipped(mode: str) -> Iterator[Recording]:
    """Every recording of a mode, by name."""
    found: dict[str, dict[str, bytes]] = {}
    with archive(mode).open("rb") as packed:
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed)
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                read = tar.extractfile(member)
                if read is not None:
                    fault, _, name = member.name.partition("/")
                    found.setdefault(fault, {})[name] = read.read()
    for fault, files in sorted(found.items()):
        yield Recording(fault, mode, json.loads(files.pop("expected.json")), files)


@functools.cache
def recorded(mode: str) -> dict[str, Recording]:
    """The recordings of a mode by their fault."""
    return {recording.fault: recording for recording in shipped(mode)}


@functools.cache
def report_of(mode: str, fault: str) -> Report:
    """What diagnose says on a recording, asked as the score asks; once in a process."""
    recording = recorded(mode)[fault]
    target = recording.expected["target"]
    return diagnose(
        BytesSource(recording.files),
        f"svc/{target['service']}",
        namespace=target["namespace"],
        client=f"pod/{target['from']}",
        port=target.get("port", ""),
        lookup=target.get("lookup", ""),
        resolver=target.get("resolver", ""),
    )


def pack(folder: Path, score: Path, mode: str) -> tuple[int, int]:
    """Pack the recordings of a mode that were diagnosed rightly; returns how many, and the archive's size."""
    rows = json.loads(score.read_text())["rows"]
    right = {row["fault"] for row in rows if (row["mode"], row["evidence"], row["mark"]) == (mode, "recorded", "right")}
    raw = io.BytesIO()
    kept = 0
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for kept_folder in sorted(folder.glob(f"*-{mode}")):
            fault = kept_folder.name.removesuffix(f"-{mode}")
            if fault not in right:
                continue
            kept += 1
            for path in sorted((kept_folder / "expected.json", *(kept_folder / "evidence").iterdir())):
                data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                member = tarfile.TarInfo(f"{fault}/{path.name.removesuffix('.gz')}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    parameters = zstandard.ZstdCompressionParameters.from_level(19, window_log=27, enable_ldm=True)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compress(raw.getvalue())
    archive(mode).write_bytes(packed)
    return kept, len(packed)


def main(folder: str, score: str) -> None:
    for mode in MODES:
        count, size = pack(Path(folder), Path(score), mode)
        sys.stdout.write(f"{archive(mode).name}: {count} recordings, {size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
