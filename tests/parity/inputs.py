"""Everything that is compared, written as files for the processes of both sides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.fixtures.inputs import Input, folders, lab, made, public, recordings

#: What a case folder of elsewhere holds beside its evidence.
_NO_EVIDENCE = ("README.md", "LAYERS.md", "expected.json", "args.txt")


def write(found: Input, folder: Path, *, bundle: bool = False) -> str:
    """Returns the input's name in ``folder``; with ``bundle`` it is to be judged from the bundle of its own walk."""
    name = f"bundle-{found.name}" if bundle else found.name
    for path, content in found.files().items():
        file = folder / name / "evidence" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (folder / name / "ask.json").write_text(json.dumps({**found.ask, "bundle": True} if bundle else found.ask))
    return name


def _of_folder(folder: Path, name: str) -> Iterator[Input]:
    """Case folders of elsewhere; a folder that holds nothing but folders is a group of them."""
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        if all(inner.is_dir() for inner in path.iterdir()):
            yield from _of_folder(path, f"{name}-{path.name}")
            continue
        files = {
            file.relative_to(path).as_posix(): file.read_bytes()
            for file in sorted(path.rglob("*"))
            if file.is_file() and file.name not in _NO_EVIDENCE
        }
        if files:
            yield Input(f"{name}-{path.name}", lambda files=files: files)  # type: ignore[misc]


def inputs(more: list[Path]) -> Iterator[tuple[Input, bool]]:
    """Every input, and whether as a bundle; those of cases and recordings both ways. ``more`` are folders of case folders."""
    for found in (*public(), *folders(), *recordings(), *lab()):
        yield found, False
        yield found, True
    for found in made():
        yield found, False
    for folder in more:
        for found in _of_folder(folder, folder.name):
            yield found, False
