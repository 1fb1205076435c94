"""The JVM probe's layer: cut from packages that are fetched and unpacked; done without where they can't be had."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from svcpath_lab.images import jvm

APT = """#!/bin/sh
echo "$*" >> {folder}/calls
{then}
"""
UNPACK = """#!/bin/sh
# dpkg-deb -x PACKAGE ROOT
bin="$3/usr/lib/jvm/java-17/bin"
mkdir -p "$bin" "$3/etc/java-17"
echo configured > "$3/etc/java-17/jvm.cfg"
ln -sf /etc/java-17/jvm.cfg "$3/usr/lib/jvm/java-17/jvm.cfg"
cat > "$bin/jlink" <<'END'
#!/bin/sh
while [ $# -gt 1 ]; do shift; done
mkdir -p "$1/bin"
cp "$(dirname "$0")/../jvm.cfg" "$1/"
echo 'JAVA_VERSION="17.0.1"' > "$1/release"
echo java > "$1/bin/java"
chmod 755 "$1/bin/java"
END
cat > "$bin/javac" <<'END'
#!/bin/sh
mkdir -p "$2" && echo class > "$2/Resolve.class"
END
chmod 755 "$bin/jlink" "$bin/javac"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "dpkg-deb").write_text(UNPACK)
    (tmp_path / "dpkg-deb").chmod(0o755)
    return tmp_path


def _apt(machine: Path, then: str) -> None:
    (machine / "apt-get").write_text(APT.format(folder=machine, then=then))
    (machine / "apt-get").chmod(0o755)


def test_the_layer_holds_the_runtime_the_class_and_a_probe_named_by_its_version(machine: Path) -> None:
    _apt(machine, "touch jdk.deb")
    kept = machine / "cache" / "jvm-1.tar"
    kept.parent.mkdir()
    assert jvm.layer(kept, ["some-jdk"], lambda line: None) == kept
    with tarfile.open(kept) as tar:
        modes = {member.name: member.mode for member in tar if member.isfile()}
        configuration = tar.extractfile("opt/jvm/jvm.cfg")
        assert configuration is not None
        assert configuration.read() == b"configured\n"
    assert modes["opt/jvm/bin/java"] == modes["usr/local/bin/resolve-jvm-17.0.1-glibc"] == 0o755
    assert "opt/jvm/probe/Resolve.class" in modes
    assert (machine / "calls").read_text() == "download -qq some-jdk\n"
    assert list(kept.parent.iterdir()) == [kept]
    jvm.layer(kept, ["some-jdk"], lambda line: None)
    assert (machine / "calls").read_text().count("download") == 1


def test_where_the_packages_cannot_be_had_it_is_said_once_a_day(machine: Path) -> None:
    _apt(machine, "echo 'E: Unable to locate package' >&2; exit 100")
    kept = machine / "jvm-1.tar"
    messages: list[str] = []
    assert jvm.layer(kept, ["some-jdk"], messages.append) is None
    assert jvm.layer(kept, ["some-jdk"], messages.append) is None
    assert [line for line in messages if "no JVM probe" in line and "Unable to locate" in line]
    assert (machine / "calls").read_text().count("download") == 1
