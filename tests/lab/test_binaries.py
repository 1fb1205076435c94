"""Programs are found in the stated order, and a download counts only when its checksum agrees."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import os
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from svcpath.errors import UsageError
from svcpath_lab import resources
from svcpath_lab.binaries import build, catalogue, download, find
from svcpath_lab.binaries.catalogue import Release
from svcpath_lab.errors import LabError


def _script(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that a local server gives out, and its address."""
    root = tmp_path / "served"
    root.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _release(tmp_path: Path, base: str) -> Release:
    """Two programs of one product each: one plain file, one inside an archive."""
    table = {
        "default": "1.35",
        "releases": {
            "1.35": {"kubernetes": "v1.35.4", "etcd": "v3.6.14"},
            "1.34": {"kubernetes": "v1.34.1", "etcd": "v3.6.1"},
        },
        "link_variables": {"example.org/version.v": "{kubernetes}"},
        "products": {
            "kubernetes": {
                "url": base + "/{version}/{arch}/{program}",
                "checksum": base + "/{version}/{arch}/{program}.sha256",
            },
            "etcd": {
                "url": base + "/etcd-{version}-linux-{arch}.tar.gz",
                "checksum": base + "/SHA256SUMS",
                "member": "etcd-{version}-linux-{arch}/{program}",
            },
        },
        "programs": {
            "kubelet": {
                "product": "kubernetes",
                "package": "k8s.io/kubernetes/cmd/kubelet",
                "version": ["--version"],
                "build_seconds": 75,
            },
            "etcd": {
                "product": "etcd",
                "package": "go.etcd.io/etcd/server/v3",
                "built_as": "server",
                "version": ["--version"],
                "build_seconds": 80,
            },
        },
    }
    data = tmp_path / "binaries.yaml"
    data.write_text(yaml.safe_dump(table, sort_keys=False))
    return catalogue.release(data=data, arch="amd64")


def _publish(root: Path, kubelet: bytes = b"kubelet", etcd: bytes = b"etcd") -> None:
    folder = root / "v1.35.4" / "amd64"
    folder.mkdir(parents=True)
    (folder / "kubelet").write_bytes(kubelet)
    (folder / "kubelet.sha256").write_text(hashlib.sha256(kubelet).hexdigest())
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        entry = tarfile.TarInfo("etcd-v3.6.14-linux-amd64/etcd")
        entry.size = len(etcd)
        tar.addfile(entry, io.BytesIO(etcd))
    name = "etcd-v3.6.14-linux-amd64.tar.gz"
    (root / name).write_bytes(packed.getvalue())
    other = "0" * 64
    (root / "SHA256SUMS").write_text(
        f"{other}  etcd-v3.6.14-darwin.zip\n{hashlib.sha256(packed.getvalue()).hexdigest()}  {name}\n"
    )


def test_the_named_folder_goes_before_path_and_path_before_the_cache(tmp_path: Path) -> None:
    release = _release(tmp_path, "http://127.0.0.1:1")
    named, path, cache = (tmp_path / name for name in ("named", "path", "cache"))
    _script(named / "kubelet", "Kubernetes v1.35.0")
    for folder in (path, cache):
        _script(folder / "kubelet", "Kubernetes v1.35.4")
        _script(folder / "etcd", "etcd Version: 3.6.2")
    found, missing = find.locate(release, bin_dir=named, search_path=str(path), cache=cache)
    assert [(program.program.name, program.origin) for program in found] == [("kubelet", "--bin-dir"), ("etcd", "PATH")]
    assert missing == ()


def test_a_program_of_another_minor_version_on_path_is_passed_over(tmp_path: Path) -> None:
    release = _release(tmp_path, "http://127.0.0.1:1")
    _script(tmp_path / "path" / "kubelet", "Kubernetes v1.34.9")
    _script(tmp_path / "path" / "etcd", "no number at all")
    _script(tmp_path / "cache" / "kubelet", "")
    found, missing = find.locate(release, search_path=str(tmp_path / "path"), cache=tmp_path / "cache")
    assert [(program.program.name, program.origin) for program in found] == [("kubelet", "cache")]
    assert [program.name for program in missing] == ["etcd"]


def test_a_program_of_another_minor_version_in_the_named_folder_is_an_error(tmp_path: Path) -> None:
    release = _release(tmp_path, "http://127.0.0.1:1")
    _script(tmp_path / "named" / "kubelet", "Kubernetes v1.33.0")
    with pytest.raises(UsageError, match=r"1\.33\.0.*v1\.35\.4"):
        find.locate(release, bin_dir=tmp_path / "named", search_path="", cache=tmp_path)


def test_what_is_missing_is_downloaded_into_the_cache_and_found_there_the_next_time(
    tmp_path: Path, served: tuple[Path, str]
) -> None:
    root, base = served
    _publish(root)
    release, cache = _release(tmp_path, base), tmp_path / "cache"
    paths = find.obtain(release, search_path="", cache=cache)
    assert {name: path.read_bytes() for name, path in paths.items()} == {"kubelet": b"kubelet", "etcd": b"etcd"}
    assert all(os.access(path, os.X_OK) for path in paths.values())
    found, missing = find.locate(release, search_path="", cache=cache)
    assert {program.origin for program in found} == {"cache"}
    assert missing == ()


