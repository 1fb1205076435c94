"""The JVM probe of the tools image: a runtime of java.base alone, cut by jlink from Debian's JDK, and the
classes of its programs.

The whole runtime would add 190 MB to an image, this adds 35 MB. The packages are fetched and unpacked, not installed: the
machine gets no Java by it.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from svcpath.errors import SvcpathError
from svcpath_lab import command, resources
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.images import oci

#: Seconds for which packages that could not be had are not asked for again.
RETRY_AFTER = 86400
_INSIDE = "opt/jvm"
_SCRIPT = (
    f'#!/bin/sh\nexec /{_INSIDE}/bin/java -Xshare:auto -XX:TieredStopAtLevel=1 -cp /{_INSIDE}/probe Resolve "$@"\n'
)


class RuntimeCut(NamedTuple):
    """A runtime as it was cut: its files below ``folder``, and its version."""

    folder: Path
    version: str


def layer(kept: Path, packages: list[str], say: Say) -> Path | None:
    """The layer, made where missing; None (said, and not tried again for a day) where its packages can't be had."""
    absent = kept.with_suffix(".absent")
    if kept.is_file():
        return kept
    if absent.is_file() and time.time() - absent.stat().st_mtime < RETRY_AFTER:
        return None
    say(f"cutting a Java runtime for the JVM probe from {', '.join(packages)} (116 MB to fetch)")
    try:
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".jvm-") as scratch:
            found = cut(Path(scratch), packages)
            return oci.layer_of_files(_files(found), kept)
    except SvcpathError as trouble:
        say(f"no JVM probe: {trouble}")
        absent.touch()
        return None


def cut(scratch: Path, packages: list[str]) -> RuntimeCut:
    """Fetch the packages into ``scratch``, and cut the runtime with the probe's class in it."""
    command.run(["apt-get", "download", "-qq", *packages], folder=scratch, timeout=600)
    root = scratch / "root"
    for package in sorted(scratch.glob("*.deb")):
        command.run(["dpkg-deb", "-x", package, root])
    _point_inside(root)
    homes = sorted(
        path.parent.parent for path in root.glob("usr/lib/jvm/*/bin/jlink") if not path.parents[1].is_symlink()
    )
    if not homes:
        raise LabError(f"{', '.join(packages)}: no jlink in them")
    programs, runtime = homes[0] / "bin", scratch / "runtime"
    small = ("--strip-debug", "--no-header-files", "--no-man-pages", "--compress=2")
    command.run([programs / "jlink", "--add-modules", "java.base", *small, "--output", runtime], timeout=600)
    command.run([programs / "javac", "-d", runtime / "probe", *sources()], timeout=300)
    release = re.search(r'JAVA_VERSION="([^"]+)"', (runtime / "release").read_text())
    return RuntimeCut(runtime, release[1] if release else "unknown")


def sources() -> list[Path]:
    """The programs of the JVM: the resolver probe, and the client whose cache settings a drain shows."""
    return sorted((resources.folder() / "images").glob("*.java"))


def _point_inside(root: Path) -> None:
    """Debian's JDK links to its configuration in /etc: to the unpacked one, since none is installed."""
    for path in root.rglob("*"):
        if path.is_symlink() and str(path.readlink()).startswith("/etc/"):
            target = root / str(path.readlink()).lstrip("/")
            path.unlink()
            path.symlink_to(target)


def _files(found: RuntimeCut) -> dict[str, tuple[bytes, int]]:
    files = {
        f"{_INSIDE}/{path.relative_to(found.folder)}": (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(found.folder.rglob("*"))
        if path.is_file()
    }
    return {**files, f"usr/local/bin/resolve-jvm-{found.version}-glibc": (_SCRIPT.encode(), 0o755)}
