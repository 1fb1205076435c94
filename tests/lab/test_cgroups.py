"""The lab's branches of the cgroup trees, on folders that stand for them."""

from __future__ import annotations

from pathlib import Path

from svcpath_lab.netns import cgroups

HYBRID = """\
tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
proc /proc proc rw 0 0
"""


def test_every_hierarchy_is_found_by_its_type() -> None:
    assert cgroups.hierarchies(HYBRID) == (Path("/sys/fs/cgroup/cpuset"), Path("/sys/fs/cgroup/unified"))
    assert not cgroups.unified(cgroups.hierarchies(HYBRID))


def test_a_v2_machine_is_told_by_its_single_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    assert cgroups.unified((tmp_path,))


def test_each_node_gets_a_branch_below_the_labs_and_its_processes_are_found(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    cgroups.make("one-1234", "w1", (root,))
    (procs,) = cgroups.entry_files("one-1234", "w1", (root,))
    assert procs == root / "svcpath-lab-one-1234" / "w1" / "system" / "cgroup.procs"
    procs.write_text("4242\n4243\n")
    assert cgroups.processes("one-1234", (root,)) == {4242, 4243}
    assert cgroups.processes("two-1234", (root,)) == set()


def test_removing_takes_the_labs_branches_and_no_other(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    cgroups.make("one-1234", "w1", (root,))
    (root / "svcpath-lab-one-1234" / "w1" / "kubepods" / "pod1").mkdir(parents=True)
    cgroups.make("two-1234", "w1", (root,))
    cgroups.remove("one-1234", (root,))
    assert [path.name for path in root.iterdir()] == ["svcpath-lab-two-1234"]
    cgroups.remove("one-1234", (root,))
