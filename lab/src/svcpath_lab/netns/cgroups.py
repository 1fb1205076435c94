"""The lab's own branch of every cgroup hierarchy: made before a node starts, emptied and removed when it goes.

On cgroup v1 each controller is a tree of its own and a cpuset must be given its cpus and mems before a process may enter;
on v2 there is one tree, and controllers are handed down through cgroup.subtree_control.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from svcpath_lab.errors import LabError

PREFIX = "svcpath-lab-"


def hierarchies(mounts: str | None = None) -> tuple[Path, ...]:
    """The mount points of all cgroup hierarchies, from /proc/self/mounts; v2 beside v1 (hybrid) is one of them."""
    text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    found = (line.split() for line in text.splitlines())
    return tuple(
        dict.fromkeys(Path(words[1]) for words in found if len(words) > 2 and words[2] in ("cgroup", "cgroup2"))
    )


def unified(roots: Sequence[Path]) -> bool:
    """Is v2 the only hierarchy?"""
    return len(roots) == 1 and (roots[0] / "cgroup.controllers").is_file()


def branch(identity: str) -> str:
    """The lab's branch, below each hierarchy's root."""
    return f"{PREFIX}{identity}"


def make(identity: str, node: str, roots: Sequence[Path] | None = None) -> None:
    """Make the branch of one node: NODE/system for its own processes, NODE itself is the kubelet's cgroupRoot."""
    for root in hierarchies() if roots is None else roots:
        here = root
        for part in (branch(identity), node, "system"):
            parent, here = here, here / part
            here.mkdir(exist_ok=True)
            _hand_down(parent, here)


def entry_files(identity: str, node: str, roots: Sequence[Path] | None = None) -> tuple[Path, ...]:
    """The cgroup.procs files that a process of the node writes itself into."""
    found = hierarchies() if roots is None else roots
    return tuple(root / branch(identity) / node / "system" / "cgroup.procs" for root in found)


def processes(identity: str, roots: Sequence[Path] | None = None) -> set[int]:
    """Every process in the lab's branches."""
    found: set[int] = set()
    for folder in _folders(identity, hierarchies() if roots is None else roots):
        with contextlib.suppress(OSError):
            found.update(int(word) for word in (folder / "cgroup.procs").read_text().split())
    return found - {0, os.getpid()}


def kill_all(identity: str, *, patience: float = 20.0) -> None:
    """Kill what runs in the lab's branches and wait until it is gone; raises LabError if something stays."""
    deadline = time.monotonic() + patience
    while left := processes(identity):
        if time.monotonic() > deadline:
            raise LabError(
                f"processes {sorted(left)} of the lab do not end; look at them with `ps -fp`, then run down again"
            )
        _thaw(identity)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def remove(identity: str, roots: Sequence[Path] | None = None, *, patience: float = 10.0) -> None:
    """Remove the lab's branches, deepest first; a cgroup is busy for a moment after its last process ended."""
    deadline = time.monotonic() + patience
    found = hierarchies() if roots is None else roots
    while folders := list(_folders(identity, found)):
        for folder in folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if not any(True for _ in _folders(identity, found)):
            return
        if time.monotonic() > deadline:
            raise LabError(f"cgroup {folders[0]} stays busy; run down again")
        time.sleep(0.05)


def _folders(identity: str, roots: Sequence[Path]) -> Iterator[Path]:
    for root in roots:
        top = root / branch(identity)
        if top.is_dir():
            for path, _, _ in os.walk(top, topdown=False):
                yield Path(path)


def _hand_down(parent: Path, child: Path) -> None:
    for name in ("cpuset.cpus", "cpuset.mems"):
        target = child / name
        if target.is_file() and not (parent / "cgroup.controllers").is_file() and not target.read_text().strip():
            target.write_text((parent / name).read_text())
    offered = parent / "cgroup.controllers"
    if offered.is_file() and (switch := parent / "cgroup.subtree_control").is_file():
        for controller in offered.read_text().split():
            with contextlib.suppress(
                OSError
            ):  # a controller that is in use on v1, or a parent with processes of its own
                switch.write_text(f"+{controller}")


def _thaw(identity: str) -> None:
    """A frozen v1 cgroup would keep its processes from dying."""
    for folder in _folders(identity, hierarchies()):
        with contextlib.suppress(OSError):
            if (folder / "freezer.state").is_file():
                (folder / "freezer.state").write_text("THAWED")
            if (folder / "cgroup.freeze").is_file():
                (folder / "cgroup.freeze").write_text("0")
