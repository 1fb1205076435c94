"""Builds the real things that the models are compared with, once, into the user's cache (never into the checkout).

``SVCPATH_ORACLES`` names another cache. Each function returns the command to run, or raises Missing with the reason.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
PROBES = HERE / "resolvers" / "probes"


class Missing(Exception):
    """A tool that this machine does not have."""


def cache() -> Path:
    given = os.environ.get("SVCPATH_ORACLES")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "svcpath"
    base = base / "oracles"
    base.mkdir(parents=True, exist_ok=True)
    return base


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One builder at a time, also between test processes."""
    with (cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def need(program: str) -> str:
    found = shutil.which(program) or next(
        (
            str(path)
            for path in (Path("/usr/local/go/bin") / program, Path.home() / ".cargo/bin" / program)
            if path.exists()
        ),
        None,
    )
    if found is None:
        raise Missing(f"{program} is not installed")
    return found


def run(command: list[str], cwd: Path | None = None, **variables: str) -> None:
    nice = [shutil.which("nice") or "nice", "-n", "19"]
    done = subprocess.run(
        [*nice, *command], cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Missing(f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-400:]}")


def digest(*paths: Path) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def _built(name: str, sources: list[Path], build: Callable[[Path], None]) -> str:
    target = cache() / f"{name}-{digest(*sources)}"
    with locked(name):
        if not target.exists():
            part = target.with_suffix(".part")
            build(part)
            part.rename(target)
    return str(target)


def glibc_probe() -> list[str]:
    source = PROBES / "gai.c"
    return [_built("gai-glibc", [source], lambda out: run([need("gcc"), "-O1", "-o", str(out), str(source)]))]


def musl_123_probe() -> list[str]:
    source = PROBES / "gai.c"
    compiler = need("musl-gcc")
    return [
        _built("gai-musl-debian", [source], lambda out: run([compiler, "-O1", "-static", "-o", str(out), str(source)]))
    ]


def oracle_python() -> str:
    """An interpreter with pycares and the zig compiler (musl 1.2.5's sources), outside the checkout."""
    home = cache() / "venv-1"
    with locked("venv"):
        if not (home / "complete").exists():
            shutil.rmtree(home, ignore_errors=True)
            run([sys.executable, "-m", "venv", str(home)])
            run([str(home / "bin/python"), "-m", "pip", "install", "-q", "pycares==5.2.1", "ziglang==0.13.0"])
            (home / "complete").touch()
    return str(home / "bin/python")


def musl_125_probe() -> list[str]:
    source = PROBES / "gai.c"
    python = oracle_python()

    def build(out: Path) -> None:
        target = ["-target", f"{os.uname().machine}-linux-musl", "-static", "-O1"]
        run(
            [python, "-m", "ziglang", "cc", *target, "-o", str(out), str(source)],
            ZIG_GLOBAL_CACHE_DIR=str(cache() / "zig"),
        )

    return [_built("gai-musl-1.2.5", [source], build)]


def cares_probe() -> list[str]:
    return [oracle_python(), str(PROBES / "cares.py")]


def go_probe(*, cgo: bool) -> list[str]:
    folder = PROBES / "go"
    sources = [folder / "main.go", folder / "go.mod"]
    name = "go-cgo" if cgo else "go-pure"

    def build(out: Path) -> None:
        run([need("go"), "build", "-o", str(out), "."], cwd=folder, CGO_ENABLED="1" if cgo else "0")

    return [_built(name, sources, build)]


def java_probe() -> list[str]:
    source = PROBES / "Lookup.java"
    compiler = need("javac")
    folder = Path(_built("java", [source], lambda out: run([compiler, "-d", str(out), str(source)])))
    return [need("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp", str(folder), "Lookup"]


def node_probe(kind: str) -> list[str]:
    return [need("node"), str(PROBES / "lookup.js"), kind]


def hickory_probe(version: str = "0.25") -> list[str]:
    folder = PROBES / ("rust" if version == "0.25" else f"rust-{version}")
    name = "hickory" if version == "0.25" else f"hickory-{version}"
    sources = [folder / "Cargo.toml", folder / "Cargo.lock.in", folder / "src/main.rs"]

    def build(out: Path) -> None:
        target = cache() / name.replace("hickory", "cargo-target")
        with cargo_project(folder) as project:
            run([need("cargo"), "build", "--release", "--locked", "--target-dir", str(target)], cwd=project)
        shutil.copy2(target / "release/probe", out)

    return [_built(name, sources, build)]


@contextmanager
def cargo_project(folder: Path) -> Iterator[Path]:
    """A copy of a probe with the Cargo.lock that its Cargo.lock.in asks for: what is pinned is a version and a digest,
    where it comes from is this machine's to say."""
    with tempfile.TemporaryDirectory(prefix="svcpath-probe-") as scratch:
        project = Path(scratch) / folder.name
        shutil.copytree(folder, project, ignore=shutil.ignore_patterns("target", "Cargo.lock.in"))
        pinned = (folder / "Cargo.lock.in").read_text()
        run([need("cargo"), "generate-lockfile"], cwd=project)
        index = re.search(r'source = "([^"]+)"', (project / "Cargo.lock").read_text())
        if index is None:
            raise RuntimeError("cargo names no index in the lock file that it makes")
        (project / "Cargo.lock").write_text(pinned.replace("@index@", index.group(1)))
        yield project


def python_probe() -> list[str]:
    return [sys.executable, "-I", str(PROBES / "gai.py")]


def coredns() -> list[str]:
    folder = HERE / "coredns"
    sources = [folder / "main.go", folder / "go.mod", folder / "go.sum"]
    return [_built("coredns", sources, lambda out: run([need("go"), "build", "-o", str(out), "."], cwd=folder))]
