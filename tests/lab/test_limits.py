"""A node that can't become ready since the kernel's inotify instances are used up is reported with what to do."""

from __future__ import annotations

from pathlib import Path

from svcpath_lab.netns.limits import A_NODE, used_up


def proc(root: Path, most: int, *processes: int) -> Path:
    """A /proc with processes that hold so many instances each, and a socket beside."""
    (root / "sys/fs/inotify").mkdir(parents=True)
    (root / "sys/fs/inotify/max_user_instances").write_text(f"{most}\n")
    for pid, instances in enumerate(processes, 100):
        folder = root / str(pid) / "fd"
        folder.mkdir(parents=True)
        (folder / "0").symlink_to("socket:[77]")
        for number in range(instances):
            (folder / str(number + 1)).symlink_to("anon_inode:inotify")
    (root / "self").mkdir()
    return root


def test_used_up_instances_are_counted_over_all_processes(tmp_path: Path) -> None:
    reason = used_up(proc(tmp_path, 128, 100, 20))
    assert reason.startswith("120 of 128 inotify instances")
    assert "fs.inotify.max_user_instances" in reason


def test_a_machine_with_room_for_a_node_is_not_accused(tmp_path: Path) -> None:
    assert used_up(proc(tmp_path, 128, 100, 28 - A_NODE)) == ""


def test_a_kernel_without_the_limit_is_not_accused(tmp_path: Path) -> None:
    assert used_up(tmp_path) == ""
