"""A bundle's content: the log of one walk as members of an archive, and back. Pure.

    manifest.json        schema, versions, the request, execs done, size and SHA-256 of every other member
    observations.jsonl   one Observation a line, with an id
    needs.jsonl          one Need a line, with the ids of what met it
    texts/ID-KIND.txt    the raw texts (rule dumps, logs, resolv.conf), so that they can be read by eye

Same log, same bytes. What comes in is checked against the manifest; values are decoded into the types they are said to be,
and a member that does not fit is a FormatError. Values are reduced (formats/private.py) on their way out.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import connections, conntrack, dns, kubernetes, node, sockets, text
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, unreadable
from svcpath.evidence.facts.request import Request
from svcpath.evidence.formats import earlier
from svcpath.evidence.formats.private import reduced

SCHEMA = "svcpath.bundle/v2"
Observed = Observation[Any]
Log = Mapping[Need, tuple[Observed, ...]]

_TYPES: dict[str, type[msgspec.Struct]] = {
    name: found
    for module in (connections, conntrack, dns, kubernetes, node, sockets, text)
    for name, found in inspect.getmembers(module, inspect.isclass)
    if issubclass(found, msgspec.Struct) and f"{found.__module__}.".startswith(f"{module.__name__}.")
}
_TEXTS = (text.RawText, text.LogText)
_EARLIER = earlier.advice("svcpath collect")
_REQUEST = frozenset({"target", "namespace", *(field.name for field in msgspec.structs.fields(Request))})
MANIFEST, OBSERVATIONS, NEEDS = "manifest.json", "observations.jsonl", "needs.jsonl"


class Member(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """``created`` is the API server's time; ``skew`` the seconds this machine's clock was ahead of it. ``request`` are the
    words of the call, so that the bundle can be diagnosed without saying them again."""

    schema: str = SCHEMA
    svcpath: str = ""
    kubernetes: str = ""
    created: str = ""
    skew: float = 0.0
    request: dict[str, str] = {}
    execs: tuple[str, ...] = ()
    pseudonyms: bool = False
    members: dict[str, Member] = {}


class Bundle(msgspec.Struct, frozen=True):
    """A manifest and a log. ``observations`` are all of the log, each once, in the order in which they came."""

    manifest: Manifest
    log: Log
    observations: tuple[Observed, ...] = ()


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    kind: str
    state: str
    reason: str = ""
    why: str = ""
    provenance: dict[str, Any] = {}
    type: str = ""
    value: Any = None
    text: str = ""


class _Met(msgspec.Struct, kw_only=True):
    need: dict[str, Any]
    by: tuple[int, ...]


_ENCODER = msgspec.json.Encoder(order="deterministic")


def of_log(log: Log, manifest: Manifest) -> Bundle:
    """A bundle of a recorded log, with everything private reduced."""
    clean: dict[int, Observed] = {}
    result: dict[Need, tuple[Observed, ...]] = {}
    for need, observations in log.items():
        for observation in observations:
            if id(observation) not in clean:
                clean[id(observation)] = Observation(
                    observation.kind,
                    observation.state,
                    reduced(observation.value),
                    observation.reason,
                    observation.why,
                    observation.provenance,
                )
        result[need] = tuple(clean[id(observation)] for observation in observations)
    return Bundle(manifest, result, tuple(clean.values()))


def pack(bundle: Bundle) -> dict[str, bytes]:
    """Member name -> content, the manifest first."""
    members: dict[str, bytes] = {}
    ids = {id(observation): number for number, observation in enumerate(bundle.observations)}
    lines: list[bytes] = []
    for number, observation in enumerate(bundle.observations):
        name = ""
        value: Any = observation.value
        if isinstance(value, _TEXTS):
            name = f"texts/{number:04}-{re.sub(r'[^A-Za-z0-9.-]+', '_', observation.kind.value)}.txt"
            members[name] = value.text.encode("utf-8", "surrogatepass")
            value = msgspec.structs.replace(value, text="")
        lines.append(
            _ENCODER.encode(
                _Line(
                    id=number,
                    kind=observation.kind.value,
                    state=observation.state.value,
                    reason=observation.reason.value if observation.reason is not None else "",
                    why=observation.why,
                    provenance={
                        key: field for key, field in msgspec.structs.asdict(observation.provenance).items() if field
                    },
                    type=type(value).__name__ if value is not None else "",
                    value=value,
                    text=name,
                )
            )
        )
    met = [
        _ENCODER.encode(
            _Met(
                need={key: field for key, field in _plain(need).items() if field},
                by=tuple(ids[id(observation)] for observation in observations),
            )
        )
        for need, observations in bundle.log.items()
    ]
    members[OBSERVATIONS] = b"".join(line + b"\n" for line in lines)
    members[NEEDS] = b"".join(line + b"\n" for line in met)
    listed = {name: Member(len(data), hashlib.sha256(data).hexdigest()) for name, data in sorted(members.items())}
    manifest = msgspec.structs.replace(bundle.manifest, members=listed)
    return {MANIFEST: msgspec.json.format(_ENCODER.encode(manifest), indent=1) + b"\n", **dict(sorted(members.items()))}


def _plain(need: Need) -> dict[str, Any]:
    plain = msgspec.structs.asdict(need)
    plain["kind"] = need.kind.value
    plain["cost"] = int(need.cost)
    return plain


def unpack(members: Mapping[str, bytes]) -> Bundle:
    """The bundle of these members. Raises FormatError, with the member's name, when they are none or were changed."""
    try:
        manifest = msgspec.json.decode(members.get(MANIFEST, b""), type=Manifest)
    except msgspec.MsgspecError as error:
        raise FormatError(f"no bundle: {error}", path=MANIFEST) from error
    if manifest.schema != SCHEMA:
        raise FormatError(
            f"schema {manifest.schema!r}; this svcpath reads {SCHEMA}: collect the bundle again", path=MANIFEST
        )
    for name, member in manifest.members.items():
        data = members.get(name)
        if data is None:
            raise FormatError("is missing from the bundle", path=name)
        if len(data) != member.size or hashlib.sha256(data).hexdigest() != member.sha256:
            raise FormatError("is not what the manifest says: changed or cut", path=name)
    for name in members:
        if name != MANIFEST and name not in manifest.members:
            raise FormatError("is not in the manifest", path=name)
    if not _REQUEST.issuperset(manifest.request):
        raise FormatError(_EARLIER, path=MANIFEST)
    observations: dict[int, Observed] = {}
    for line, raw in _lines(members, OBSERVATIONS):
        number, observation = _observation(raw, line, members)
        observations[number] = observation
    log: dict[Need, tuple[Observed, ...]] = {}
    for line, raw in _lines(members, NEEDS):
        try:
            met = msgspec.json.decode(raw, type=_Met)
            if met.need.get("kind") in earlier.KINDS:
                raise FormatError(_EARLIER, path=NEEDS, line=line)
            need = msgspec.convert(met.need, Need, strict=False)
        except msgspec.MsgspecError as error:
            raise FormatError(str(error), path=NEEDS, line=line) from error
        found = tuple(observations[number] for number in met.by if number in observations)
        # What was left out is said, so that a list with a gap does not pass for a whole one.
        log[need] = found if found and len(found) == len(met.by) else (*found, left_out(need))
    return Bundle(manifest, log, tuple(observations.values()))


