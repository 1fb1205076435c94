"""Which resolver a container's application goes through, from its processes and the libraries they map. Pure.

The application is the process that owns a socket, else the last descendant of PID 1 behind an init or a shell. Go's own
resolver is known by the build information that the linker leaves in the binary (Go: debug/buildinfo), the JVM by libjvm,
everything else by the libc that is mapped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from svcpath.evidence.facts.node import JvmRuns, JvmSettings, Runtime

_WRAPPERS = frozenset(
    {
        "tini",
        "dumb-init",
        "catatonit",
        "docker-init",
        "pause",
        "s6-svscan",
        "s6-supervise",
        "supervisord",
        "runit",
        "gosu",
    }
    | {"sh", "bash", "dash", "ash", "busybox", "su-exec"}
)


@dataclass(slots=True)
class Process:
    pid: int
    parent: int
    sockets: bool
    program: str
    libraries: list[str] = field(default_factory=list)
    go: bool = False

    @property
    def name(self) -> str:
        return self.program.rpartition("/")[2].removesuffix(" (deleted)")


class Libc(msgspec.Struct, frozen=True):
    """The libcs that the container has, as resolver names ("musl-1.2.5"); "" where there is none."""

    glibc: str = ""
    musl: str = ""

    @property
    def only(self) -> str:
        """The one libc there is; "" for none or both."""
        return (self.glibc or self.musl) if not (self.glibc and self.musl) else ""


def processes(text: str) -> dict[int, Process]:
    found: dict[int, Process] = {}
    for line in text.split("\n"):
        words = line.split("\t")
        if words[0] == "process" and len(words) == 5 and words[1].isdecimal():
            parent = int(words[2]) if words[2].isdecimal() else 0
            found[int(words[1])] = Process(int(words[1]), parent, words[3] == "1", words[4])
        elif words[0] == "library" and len(words) == 3 and words[1].isdecimal() and int(words[1]) in found:
            found[int(words[1])].libraries.append(words[2])
        elif words[0] == "go" and len(words) == 2 and words[1].isdecimal() and int(words[1]) in found:
            found[int(words[1])].go = True
    return found


def libc(text: str) -> Libc:
    glibc = re.search(r"(?m)^glibc (\d+\.\d+)|(?:GLIBC|GNU libc)[^\n]*?(\d+\.\d+)\.?$", text)
    musl = re.search(r"(?m)^musl .*?Version (\d+\.\d+\.\d+)", text)
    # A loader that was seen and not run has no version to tell.
    bare = {line.strip() for line in text.split("\n")}
    return Libc(
        glibc=f"glibc-{glibc.group(1) or glibc.group(2)}" if glibc else "glibc" if "glibc" in bare else "",
        musl=f"musl-{musl.group(1)}" if musl else "musl" if "musl" in bare else "",
    )


def application(processes: dict[int, Process]) -> Process | None:
    """The process whose lookups matter. Sessions that came by exec descend from no PID 1 and are passed over."""
    tree = [process for process in processes.values() if _descends(process, processes)]
    owners = [process for process in tree if process.sockets and process.name not in _WRAPPERS]
    if owners:
        return min(owners, key=lambda process: process.pid)
    rest = [process for process in tree if process.name not in _WRAPPERS]
    return max(rest or tree, key=lambda process: _depth(process, processes), default=None)


def _descends(process: Process, processes: dict[int, Process]) -> bool:
    seen: set[int] = set()
    while process.pid != 1:
        if process.pid in seen or process.parent not in processes:
            # In a shared process namespace the parent may be another container's: its own children still count.
            return process.parent != 0 and process.parent not in processes
        seen.add(process.pid)
        process = processes[process.parent]
    return True


def _depth(process: Process, processes: dict[int, Process]) -> tuple[int, int]:
    depth, seen = 0, {process.pid}
    here = process
    while here.parent in processes and here.parent not in seen:
        seen.add(here.parent)
        here = processes[here.parent]
        depth += 1
    return depth, -process.pid


def runtime(processes: dict[int, Process], libcs: Libc) -> Runtime | str:
    """The resolver and what tells it, or in words why it is not known."""
    app = application(processes)
    if app is None:
        return "no process of the container can be seen"
    sentence = f"PID {app.pid} is {app.program}"
    mapped = " ".join(app.libraries)
    if "libjvm" in mapped or app.name == "java":
        return Runtime(resolver="jvm", evidence=f"{sentence}, a JVM")
    if app.go:
        return Runtime(resolver="go", evidence=f"{sentence}, built by Go, without a libc")
    if app.name == "envoy":
        return Runtime(resolver="envoy", evidence=sentence)
    if "ld-musl" in mapped and libcs.musl:
        return Runtime(resolver=libcs.musl, evidence=f"{sentence}, which maps {_first(app, 'ld-musl')}")
    if re.search(r"libc[.-]", mapped) and libcs.glibc:
        return Runtime(resolver=libcs.glibc, evidence=f"{sentence}, which maps {_first(app, 'libc')}")
    if not app.libraries and libcs.only:
        # Another user's process: its maps can't be read, but a dynamic program has one libc to choose.
        return Runtime(resolver=libcs.only, evidence=f"{sentence}; the container's only libc")
    return f"{sentence}: neither a libc nor Go's resolver is recognised"


def _first(app: Process, part: str) -> str:
    return next((library for library in app.libraries if part in library), part)


def family(app: Process | None) -> str:
    """The interpreter that an application is, as a key of inpod_scripts.OF_RUNTIME; "" for none."""
    name = app.name if app else ""
    for known in ("python", "node", "java", "php", "ruby"):
        if re.fullmatch(rf"{known}[\d.]*(?:-fpm[\d.]*)?", name):
            return known
    return ""


def jvms(text: str) -> JvmRuns | None:
    """The settings of each JVM that a look found; None when there is none."""
    flags: dict[str, list[str]] = {}
    properties: dict[str, dict[str, str]] = {}
    for line in text.split("\n"):
        words = line.split("\t")
        if words[0] == "jvm" and len(words) == 2:
            flags.setdefault(words[1], [])
        elif words[0] == "flag" and len(words) == 3 and words[1] in flags:
            flags[words[1]].append(words[2])
        elif words[0] == "property" and len(words) == 3 and words[1] in flags:
            name, _, value = words[2].partition("=")
            properties.setdefault(words[1], {})[name] = value
    if not flags:
        return None
    return JvmRuns(
        tuple(
            JvmSettings(
                flags=tuple(value),
                security_manager=any(
                    flag.startswith("-Djava.security.manager") and not flag.endswith(("=disallow", "=allow"))
                    for flag in value
                ),
                security_properties=properties.get(pid, {}),
            )
            for pid, value in flags.items()
        )
    )
