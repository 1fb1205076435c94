"""Limits of the kernel that several labs on one machine share, and that a kubelet meets without a word to the API.

Each kubelet, containerd and cAdvisor watches files by inotify; instances are counted for a user over all namespaces
(fs.inotify.max_user_instances, inotify(7)). Where there are none left a kubelet ends or never becomes Ready.
"""

from __future__ import annotations

import os
from pathlib import Path

#: Instances that one node's programs ask for, with some to spare (11 to 12 seen).
A_NODE = 12


def used_up(proc: Path = Path("/proc")) -> str:
    """What to say where this user's inotify instances are used up; else empty."""
    try:
        most = int((proc / "sys/fs/inotify/max_user_instances").read_text())
    except (OSError, ValueError):
        return ""
    used = sum(_instances(entry) for entry in proc.iterdir() if entry.name.isdigit())
    if most - used >= A_NODE:
        return ""
    return (
        f"{used} of {most} inotify instances are in use, and a node needs {A_NODE}: take another lab down, or "
        "sysctl -w fs.inotify.max_user_instances=1024"
    )


def _instances(process: Path) -> int:
    """Those of one process; 0 for one that ends meanwhile, or is another user's."""
    try:
        if process.stat().st_uid != os.getuid():
            return 0
        return sum(os.readlink(entry) == "anon_inode:inotify" for entry in (process / "fd").iterdir())
    except OSError:
        return 0
