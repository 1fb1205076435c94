"""Build missing programs with the Go toolchain from a committed go.mod and go.sum.

All missing programs are one ``go build``: they share most packages, and the linker's work overlaps with compiling.
The module pins Kubernetes' staging modules by ``replace`` (their go.mod names them v0.0.0).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from svcpath_lab import command
from svcpath_lab.binaries.catalogue import Program, Release
from svcpath_lab.errors import LabError


class BuildFailed(LabError):
    """The Go toolchain is missing or a build ended with an error."""


def arguments(release: Release, programs: Sequence[Program], output: Path) -> list[str]:
    """The one ``go build`` command for these programs, run in the release's module folder."""
    variables = " ".join(f"-X {name}={value}" for name, value in sorted(release.link_variables.items()))
    return [
        "go",
        "build",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        f"-s -w {variables}",
        "-o",
        f"{output}{os.sep}",
        *(program.package for program in programs),
    ]


def build(release: Release, programs: Sequence[Program], into: Path, *, timeout: float = 3600.0) -> None:
    """Build ``programs`` into the folder ``into``, each appearing there only when it is whole."""
    if not (release.module / "go.mod").is_file():
        raise BuildFailed(f"Kubernetes {release.minor} has no go/{release.minor}/go.mod to build from; use --bin-dir")
    into.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    with tempfile.TemporaryDirectory(dir=into, prefix=".build-") as fresh:
        done = command.run(
            ["nice", "-n", "19", *arguments(release, programs, Path(fresh))],
            environment=environment,
            folder=release.module,
            timeout=timeout,
            check=False,
        )
        if done.code == 127:
            raise BuildFailed(
                "the Go toolchain is not on PATH: install Go, or name a folder of programs with --bin-dir"
            )
        if done.code != 0:
            raise BuildFailed(f"`go build` in {release.module} ended with {done.code}: {done.err.strip()[-800:]}")
        for program in programs:
            (Path(fresh) / program.built_as).replace(into / program.name)
