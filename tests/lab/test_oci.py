"""Image layouts: the same input gives the same bytes, and every digest is that of its blob."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

from svcpath_lab.images import oci


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    stream = tar.extractfile(name)
    assert stream is not None, f"{name} is no file"
    return stream.read()


def test_every_descriptor_of_a_layout_names_a_blob_with_that_digest_and_size(tmp_path: Path) -> None:
    layer = oci.layer_of_files(
        {"usr/bin/hello": (b"#!/bin/sh\necho hello\n", 0o755), "etc/x": (b"1", 0o644)}, tmp_path / "l.tar"
    )
    image = oci.Image("lab.local/hello:1", (layer,), ("/usr/bin/hello",), {"B": "2", "A": "1"})
    path = oci.write(image, tmp_path / "image.tar", architecture="amd64")
    with tarfile.open(path) as tar:
        blobs = {name: _content(tar, name) for name in tar.getnames()}
    index = json.loads(blobs["index.json"])
    assert json.loads(blobs["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}

    def blob(descriptor: dict[str, object]) -> bytes:
        algorithm, _, value = str(descriptor["digest"]).partition(":")
        content = blobs[f"blobs/{algorithm}/{value}"]
        assert hashlib.sha256(content).hexdigest() == value
        assert len(content) == descriptor["size"]
        return content

    manifest = json.loads(blob(index["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    assert config["rootfs"]["diff_ids"] == [layer["digest"] for layer in manifest["layers"]]
    assert config["config"]["Env"] == ["A=1", "B=2"]
    assert blob(manifest["layers"][0]) == layer.read_bytes()
    assert oci.names(path) == ["lab.local/hello:1"]


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    files = {"b/c": (b"2", 0o644), "a": (b"1", 0o755)}
    first = oci.layer_of_files(files, tmp_path / "1.tar").read_bytes()
    assert oci.layer_of_files(dict(reversed(files.items())), tmp_path / "2.tar").read_bytes() == first


def test_a_file_in_a_layer_comes_after_its_folders(tmp_path: Path) -> None:
    layer = oci.layer_of_files({"usr/local/bin/x": (b"", 0o755)}, tmp_path / "l.tar")
    with tarfile.open(layer) as tar:
        assert tar.getnames() == ["usr", "usr/local", "usr/local/bin", "usr/local/bin/x"]
