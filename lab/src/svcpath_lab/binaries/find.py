"""Find every program of a release: --bin-dir, then PATH, then the cache, then the official release, then a build.

A program from --bin-dir or PATH is taken only if it says that it is of the same minor version; what is cached was put
there by this module under its version's folder.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from svcpath.errors import UsageError
from svcpath_lab import command
from svcpath_lab.binaries import build, download
from svcpath_lab.binaries.catalogue import Program, Release
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError

_VERSION = re.compile(r"(?<![\w.])v?(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """Where one program is, and by which of the five ways it was found."""

    program: Program
    path: Path
    origin: str


def cache_folder(release: Release) -> Path:
    """Where programs of this release are kept between labs, outside any checkout."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "svcpath" / "lab" / release.number / "bin"


def said_version(program: Program, path: Path) -> tuple[int, int, int] | None:
    """The version that an executable tells of itself, or None if it tells none."""
    done = command.run(
        [path, *program.version_arguments], stdin="", timeout=20, check=False, environment=_environment()
    )
    version_match = _VERSION.search(done.out) or _VERSION.search(done.err)
    return (int(version_match[1]), int(version_match[2]), int(version_match[3])) if version_match else None


def fits(program: Program, version: tuple[int, int, int] | None) -> bool:
    """Is it of the wanted minor version?"""
    wanted = _VERSION.search(program.version)
    return version is not None and wanted is not None and version[:2] == (int(wanted[1]), int(wanted[2]))


def locate(
    release: Release, *, bin_dir: Path | None = None, search_path: str | None = None, cache: Path | None = None
) -> tuple[tuple[FoundProgram, ...], tuple[Program, ...]]:
    """What is on this machine already, and what is missing. Changes nothing.

    An unfitting program in ``bin_dir`` is an error, since it was named on purpose; on PATH it is passed over.
    """
    kept = cache if cache is not None else cache_folder(release)
    found: list[FoundProgram] = []
    missing: list[Program] = []
    for program in release.programs:
        named = bin_dir / program.name if bin_dir is not None else None
        if named is not None and named.is_file():
            version = said_version(program, named)
            if not fits(program, version):
                found_version = ".".join(map(str, version)) if version else "no version"
                raise UsageError(
                    f"{named} says {found_version}, the lab needs {program.version}: take it out or name another"
                )
            found.append(FoundProgram(program, named, "--bin-dir"))
        elif (on_path := shutil.which(program.name, path=search_path)) and fits(
            program, said_version(program, Path(on_path))
        ):
            found.append(FoundProgram(program, Path(on_path), "PATH"))
        elif (kept / program.name).is_file():
            found.append(FoundProgram(program, kept / program.name, "cache"))
        else:
            missing.append(program)
    return tuple(found), tuple(missing)


def obtain(
    release: Release,
    *,
    bin_dir: Path | None = None,
    search_path: str | None = None,
    cache: Path | None = None,
    say: Say = lambda line: None,
    downloads: bool = True,
) -> dict[str, Path]:
    """Every program of the release by name, fetching or building into the cache what is missing."""
    kept = cache if cache is not None else cache_folder(release)
    found, missing = locate(release, bin_dir=bin_dir, search_path=search_path, cache=kept)
    paths = {program.program.name: program.path for program in found}
    left = _download(missing, kept, say) if downloads else missing
    if left:
        minutes = max(1, round(sum(program.build_seconds for program in left) / 60))
        say(
            f"building {len(left)} programs of Kubernetes {release.kubernetes} with Go, about {minutes} min on two cores"
        )
        build.build(release, left, kept)
    for program in missing:
        paths[program.name] = kept / program.name
    return paths


def _download(missing: Sequence[Program], kept: Path, say: Say) -> tuple[Program, ...]:
    """Download what can be had; the first unreachable address ends the attempt, since the rest would wait as long."""
    for done, program in enumerate(missing):
        say(f"fetching {program.name} {program.version}")
        try:
            download.download(program, kept)
        except LabError as failed:
            say(f"no release download ({failed}); going on with a build")
            return tuple(missing[done:])
    return ()


def _environment() -> dict[str, str]:
    """CNI plugins print their version when no CNI_COMMAND is set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CNI_")}
