"""Processes are found by the mark in their environment, in a /proc that this test made."""

from __future__ import annotations

from pathlib import Path

from svcpath_lab.netns import marks


def _process(proc: Path, pid: int, environment: dict[str, str], executable: str, inside: str = "") -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "environ").write_bytes(
        b"".join(f"{name}={value}".encode() + b"\0" for name, value in environment.items())
    )
    (folder / "exe").symlink_to(f"/usr/bin/{executable}")
    (folder / "status").write_text(f"Name:\t{executable}\nNSpid:\t{pid}{inside}\n")


def test_the_first_process_of_a_node_is_told_from_the_parent_that_shares_its_mark(tmp_path: Path) -> None:
    mark = marks.mark("one-1234", "w1", "init")
    _process(tmp_path, 100, mark, "unshare")
    _process(tmp_path, 101, {"PATH": "/bin", **mark}, "python3", "\t1")
    _process(tmp_path, 102, marks.mark("two-1234", "w1", "init"), "python3", "\t1")
    (tmp_path / "self").mkdir()
    assert marks.init_of("one-1234", "w1", tmp_path) == 101
    assert marks.init_of("one-1234", "w2", tmp_path) is None


def test_a_lab_whose_identity_begins_alike_is_another_lab(tmp_path: Path) -> None:
    _process(tmp_path, 100, marks.mark("one-1234", "cp", "etcd"), "etcd")
    _process(tmp_path, 101, marks.mark("one-12345", "cp", "etcd"), "etcd")
    assert [process.pid for process in marks.marked("one-1234", tmp_path)] == [100]


def test_a_process_that_ended_while_it_was_looked_at_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "100").mkdir()
    assert list(marks.marked("one-1234", tmp_path)) == []