def test_a_download_whose_checksum_differs_is_refused_and_leaves_nothing(
    tmp_path: Path, served: tuple[Path, str]
) -> None:
    root, base = served
    _publish(root)
    (root / "v1.35.4" / "amd64" / "kubelet").write_bytes(b"changed on the way")
    release = _release(tmp_path, base)
    with pytest.raises(download.DownloadFailed, match="is not the published"):
        download.download(release.program("kubelet"), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_checksum_file_without_the_archives_name_is_refused(tmp_path: Path, served: tuple[Path, str]) -> None:
    root, base = served
    _publish(root)
    (root / "SHA256SUMS").write_text("0" * 64 + "  another.tar.gz\n")
    with pytest.raises(download.DownloadFailed, match=r"names no SHA-256 for etcd-v3\.6\.14-linux-amd64\.tar\.gz"):
        download.download(_release(tmp_path, base).program("etcd"), tmp_path)


def test_an_archive_without_the_program_or_cut_short_is_refused(tmp_path: Path, served: tuple[Path, str]) -> None:
    root, base = served
    _publish(root)
    archive = root / "etcd-v3.6.14-linux-amd64.tar.gz"
    archive.write_bytes(archive.read_bytes()[:60])
    (root / "SHA256SUMS").write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
    with pytest.raises(download.DownloadFailed, match="etcd"):
        download.download(_release(tmp_path, base).program("etcd"), tmp_path)


def test_releases_are_fetched_over_https_or_from_this_machine_alone(tmp_path: Path) -> None:
    release = _release(tmp_path, "http://mirror.example")
    with pytest.raises(download.DownloadFailed, match="https"):
        download.download(release.program("kubelet"), tmp_path)


def test_when_no_release_can_be_reached_all_missing_programs_are_one_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake ``go`` writes what it was asked to build into its output folder, as the real one names it."""
    release = _release(tmp_path, "http://127.0.0.1:1")
    release.module.mkdir(parents=True)
    (release.module / "go.mod").write_text("module example.org/x\n")
    calls = tmp_path / "calls"
    tools = tmp_path / "tools"
    tools.mkdir()
    go = tools / "go"
    go.write_text(
        f'#!/bin/sh\necho "$PWD $CGO_ENABLED $*" >> {calls}\nwhile [ "$1" != -o ]; do shift; done; shift\n'
        'echo built > "$1/kubelet"; echo built > "$1/server"\n'
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    lines: list[str] = []
    paths = find.obtain(release, search_path="", cache=tmp_path / "cache", say=lines.append)
    assert paths["etcd"] == tmp_path / "cache" / "etcd"
    assert paths["etcd"].read_text() == "built\n"
    called = calls.read_text().splitlines()
    assert len(called) == 1
    assert called[0].startswith(f"{release.module} 0 build")
    assert "k8s.io/kubernetes/cmd/kubelet go.etcd.io/etcd/server/v3" in called[0]
    assert "-X example.org/version.v=v1.35.4" in called[0]
    assert any("building 2 programs" in line for line in lines)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.name.startswith(".")]


def test_a_build_that_fails_says_what_go_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = _release(tmp_path, "http://127.0.0.1:1")
    release.module.mkdir(parents=True)
    (release.module / "go.mod").write_text("module example.org/x\n")
    go = tmp_path / "tools" / "go"
    _script(go, "")
    go.write_text("#!/bin/sh\necho 'undefined: x' >&2\nexit 2\n")
    monkeypatch.setenv("PATH", f"{go.parent}:{os.environ['PATH']}")
    with pytest.raises(build.BuildFailed, match="undefined: x"):
        build.build(release, release.programs, tmp_path / "cache")


def test_the_shipped_catalogue_names_two_minor_releases_and_what_they_need() -> None:
    for minor in ("", "1.35", "v1.35.4", "1.34"):
        release = catalogue.release(minor, arch="amd64")
        names = {program.name for program in release.programs}
        assert {
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubelet",
            "kube-proxy",
            "kubectl",
        } <= names
        assert {"etcd", "coredns", "bridge", "host-local", "loopback", "portmap"} <= names
        assert all(program.url.startswith("https://") and "{" not in program.url for program in release.programs)
    assert catalogue.release("1.34").kubernetes.startswith("v1.34.")
    with pytest.raises(UsageError, match=r"1\.34, 1\.35"):
        catalogue.release("1.12")


def test_the_committed_module_pins_the_versions_of_the_catalogue() -> None:
    release = catalogue.release("1.35")
    module = (release.module / "go.mod").read_text()
    assert (release.module / "go.sum").is_file()
    for path, name in (
        ("k8s.io/kubernetes", "kubelet"),
        ("go.etcd.io/etcd/server/v3", "etcd"),
        ("github.com/coredns/coredns", "coredns"),
        ("github.com/containernetworking/plugins", "bridge"),
    ):
        assert f"{path} {release.program(name).version}" in module
    for program in release.programs:
        assert f"\t{program.package}\n" in module, "every program is a tool of the module"


def test_an_unknown_machine_is_an_error_that_names_the_known_ones() -> None:
    assert catalogue.architecture("aarch64") == "arm64"
    with pytest.raises(LabError, match="x86_64"):
        catalogue.architecture("s390x")


def test_the_resources_are_files() -> None:
    assert (resources.folder() / "binaries.yaml").is_file()
