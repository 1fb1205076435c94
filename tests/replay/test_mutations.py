"""Each rule bites: a one-line change of it makes the replay of the recordings fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import svcpath
from tests.replay.recordings import DATA

SOURCE = Path(svcpath.__file__).parent
# (file, what the rule says, what it is changed to, what that would mean)
MUTATIONS = (
    (
        "libc/musl.py",
        'if reply.rcode == "NXDOMAIN":\n                return now',
        'if reply.rcode == "NONE":\n                return now',
        "musl stops at NXDOMAIN",
    ),
    ("libc/musl.py", 'return self._fail("EAI_NODATA", NODATA, now)', "return now", "musl goes on after NODATA"),
    ("libc/musl.py", 'name.count(".") >= config.ndots', 'name.count(".") > config.ndots', "ndots off by one in musl"),
    (
        "libc/musl_conf.py",
        "LINE_BYTES, HOSTS_LINE_BYTES = 3, 48, 256, 512",
        "LINE_BYTES, HOSTS_LINE_BYTES = 3, 48, 2560, 512",
        "no line limit in musl",
    ),
    (
        "libc/glibc.py",
        "if last in (NO_DATA, HOST_NOT_FOUND):",
        "if last in (HOST_NOT_FOUND,):",
        "glibc leaves the search at NODATA",
    ),
    ("libc/glibc.py", "elif got_nodata:", "elif False:", "glibc forgets NODATA"),
    ("libc/glibc.py", "if saved:", "if False:", "glibc forgets the error of the name as it is"),
    (
        "libc/glibc_send.py",
        'if any(reply.rcode == "NOERROR" and reply.records',
        'if any(reply.rcode == "NOERROR" and reply.addresses',
        "a CNAME alone does not end glibc's search",
    ),
    (
        "libc/glibc_send.py",
        "self.single, self.plainly, rule = True, False, RETRY_SINGLE",
        "return None, True",
        "glibc does not retry one type alone",
    ),
    ("runtimes/go.py", 'if last is None or fqdn == name + ".":', "if last is None:", "Go shows the first error"),
    ("runtimes/go.py", 'enough = name.count(".") >= config.ndots', "enough = False", "Go never tries the name first"),
    (
        "libraries/cares.py",
        'return (name, *names) if name.count(".") >= self.config.ndots',
        'return (name, *names) if name.count(".") > self.config.ndots',
        "ndots off by one in c-ares",
    ),
    (
        "libraries/cares.py",
        'if code in ("ARES_ENODATA", "ARES_ENOTFOUND"):',
        'if code == "ARES_ENOTFOUND":',
        "c-ares stops at NODATA",
    ),
    (
        "libraries/cares_send.py",
        'if answer.rcode == "FORMERR" and self.edns and item.edns:',
        "if False:",
        "c-ares does not drop EDNS",
    ),
    ("runtimes/node.py", "TRIES, LONGEST = 4, 5.0", "TRIES, LONGEST = 1, 5.0", "Node obeys resolv.conf's attempts"),
    ("libraries/hickory.py", "count > self.config.ndots", "count >= self.config.ndots", "ndots off by one in hickory"),
    (
        "libraries/hickory_025.py",
        "for _ in range(self.config.attempts + 1):",
        "for _ in range(self.config.attempts):",
        "hickory sends attempts times",
    ),
    (
        "libraries/hickory.py",
        "strict=not self.parallel",
        "strict=True",
        "hickory 0.26 gives up at an unknown line as 0.25 does",
    ),
    (
        "libraries/hickory_026.py",
        "for _ in range(self.config.attempts + 1):",
        "for _ in range(1):",
        "hickory 0.26 takes an error code for an answer as 0.25 does",
    ),
    ("libraries/hickory_026.py", '("AAAA", "A")', '("A", "AAAA")', "hickory 0.26 shows the error of A"),
    (
        "libraries/hickory_026.py",
        "answer.alias and len(chain) > 1",
        "False",
        "hickory 0.26 takes the addresses of an alias of an alias",
    ),
    (
        "libraries/hickory_srtt.py",
        "FAILURE, MOST = 0.150, 5.0",
        "FAILURE, MOST = 0.0, 5.0",
        "hickory 0.26 resends at a fixed pace",
    ),
    (
        "libraries/dnspython.py",
        'if answer.rcode == "NXDOMAIN":\n                return None',
        'if answer.rcode == "NXDOMAIN":\n                return ()',
        "dnspython stops at NXDOMAIN",
    ),
    (
        "runtimes/jvm.py",
        'text=f"java.net.UnknownHostException: {name}: {outcome.text}"',
        'text=f"java.net.UnknownHostException: {name}"',
        "the JVM hides libc's text",
    ),
    (
        "runtimes/libc_users.py",
        'text=f"[Errno {outcome.number}] {outcome.text}"',
        "text=outcome.text",
        "CPython hides the number",
    ),
)
REPLAY = """\
import gzip, sys
from svcpath.replay.runs import read_rows, replay
mismatches = 0
for path in sys.argv[1:]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        mismatches += len(replay(read_rows(file)).mismatches)
sys.stdout.write(str(mismatches))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that may be changed."""
    root = tmp_path_factory.mktemp("mutated")
    shutil.copytree(SOURCE, root / "svcpath", ignore=shutil.ignore_patterns("__pycache__", "recordings"))
    return root


def _mismatches(root: Path) -> int:
    files = [str(DATA / f"{name}.jsonl.gz") for name in ("grid", "special", "hickory-0.26")]
    done = subprocess.run(
        [sys.executable, "-B", "-c", REPLAY, *files],
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_the_unchanged_copy_replays_without_a_mismatch(copy: Path) -> None:
    assert _mismatches(copy) == 0


@pytest.mark.parametrize(("file", "rule", "change", "meaning"), MUTATIONS, ids=[mutation[3] for mutation in MUTATIONS])
def test_a_changed_rule_makes_the_replay_fail(copy: Path, file: str, rule: str, change: str, meaning: str) -> None:
    path = copy / "svcpath" / "models" / "resolvers" / file
    original = path.read_text(encoding="utf-8")
    assert original.count(rule) == 1, f"{file} no longer has exactly one place that says so"
    path.write_text(original.replace(rule, change), encoding="utf-8")
    try:
        assert _mismatches(copy) > 0
    finally:
        path.write_text(original, encoding="utf-8")
