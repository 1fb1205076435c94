"""Write OCI image layouts as tar files, as ``ctr images import`` takes them.

Layers are uncompressed tars, so that a layer's digest is its diff ID and nothing is compressed only to be unpacked again.
Source: OCI image-spec v1.1 (image-layout, manifest, config).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"


@dataclass(frozen=True, slots=True)
class Image:
    """An image to write: its full name with tag, its layers (tar files, lowest first) and how it starts."""

    name: str
    layers: tuple[Path, ...]
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    working_folder: str = "/"


def digest(path: Path) -> str:
    """The SHA-256 of a file as OCI writes it."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def layer_of_files(files: Mapping[str, tuple[bytes, int]], path: Path) -> Path:
    """Write a layer with these files: path inside the image -> content and mode. The same files give the same bytes."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    made: set[str] = set()
    with tarfile.open(beside, "w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(files):
            content, mode = files[name]
            for parent in reversed(Path(name).parents):
                if str(parent) not in (".", "/") and str(parent) not in made:
                    made.add(str(parent))
                    folder = tarfile.TarInfo(str(parent))
                    folder.type, folder.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(folder)
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    beside.replace(path)
    return path


def write(image: Image, path: Path, *, architecture: str) -> Path:
    """Write the image as an OCI layout tar; ``path`` appears only when it is whole."""
    layers = [(digest(layer), layer) for layer in image.layers]
    config = _json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {
                "Entrypoint": list(image.entrypoint),
                "Env": [f"{name}={value}" for name, value in sorted(image.environment.items())],
                "WorkingDir": image.working_folder,
            },
            "rootfs": {"type": "layers", "diff_ids": [name for name, _ in layers]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, config),
            "layers": [{"mediaType": _LAYER, "digest": name, "size": layer.stat().st_size} for name, layer in layers],
        }
    )
    listed = {**_descriptor(_MANIFEST, manifest), "annotations": {"io.containerd.image.name": image.name}}
    index = _json({"schemaVersion": 2, "manifests": [listed]})
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with tarfile.open(beside, "w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", index)
        for blob in (config, manifest):
            _add(tar, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
        for name, layer in dict(layers).items():
            entry = tarfile.TarInfo(f"blobs/sha256/{name.removeprefix('sha256:')}")
            entry.size, entry.mode = layer.stat().st_size, 0o644
            with layer.open("rb") as stream:
                tar.addfile(entry, stream)
    beside.replace(path)
    return path


def names(path: Path) -> Sequence[str]:
    """The image names that a layout tar holds."""
    with tarfile.open(path) as tar:
        handle = tar.extractfile("index.json")
        index: dict[str, Any] = json.load(handle) if handle is not None else {}
    found = (
        manifest.get("annotations", {}).get("io.containerd.image.name", "") for manifest in index.get("manifests", ())
    )
    return [name for name in found if name]


def _descriptor(media_type: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": "sha256:" + hashlib.sha256(blob).hexdigest(), "size": len(blob)}


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    tar.addfile(entry, io.BytesIO(content))
