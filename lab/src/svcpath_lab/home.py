"""Where labs live on disk, and who they are.

One folder per lab holds its description, keys, logs and node state; ``down`` removes it whole. What is worth keeping
between labs (programs, image layers) is in the cache folder instead. A lab's ``identity`` names what it makes outside its
folder (cgroups, process marks), so that two labs, or the same name under two state folders, never mix.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from svcpath.errors import UsageError
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError

DEFAULT_NAME = "svcpath"
_NAME = re.compile(r"^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$")


class LabSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What ``lab up`` was asked for; written once, so that a second ``up`` continues the same lab."""

    provider: str
    proxy_mode: str = "iptables"
    nodes: int = 3
    ip_family: str = "ipv4"
    release: str = ""
    bin_dir: str = ""
    context: str = ""
    kubeconfig: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one lab."""

    name: str
    folder: Path

    @property
    def identity(self) -> str:
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]
        return f"{self.name}-{digest}"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def audit_log(self) -> Path:
        """What the API server was asked, one JSON event a line (audit.k8s.io/v1)."""
        return self.logs / "audit.log"

    @property
    def spec_file(self) -> Path:
        return self.folder / "lab.json"

    def exists(self) -> bool:
        return self.spec_file.is_file()

    def read_spec(self) -> LabSpec:
        try:
            return msgspec.json.decode(self.spec_file.read_bytes(), type=LabSpec)
        except FileNotFoundError:
            raise LabError(f"no lab {self.name!r} here: start one with `svcpath lab up --lab {self.name}`") from None
        except msgspec.DecodeError as broken:
            raise LabError(
                f"{self.spec_file}: {broken}; take the lab down with `svcpath lab down --lab {self.name}`"
            ) from broken

    def write_spec(self, spec: LabSpec) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.spec_file.with_suffix(".new")
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(spec)) + b"\n")
        beside.replace(self.spec_file)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lab for one up or down; raises LabError when another process holds it."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        lock = self.folder.parent / f".{self.name}.lock"
        with lock.open("w") as lock_file:
            try:
                fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabError(f"another svcpath is at work on lab {self.name!r}; wait for it or end it") from None
            try:
                yield
            finally:
                if not self.folder.exists():
                    lock.unlink(missing_ok=True)


def state_root() -> Path:
    root = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(root) / "svcpath" / "lab"


def cache_root() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "svcpath" / "lab"


@contextlib.contextmanager
def exclusive(folder: Path, say: Say) -> Iterator[None]:
    """Hold a shared folder, such as the cache, while something is made in it; waits for another lab that does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another lab that builds programs or images")
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


def home(name: str = DEFAULT_NAME, root: Path | None = None) -> Home:
    """The home of the lab called ``name``; the name becomes part of cgroup, host and file names."""
    if not _NAME.match(name):
        raise UsageError(f"{name!r} can't name a lab: lower-case letters, digits and dashes, at most 20")
    return Home(name, (root if root is not None else state_root()).resolve() / name)


def homes(root: Path | None = None) -> tuple[Home, ...]:
    """Every lab that has a folder."""
    base = root if root is not None else state_root()
    if not base.is_dir():
        return ()
    return tuple(Home(path.name, path.resolve()) for path in sorted(base.iterdir()) if (path / "lab.json").is_file())
