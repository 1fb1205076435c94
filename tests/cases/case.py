"""A case: a folder that holds one broken input, what must be said of it, and the neighbours on which nothing may be said.

    tests/cases/LAYER/SLUG/
      case.yaml    what is asked, what must be said, and what the printed disproof prints (``Case``)
      evidence/    the input: files as somebody recorded them
      healthy/     the neighbour in which all is well: files laid over evidence/; an empty file removes its namesake
      disproved/   a neighbour in which the finding is wrong, where healthy/ does not show that to the disproof

What only a running cluster shows (repeated connections, a command that does not start) is written as a bundle holds it:
``observations.jsonl``, and ``needs.jsonl`` where an observation could not be made. test_cases.py finds every folder by itself.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from svcpath.evidence.facts.source import Source
from svcpath.evidence.formats.bundles import MANIFEST, NEEDS, OBSERVATIONS, Manifest, Member, unpack
from svcpath.evidence.sources.bundle import BundleSource, JoinedSource
from svcpath.evidence.sources.memory import BytesSource

FOLDER = Path(__file__).parent
#: Public cases have a form of their own (tests/cases/public).
LAYERS = ("resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle")


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what case.yaml holds: a field that is not known is an error."""


class Ask(Strict, frozen=True, kw_only=True):
    """The words of ``svcpath.diagnose``; left out, the evidence tells which Service is meant."""

    target: str = ""
    namespace: str = ""
    port: str = ""
    client: str = ""
    container: str = ""
    lookup: str = ""
    resolver: str = ""
    symptom: str = ""


class Budget(Strict, frozen=True, kw_only=True):
    """The words of ``svcpath.budget``: in place of ``ask``, for codes that it alone gives. Terms in seconds."""

    longest_request: float | None = None
    lb_removal: float | None = None
    propagation: float | None = None
    shutdown: float | None = None


class Expect(Strict, frozen=True, kw_only=True):
    """``status`` of the verdict (of a budget: its outcome); ``layer`` is null where no layer fails. ``says``: words of the
    decisive text; ``never_says``: words of no text at all."""

    status: str
    code: str
    layer: str | None = None
    confidence: str = ""
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()


class Healthy(Strict, frozen=True, kw_only=True):
    """``warns``: codes that the healthy neighbour may warn of, and no other."""

    warns: tuple[str, ...] = ()


class Disproof(Strict, frozen=True, kw_only=True):
    """What the disproof that the report prints for this code prints itself, as a regular expression or "nothing": on this
    evidence, and where the finding is wrong. ``not_run``: why no fake tool can show it."""

    here: str = ""
    where_wrong: str = ""
    not_run: str = ""


class Written(Strict, frozen=True, kw_only=True):
    """case.yaml. ``about``: what is broken and where it was seen. Without ``disproof`` the report must print none."""

    about: str
    expect: Expect
    ask: Ask = Ask()
    budget: Budget | None = None
    disproof: Disproof | None = None
    healthy: Healthy = Healthy()


class BadCase(Exception):
    """A folder that is no case: its path, and what to change."""


@dataclass(frozen=True)
class Case:
    """One folder, read. Files are path -> content, relative to evidence/."""

    name: str
    layer: str
    written: Written
    evidence: dict[str, bytes]
    healthy: dict[str, bytes]
    disproved: dict[str, bytes]

    def __str__(self) -> str:
        return self.name


def folders() -> list[Path]:
    """Every folder of a case; what lies where no case may lie is an error too."""
    found = sorted(path.parent for path in FOLDER.glob("*/*/case.yaml"))
    for folder in FOLDER.glob("*/*/evidence"):
        if folder.parent not in found:
            raise BadCase(f"{folder.parent}: has evidence/ and no case.yaml")
    for folder in found:
        if folder.parent.name not in LAYERS:
            raise BadCase(f"{folder}: {folder.parent.name} is no layer; layers are {', '.join(LAYERS)}")
    return found


def read(folder: Path) -> Case:
    """Raises BadCase, with the path, for what does not fit."""
    path = folder / "case.yaml"
    try:
        written = msgspec.yaml.decode(path.read_bytes(), type=Written)
    except msgspec.MsgspecError as error:
        raise BadCase(f"{path}: {error}") from error
    _check(path, written)
    evidence = _files(folder / "evidence")
    over = _files(folder / "healthy")
    if not evidence or not over:
        raise BadCase(f"{folder}: needs evidence/ and healthy/, each with at least one file")
    healthy = _laid_over(folder / "healthy", evidence, over)
    wrong = _files(folder / "disproved")
    return Case(
        name=f"{folder.parent.name}/{folder.name}",
        layer=folder.parent.name,
        written=written,
        evidence=evidence,
        healthy=healthy,
        disproved=_laid_over(folder / "disproved", evidence, wrong) if wrong else healthy,
    )


@functools.cache
def cases() -> tuple[Case, ...]:
    return tuple(read(folder) for folder in folders())


def _check(path: Path, written: Written) -> None:
    if written.budget is not None and written.ask != Ask():
        raise BadCase(f"{path}: ask and budget exclude each other")
    disproof = written.disproof
    if disproof is None:
        return
    if bool(disproof.not_run) == bool(disproof.here and disproof.where_wrong):
        raise BadCase(f"{path}: disproof needs here and where_wrong, or else not_run with the reason")
    for pattern in (disproof.here, disproof.where_wrong):
        try:
            re.compile(pattern)
        except re.error as error:
            raise BadCase(f"{path}: disproof: {pattern!r}: {error}") from error


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _laid_over(folder: Path, evidence: dict[str, bytes], over: dict[str, bytes]) -> dict[str, bytes]:
    """``evidence`` with the files of ``over``; an empty one takes its namesake away."""
    for path, data in over.items():
        if not data and path not in evidence:
            raise BadCase(f"{folder / path}: is empty, and evidence/ has no such file to remove")
        if data and evidence.get(path) == data:
            raise BadCase(f"{folder / path}: is the same as in evidence/")
    return {path: data for path, data in {**evidence, **over}.items() if data or path not in over}


def source(files: dict[str, bytes]) -> Source:
    """The files of a case as evidence, with what stands in them as a bundle's lines."""
    bundled = {name: files[name] for name in (OBSERVATIONS, NEEDS) if name in files}
    plain = BytesSource({path: data for path, data in files.items() if path not in bundled})
    if not bundled:
        return plain
    members = {name: Member(len(data), hashlib.sha256(data).hexdigest()) for name, data in bundled.items()}
    manifest = msgspec.json.encode(Manifest(members=members))
    return JoinedSource([BundleSource(unpack({MANIFEST: manifest, **bundled})), plain])
