"""Find a lab's processes by a mark in their environment.

A pid written to a file can lie after a crash; a mark can't: it is with the process and goes with it. Containers start
with an environment of their own, so what runs in Pods is found by cgroup instead (cgroups.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "SVCPATH_LAB_PROCESS"


@dataclass(frozen=True, slots=True)
class Marked:
    """A live process of a lab: what it was started as, and its pid here."""

    pid: int
    node: str
    name: str
    executable: str


def mark(identity: str, node: str, name: str) -> dict[str, str]:
    """The environment entry for a process of the lab ``identity``."""
    return {VARIABLE: f"{identity}/{node}/{name}"}


def marked(identity: str, proc: Path = Path("/proc")) -> Iterator[Marked]:
    """Every live process with this lab's mark, also those that inherited it (a containerd shim, a waiting parent)."""
    wanted = f"{VARIABLE}={identity}/".encode()
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            if wanted not in environment:
                continue
            executable = os.path.basename(os.readlink(entry / "exe"))
        except OSError:  # ended while we looked, or a kernel thread
            continue
        for setting in environment.split(b"\0"):
            if setting.startswith(wanted):
                node, _, name = setting[len(wanted) :].decode("utf-8", "replace").partition("/")
                yield Marked(int(entry.name), node, name, executable)


def init_of(identity: str, node: str, proc: Path = Path("/proc")) -> int | None:
    """The pid, as seen here, of a node's process 1, or None if the node is not up."""
    for process in marked(identity, proc):
        if process.node == node and process.name == "init" and is_first(process.pid, proc):
            return process.pid
    return None


def is_first(pid: int, proc: Path = Path("/proc")) -> bool:
    """Is it process 1 of a PID namespace below ours?"""
    try:
        for line in (proc / str(pid) / "status").read_text().splitlines():
            if line.startswith("NSpid:"):
                inside = line.split()[1:]
                return len(inside) > 1 and inside[-1] == "1"
    except OSError:
        return False
    return False
