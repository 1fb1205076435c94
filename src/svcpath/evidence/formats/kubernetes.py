"""Kubernetes objects in JSON: single, several, Lists, watch events, bare arrays as support bundles hold them.

A List is cut into raw items and each is decoded once, straight into its record: the record of the item before is tried
first, since lists are mostly of one kind, so that no second pass finds the kind. An item of a wrong type is reported and
its neighbours are kept. Which record reads what is said in kubernetesrecords.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats import jsontext, limits, proxyconfig
from svcpath.evidence.formats.item import Item, Listing, Watched, damaged
from svcpath.evidence.formats.kubernetesrecords import (
    KIND_OF,
    RECORDS,
    Bare,
    Meta,
    NotKubernetes,
    bare_secret,
    belongs,
    fact_kind,
    has_pod_template,
    infer_kind,
    record_name,
    with_kind,
    without_last_applied,
    workload_like,
)

_ERRORS = (msgspec.MsgspecError, RecursionError)


class _Envelope(msgspec.Struct):
    """Enough of a document to tell what it is."""

    kind: Any = None
    api_version: Any = msgspec.field(name="apiVersion", default=None)
    metadata: msgspec.Raw = msgspec.Raw()
    items: msgspec.Raw = msgspec.Raw()
    type: Any = None
    object: msgspec.Raw = msgspec.Raw()
    received: Any = None
    time: Any = None


class _Shape(msgspec.Struct):
    """Field names that tell the kind of an object that does not name it."""

    metadata: Any = None
    spec: Any = None
    status: Any = None
    endpoints: Any = msgspec.UNSET
    addressType: Any = msgspec.UNSET  # noqa: N815
    subsets: Any = msgspec.UNSET
    involvedObject: Any = msgspec.UNSET  # noqa: N815
    regarding: Any = msgspec.UNSET


_DECODERS = {name: msgspec.json.Decoder(record) for name, record in RECORDS.items()}
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_BARE = msgspec.json.Decoder(Bare)
_SHAPE = msgspec.json.Decoder(_Shape)


# --- documents -----------------------------------------------------------------------------------------------------


def read_json(data: bytes) -> list[Item | Listing]:
    """Objects of a JSON text. Raises FormatError when it holds no Kubernetes object, TooLarge above the limit."""
    if len(data) > limits.MAX_JSON:
        raise TooLarge(f"JSON of more than {limits.MAX_JSON // limits.MIB} MiB: split it")
    try:
        return list(_document(data, 0))
    except _ERRORS as error:
        return _stream(data, error)


def _stream(data: bytes, first: msgspec.MsgspecError | RecursionError) -> list[Item | Listing]:
    """Several documents, or a damaged one."""
    pieces = list(jsontext.values(data))
    line, column = jsontext.place_of(data, str(first))
    if len(pieces) <= 1:
        kept = list(_salvage(data))
        if not kept:
            raise FormatError(_why(first), line=line, column=column) from first
        return [*kept, damaged("Kubernetes objects", _why(first), line=line, read=f"{len(kept)} objects")]
    found: list[Item | Listing] = []
    good = 0
    for piece in pieces:
        if not piece.complete:
            found.append(
                damaged("Kubernetes objects", "the last document is cut off", line=piece.line, read=f"{good} documents")
            )
            continue
        try:
            found.extend(_document(piece.data, piece.line))
            good += 1
        except (FormatError, *_ERRORS) as error:
            why = error.message if isinstance(error, FormatError) else _why(error)
            found.append(damaged("Kubernetes objects", why, line=piece.line, read=f"{_title(piece.data)} left out"))
    if not good:
        raise NotKubernetes("no document is a Kubernetes object", line=line) from first
    return found


def _document(raw: bytes, line: int) -> Iterator[Item | Listing]:
    """One document: an object, a List, a watch event or a bare array. ``line`` is where it starts, 0 the whole text."""
    stripped = raw.lstrip()
    if stripped[:1] == b"[":
        yield from _array(_ITEMS.decode(raw), line)
        return
    envelope = _ENVELOPE.decode(raw)
    kind = envelope.kind if isinstance(envelope.kind, str) else ""
    if bytes(envelope.object)[:1] == b"{" and isinstance(envelope.type, str) and not kind:
        yield from _watch_event(envelope, line)
        return
    if (kind.endswith("List") or not kind) and bytes(envelope.items)[:1] == b"[":
        yield from _list(raw, envelope, kind, line)
        return
    if not kind and not infer_kind(_fields(_SHAPE.decode(raw))):
        raise NotKubernetes("no Kubernetes object: no kind", line=line)
    if kind == proxyconfig.KIND:
        yield Item(Kind.KUBE_PROXY_CONFIG, proxyconfig.from_value(msgspec.json.decode(raw)), line)
        return
    if kind and not bytes(envelope.metadata) and not isinstance(envelope.api_version, str):
        raise NotKubernetes("no Kubernetes object: neither apiVersion nor metadata", line=line)
    obj = _ItemDecoder(kind, envelope.api_version or "").decode(raw)
    yield Item(fact_kind(obj), obj, line)


def _watch_event(envelope: _Envelope, line: int) -> Iterator[Item]:
    received = next((value for value in (envelope.received, envelope.time) if isinstance(value, str)), "")
    if envelope.type == "ERROR":
        yield damaged("watch", "the watch ended with an error event", line=line)
        return
    obj = _ItemDecoder().decode(envelope.object)
    yield Item(fact_kind(obj), obj, line, watched=Watched(envelope.type, received))


def _list(raw: bytes, envelope: _Envelope, kind: str, line: int) -> Iterator[Item | Listing]:
    meta = msgspec.json.decode(envelope.metadata, type=Meta) if bytes(envelope.metadata)[:1] == b"{" else Meta()
    item_kind = "" if kind in ("List", "") else kind.removesuffix("List")
    api_version = envelope.api_version if isinstance(envelope.api_version, str) else ""
    complete = not meta.continue_ and not meta.remaining
    name = record_name(item_kind, api_version)
    if complete:
        yield Listing(KIND_OF.get(name) if name else None, line)
    else:
        yield damaged("Kubernetes list", "the list goes on (metadata.continue is set): it is one page of several")
    decoder = _ItemDecoder(item_kind, "" if item_kind == "" else api_version)
    yield from _items(_ITEMS.decode(envelope.items), decoder, complete, lambda piece: _line_in(raw, piece, line))


class Page(msgspec.Struct, frozen=True):
    """One page of an API list; ``following`` is its continue token, empty on the last page."""

    items: tuple[Item, ...]
    following: str


def read_page(data: bytes) -> Page:
    """The items of one page as an API server sends it. Raises FormatError when it is no list."""
    try:
        envelope = _ENVELOPE.decode(data)
        kind = envelope.kind if isinstance(envelope.kind, str) else ""
        if bytes(envelope.items)[:4] == b"null":
            pieces: list[msgspec.Raw] = []
        elif bytes(envelope.items)[:1] == b"[":
            pieces = _ITEMS.decode(envelope.items)
        else:
            raise FormatError("no list of Kubernetes objects")
        meta = msgspec.json.decode(envelope.metadata, type=Meta) if bytes(envelope.metadata)[:1] == b"{" else Meta()
    except _ERRORS as error:
        raise FormatError(_why(error)) from error
    api_version = envelope.api_version if isinstance(envelope.api_version, str) else ""
    decoder = _ItemDecoder(kind.removesuffix("List"), api_version)
    return Page(tuple(_items(pieces, decoder, True, lambda piece: 0)), meta.continue_)


def _line_in(raw: bytes, piece: bytes, first: int) -> int:
    found = raw.find(piece)
    return first + raw.count(b"\n", 0, found) if found >= 0 else first


def _array(pieces: list[msgspec.Raw], line: int) -> Iterator[Item | Listing]:
    found = list(_items(pieces, _ItemDecoder(), True, lambda piece: line))
    if not any(item.kind is not Kind.DAMAGED and _is_kubernetes(item.value) for item in found):
        raise NotKubernetes("no Kubernetes object in the array", line=line)
    yield from found


def _is_kubernetes(obj: Any) -> bool:
    return isinstance(obj, api.Object) and bool(obj.kind)


def _items(
    pieces: list[msgspec.Raw], decoder: _ItemDecoder, complete: bool, line_of: Callable[[bytes], int]
) -> Iterator[Item]:
    for piece in pieces:
        try:
            obj = decoder.decode(piece)
        except _ERRORS as error:
            text = bytes(piece)
            yield damaged("Kubernetes objects", f"{_title(text)}: {_why(error)}", line=line_of(text), read="the others")
            continue
        yield Item(fact_kind(obj), obj, listing=complete)


_ITEMS_KEY = re.compile(rb'"items"\s*:\s*\[')


def _salvage(data: bytes) -> Iterator[Item]:
    """The complete items of a List that is cut off."""
    match = _ITEMS_KEY.search(data)
    if match is None:
        return
    decoder = _ItemDecoder()
    for piece in jsontext.values(data, match.end()):
        if not piece.complete:
            return
        try:
            obj = decoder.decode(piece.data)
        except _ERRORS:
            continue
        if obj.kind:
            yield Item(fact_kind(obj), obj, piece.line)


# --- one object ----------------------------------------------------------------------------------------------------


class _ItemDecoder:
    """Decodes the items of one list; remembers the kind before, and the kind that the list says it holds."""

    def __init__(self, kind: str = "", api_version: str = "") -> None:
        self.kind = kind
        self.api_version = api_version
        self.guess = record_name(kind, api_version)

    def decode(self, raw: bytes | msgspec.Raw) -> api.Object:
        if self.guess:
            try:
                obj: api.Object = _DECODERS[self.guess].decode(raw)
            except msgspec.ValidationError:
                pass  # of another kind, or wrong: distinguished below, with the kind read
            else:
                if obj.kind == self.guess and belongs(obj.kind, obj.api_version):
                    return without_last_applied(obj)
        return self._by_kind(raw)

    def _by_kind(self, raw: bytes | msgspec.Raw) -> api.Object:
        bare = _ENVELOPE.decode(raw)
        kind = bare.kind if isinstance(bare.kind, str) else ""
        api_version = bare.api_version if isinstance(bare.api_version, str) else ""
        if not kind:
            kind = self.kind or infer_kind(_fields(_SHAPE.decode(raw)))
            api_version = api_version or self.api_version
        if kind == "Secret":
            return bare_secret(_BARE.decode(raw))
        name = record_name(kind, api_version)
        obj: api.Object = _DECODERS[name].decode(raw)
        if isinstance(obj, api.OtherObject) and has_pod_template(obj.spec):
            obj = workload_like(msgspec.json.decode(raw))
        self.guess = name
        return without_last_applied(with_kind(obj, kind, api_version))


def _fields(shape: _Shape) -> dict[str, Any]:
    return {
        name: value
        for name in shape.__struct_fields__
        if (value := getattr(shape, name)) is not msgspec.UNSET and value is not None
    }


def _why(error: msgspec.MsgspecError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)


def _title(raw: bytes) -> str:
    """Kind and name of an object for a message, as far as they can be read."""
    try:
        bare = _BARE.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return "an object"
    name = "/".join(part for part in (bare.metadata.namespace, bare.metadata.name) if part)
    return f"{bare.kind or 'object'} {name}".strip()
