"""The lab's images and how each is made: debootstrap for the tools, single static files for pause and CoreDNS.

Everything is kept in the cache under a name that holds a hash of what went in, so that a change of a source file or a
version makes a new image and an unchanged one costs nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from svcpath.errors import LabError
from svcpath.lab import command, resources
from svcpath.lab.binaries.catalogue import Release, architecture
from svcpath.lab.home import cache_root
from svcpath.lab.images import oci

TOOLS = "lab.local/tools:1"
PAUSE = "lab.local/pause:1"

Say = Callable[[str], None]


def kube_proxy_image(release: Release) -> str:
    return f"lab.local/kube-proxy:{release.program('kube-proxy').version}"


def coredns_image(release: Release) -> str:
    return f"lab.local/coredns:{release.program('coredns').version}"


@dataclass(frozen=True, slots=True)
class Kitchen:
    """Where images are made: the cache folder, and a listener for progress."""

    folder: Path
    say: Say = lambda line: None

    @classmethod
    def default(cls, say: Say = lambda line: None) -> Kitchen:
        return cls(cache_root() / "images", say)

    def images(self, release: Release, programs: Mapping[str, Path]) -> dict[str, Path]:
        """Every image of a netns lab: name -> OCI layout tar, made where missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        base = self.base_layer()
        probes = self.probes_layer()
        proxy = self._program_layer("kube-proxy", programs["kube-proxy"], "usr/local/bin/kube-proxy")
        dns = self._program_layer("coredns", programs["coredns"], "coredns")
        pause = self._files_layer("pause", {"pause": (self.compiled("pause.c", "musl-gcc"), 0o755)})
        wanted = (
            oci.Image(TOOLS, (base, probes), ("python3", "-u", "/app/server.py"), _PATH),
            oci.Image(kube_proxy_image(release), (base, proxy), ("/usr/local/bin/kube-proxy",), _PATH),
            oci.Image(coredns_image(release), (dns,), ("/coredns",)),
            oci.Image(PAUSE, (pause,), ("/pause",)),
        )
        return {image.name: self._image(image) for image in wanted}

    def base_layer(self) -> Path:
        """A minimal Debian with the packages that packages.yaml lists."""
        wanted = packages()
        key = _key(yaml.safe_dump({name: wanted[name] for name in ("image", "suite", "mirror")}).encode())
        layer = self.folder / f"base-{key}.tar"
        if layer.is_file():
            return layer
        self.say("making the tools image with debootstrap, about 1 min")
        beside = layer.with_suffix(".new")
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".rootfs-") as root:
            command.run(
                [
                    "debootstrap",
                    "--variant=minbase",
                    f"--include={','.join(wanted['image'])}",
                    wanted["suite"],
                    root,
                    wanted["mirror"],
                ],
                timeout=900,
                hint="the tools image needs root, debootstrap and a Debian mirror",
            )
            for trash in _TRASH:
                for path in Path(root).glob(trash):
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            command.run(
                ["tar", "--numeric-owner", "--sort=name", "--one-file-system", "-C", root, "-cf", beside, "."],
                timeout=300,
            )
        beside.replace(layer)
        return layer

    def probes_layer(self) -> Path:
        """The server, the glibc probe and one musl probe for each musl that this machine can compile against."""
        sources = resources.folder() / "images"
        files = {
            "app/server.py": ((sources / "server.py").read_bytes(), 0o644),
            "app/resolve_glibc.py": ((sources / "resolve_glibc.py").read_bytes(), 0o644),
        }
        for version, compiler in musl_compilers().items():
            files[f"usr/local/bin/resolve-musl-{version}"] = (self.compiled("resolve.c", compiler), 0o755)
        return self._files_layer("probes", files)

    def compiled(self, source: str, compiler: str) -> bytes:
        """A static program from one C file of the lab, compiled once."""
        path = resources.folder() / "images" / source
        kept = self.folder / f"{path.stem}-{_key(path.read_bytes() + compiler.encode())}"
        if not kept.is_file():
            beside = kept.with_suffix(".new")
            command.run(
                [*compiler.split(), "-Os", "-static", "-s", "-o", beside, path],
                hint="install gcc and musl-tools, or take the lab's packages from resources/packages.yaml",
            )
            beside.replace(kept)
        return kept.read_bytes()

    def _program_layer(self, name: str, program: Path, inside: str) -> Path:
        stat = program.stat()
        layer = self.folder / f"{name}-{_key(f'{program} {stat.st_size} {stat.st_mtime_ns}'.encode())}.tar"
        return layer if layer.is_file() else oci.layer_of_files({inside: (program.read_bytes(), 0o755)}, layer)

    def _files_layer(self, name: str, files: Mapping[str, tuple[bytes, int]]) -> Path:
        digest = hashlib.sha256()
        for path in sorted(files):
            digest.update(f"{path} {files[path][1]} {len(files[path][0])}\n".encode() + files[path][0])
        layer = self.folder / f"{name}-{digest.hexdigest()[:16]}.tar"
        return layer if layer.is_file() else oci.layer_of_files(files, layer)

    def _image(self, image: oci.Image) -> Path:
        made_of = "\n".join((image.name, *image.entrypoint, *(layer.name for layer in image.layers)))
        short = image.name.rsplit("/", 1)[-1].replace(":", "-")
        path = self.folder / f"image-{short}-{_key(made_of.encode())}.tar"
        return path if path.is_file() else oci.write(image, path, architecture=architecture())


_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
_TRASH = (
    "var/cache/apt/*",
    "var/lib/apt/lists/*",
    "usr/share/doc/*",
    "usr/share/man/*",
    "usr/share/locale/*",
    "usr/share/info/*",
    "var/log/*.log",
    "dev/*",
)


def packages() -> dict[str, Any]:
    """The package lists of resources/packages.yaml."""
    table: dict[str, Any] = yaml.safe_load((resources.folder() / "packages.yaml").read_text(encoding="utf-8"))
    return table


def musl_compilers() -> dict[str, str]:
    """The musl versions that this machine can link statically, each with its compiler command.

    musl-gcc is Debian's (its version is the package's); the ``ziglang`` wheel, where it is installed beside the running
    Python, brings musl 1.2.5.
    """
    found: dict[str, str] = {}
    if shutil.which("musl-gcc"):
        told = command.run(["dpkg-query", "-W", "-f=${Version}", "musl-dev"], check=False)
        version = told.out.split("-")[0].strip() if told.code == 0 and told.out.strip() else "unknown"
        found[version] = "musl-gcc"
    zig = zig_command()
    if zig:
        found["1.2.5"] = f"{zig} cc -target x86_64-linux-musl"
    if not found:
        raise LabError("no compiler for musl: apt-get install musl-tools")
    return found


def zig_command() -> str:
    """The ``ziglang`` wheel's compiler as a command, or "" where it is not installed."""
    import importlib.util
    import sys

    if architecture() == "amd64" and importlib.util.find_spec("ziglang") is not None:
        return f"{sys.executable} -m ziglang"
    return ""


def _key(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
