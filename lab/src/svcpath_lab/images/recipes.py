"""The lab's images and how each is made: debootstrap for the tools, single static files for pause and CoreDNS.

Everything is kept in the cache under a name that holds a hash of what went in, so that a change of a source file or a
version makes a new image and an unchanged one costs nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from svcpath_lab import command, resources
from svcpath_lab.binaries.catalogue import Release, architecture
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.home import cache_root
from svcpath_lab.images import jvm, oci

TOOLS = "lab.local/tools:1"
PAUSE = "lab.local/pause:1"


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
        pause = self._files_layer("pause", {"pause": (self.compiled("pause.c", ["gcc"]), 0o755)})
        wanted = (
            oci.Image(TOOLS, (base, probes, *self.jvm_layers()), (), _PATH),
            oci.Image(kube_proxy_image(release), (base, proxy), ("/usr/local/bin/kube-proxy",), _PATH),
            oci.Image(coredns_image(release), (dns,), ("/coredns",)),
            oci.Image(PAUSE, (pause,), ("/pause",)),
        )
        return {image.name: self._image(image) for image in wanted}

    def base_layer(self) -> Path:
        """A minimal Debian with the packages that packages.yaml lists."""
        wanted = packages()
        key = _key(yaml.safe_dump({name: wanted[name] for name in ("image", "suite")}).encode())
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
        """One static resolver probe for each musl that this machine can compile against."""
        files = {
            f"usr/local/bin/resolve-musl-{version}": (self.compiled("resolve.c", compiler), 0o755)
            for version, compiler in self.musl_compilers().items()
        }
        return self._files_layer("probes", files)

    def jvm_layers(self) -> tuple[Path, ...]:
        """The JVM probe's layer; none where Debian's JDK can't be had."""
        wanted = packages()["jvm"]
        source = b"".join(source.read_bytes() for source in jvm.sources())
        found = jvm.layer(self.folder / f"jvm-{_key(' '.join(wanted).encode() + source)}.tar", wanted, self.say)
        return () if found is None else (found,)

    def musl_compilers(self) -> dict[str, list[str]]:
        """The musl versions that this machine can link statically, each with its compiler command.

        musl-gcc is Debian's, of its package's version. The ``ziglang`` wheel brings a newer musl, whose resolver answers
        otherwise; it is fetched into the cache once, and done without where that fails.
        """
        found: dict[str, list[str]] = {}
        if shutil.which("musl-gcc"):
            installed = command.run(["dpkg-query", "-W", "-f=${Version}", "musl-dev"], check=False)
            version = (
                installed.out.split("-")[0].strip() if installed.code == 0 and installed.out.strip() else "unknown"
            )
            found[version] = ["musl-gcc"]
        wheel = packages()["musl_wheel"]
        zig = self.folder / wheel["requirement"].replace("==", "-") / "ziglang" / "zig"
        absent = zig.parent.with_name("absent")
        tried = absent.is_file() and time.time() - absent.stat().st_mtime < _RETRY_AFTER
        if architecture() == "amd64" and not zig.is_file() and not tried:
            self.say(f"fetching {wheel['requirement']} for a probe with musl {wheel['musl']}")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", zig.parent.parent]
            done = command.run([*pip, wheel["requirement"]], check=False, timeout=300)
            if done.code != 0:
                self.say(f"no probe with musl {wheel['musl']}: {done.err.strip()[-200:]}")
                absent.parent.mkdir(exist_ok=True)
                absent.touch()
        if zig.is_file():
            found[wheel["musl"]] = [str(zig), "cc", "-target", "x86_64-linux-musl"]
        if not found:
            raise LabError("no compiler for musl: apt-get install musl-tools")
        return found

    def compiled(self, source: str, compiler: Sequence[str]) -> bytes:
        """A static program from one C file of the lab, compiled once."""
        path = resources.folder() / "images" / source
        kept = self.folder / f"{path.stem}-{_key(path.read_bytes() + ' '.join(compiler).encode())}"
        if not kept.is_file():
            beside = kept.with_suffix(".new")
            command.run(
                [*compiler, "-Os", "-static", "-s", "-o", beside, path],
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


#: Seconds for which a wheel that could not be had is not asked for again.
_RETRY_AFTER = 86400
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


def _key(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