def _lines(members: Mapping[str, bytes], name: str) -> list[tuple[int, bytes]]:
    return [(number, raw) for number, raw in enumerate(members.get(name, b"").split(b"\n"), 1) if raw.strip()]


def _observation(raw: bytes, line: int, members: Mapping[str, bytes]) -> tuple[int, Observed]:
    try:
        read = msgspec.json.decode(raw, type=_Line)
        if read.kind in earlier.KINDS:
            raise FormatError(_EARLIER, path=OBSERVATIONS, line=line)
        kind, state = Kind(read.kind), State(read.state)
        where = msgspec.convert(read.provenance, Provenance)
        value = None
        if read.type:
            record = _TYPES.get(read.type)
            if record is None:
                raise FormatError(
                    _EARLIER if read.type in earlier.TYPES else f"unknown type {read.type!r}",
                    path=OBSERVATIONS,
                    line=line,
                )
            value = msgspec.convert(read.value, record)
        if isinstance(value, _TEXTS):
            value = msgspec.structs.replace(value, text=members[read.text].decode("utf-8", "surrogatepass"))
        return read.id, Observation(kind, state, value, Reason(read.reason) if read.reason else None, read.why, where)
    except (msgspec.MsgspecError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise FormatError(f"no observation: {error}", path=OBSERVATIONS, line=line) from error


def left_out(need: Need) -> Observed:
    """What stands for an observation that the log speaks of and the bundle does not hold."""
    return unreadable(need.kind, Trouble(Reason.LEFT_OUT, "left out of the bundle"), Provenance("bundle"))
