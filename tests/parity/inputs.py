"""Everything that is compared: public cases, kinds with their neighbours, shipped and lab recordings, and the same as bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svcpath.evidence.sources.recordings import recording_files
from tests.cases.public.case import case
from tests.cases.public.case import names as case_names
from tests.lab.recordings import MODES, shipped
from tests.walk.layers.every_input import BROKEN, SOUND

SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")


@dataclass(frozen=True)
class Input:
    """One diagnosis: what is asked, as ``svcpath.diagnose`` takes it, and the evidence."""

    name: str
    files: Mapping[str, bytes]
    ask: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        for path, content in self.files.items():
            file = folder / self.name / "evidence" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (folder / self.name / "ask.json").write_text(json.dumps(self.ask))


def _public() -> Iterator[Input]:
    for name in case_names(0, 99):
        yield Input(f"case-{name}", case(name).files)


def _kinds() -> Iterator[Input]:
    for kind in (*BROKEN, *SOUND):
        ask: dict[str, Any] = {"namespace": "shop", **kind.options, "target": kind.target}
        yield Input(f"kind-{kind.name}", kind.build().evidence(), ask)


def _recordings() -> Iterator[Input]:
    for mode in ("iptables", "nftables"):
        for service in SERVICES:
            ask = {"target": f"svc/{service}", "namespace": "service-ops"}
            yield Input(f"recording-{mode}-{service}", recording_files(mode), ask)
            yield Input(f"recording-{mode}-{service}-from", recording_files(mode), {**ask, "client": "pod/client"})


def _lab() -> Iterator[Input]:
    for mode in MODES:
        for recording in shipped(mode):
            asked = recording.told["target"]
            ask = {"target": f"svc/{asked['service']}", "namespace": asked["namespace"]}
            ask |= {"client": f"pod/{asked['from']}", "port": asked.get("port", "")}
            ask |= {"as_name": asked.get("as", ""), "resolver": asked.get("resolver", "")}
            yield Input(f"lab-{mode}-{recording.fault}", recording.files, ask)


def _of_folder(folder: Path) -> Iterator[Input]:
    """Case folders of elsewhere: all files but README.md, expected.json and args.txt are evidence."""
    for path in sorted(folder.iterdir()):
        files = {
            file.relative_to(path).as_posix(): file.read_bytes()
            for file in sorted(path.rglob("*"))
            if file.is_file() and file.name not in ("README.md", "expected.json", "args.txt")
        }
        if path.is_dir() and files:
            yield Input(f"{folder.name}-{path.name}", files)


def inputs(more: list[Path]) -> Iterator[Input]:
    """Every input; those of recordings and cases also as a bundle. ``more`` are folders of case folders."""
    for found in (*_public(), *_recordings(), *_lab()):
        yield found
        yield Input(f"bundle-{found.name}", found.files, {**found.ask, "bundle": True})
    yield from _kinds()
    for folder in more:
        yield from _of_folder(folder)
