"""Which programs a lab needs, in which versions, and where they can come from: resources/binaries.yaml as records."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from svcpath.errors import UsageError
from svcpath_lab import resources
from svcpath_lab.errors import LabError

#: platform.machine() -> the name Go and the release folders use.
ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Program:
    """One executable. ``url``, ``checksum`` and ``member`` are ready to use; empty means that it can't be had so."""

    name: str
    version: str
    package: str
    built_as: str
    version_arguments: tuple[str, ...]
    build_seconds: int
    url: str = ""
    checksum: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A Kubernetes minor release with the programs that go with it."""

    minor: str
    kubernetes: str
    programs: tuple[Program, ...]
    link_variables: Mapping[str, str]
    module: Path

    @property
    def number(self) -> str:
        """1.35.4 for v1.35.4: the name of the release's folder in the cache."""
        return self.kubernetes.removeprefix("v")

    def program(self, name: str) -> Program:
        for program in self.programs:
            if program.name == name:
                return program
        raise LabError(
            f"no program {name} in release {self.minor}; there are {', '.join(p.name for p in self.programs)}"
        )


def architecture(machine: str | None = None) -> str:
    """This machine's architecture in Go's words; raises LabError for one that the lab has no programs for."""
    found = platform.machine() if machine is None else machine
    try:
        return ARCHITECTURES[found.lower()]
    except KeyError:
        raise LabError(
            f"the lab knows no programs for a {found} machine, only for {sorted(set(ARCHITECTURES))}"
        ) from None


def release(minor: str = "", *, data: Path | None = None, arch: str | None = None) -> Release:
    """The release named by ``minor`` ("1.35", or a full version of it), by default the catalogue's own default."""
    path = data if data is not None else resources.folder() / "binaries.yaml"
    table: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    wanted = ".".join(minor.removeprefix("v").split(".")[:2]) or str(table["default"])
    if wanted not in table["releases"]:
        raise UsageError(f"no release {minor!r} in {path.name}; it names {', '.join(sorted(table['releases']))}")
    versions: dict[str, str] = table["releases"][wanted]
    major, number = wanted.split(".")
    values = {**versions, "major": major, "minor": number}
    machine = arch or architecture()
    return Release(
        minor=wanted,
        kubernetes=versions["kubernetes"],
        programs=tuple(
            _program(name, entry, versions, table["products"], machine) for name, entry in table["programs"].items()
        ),
        link_variables={name: text.format_map(values) for name, text in table["link_variables"].items()},
        module=path.parent / "go" / wanted,
    )


def _program(
    name: str, entry: Mapping[str, Any], versions: Mapping[str, str], products: Mapping[str, Any], arch: str
) -> Program:
    product: Mapping[str, str] = products[entry["product"]]
    version = versions[entry["product"]]
    values = {"version": version, "number": version.removeprefix("v"), "arch": arch, "program": name}
    return Program(
        name=name,
        version=version,
        package=entry["package"],
        built_as=entry.get("built_as", name),
        version_arguments=tuple(entry["version"]),
        build_seconds=int(entry["build_seconds"]),
        url=product.get("url", "").format_map(values),
        checksum=product.get("checksum", "").format_map(values),
        member=product.get("member", "").format_map(values),
    )
