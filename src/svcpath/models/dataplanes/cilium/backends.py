"""`cilium-dbg bpf lb list --backends`: which address a backend ID stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.cilium.addresses import address_of
from svcpath.models.dataplanes.table import Backend, NotUnderstood

_BACKEND = re.compile(r"(\d+)\s+(?:(\w+)://)?(\S+?)(?:/(TCP|UDP|SCTP|ANY))?(?:\s.*)?$", re.IGNORECASE)


def backends(text: str) -> tuple[dict[int, Backend], tuple[NotUnderstood, ...]]:
    """Read `bpf lb list --backends`: backend ID to address. Raises FormatError when it is something else."""
    backends: dict[int, Backend] = {}
    not_understood: list[NotUnderstood] = []
    for number, line in _backend_lines(text):
        stripped = line.strip()
        if not stripped or stripped.startswith("ID "):
            continue
        found = _BACKEND.match(stripped)
        backend = address_of(found.group(3)) if found is not None else None
        if found is None or backend is None:
            not_understood.append(NotUnderstood(number, stripped))
        else:
            backends[int(found.group(1))] = backend
    if not backends and not_understood:
        raise FormatError("not the output of cilium-dbg bpf lb list --backends", line=not_understood[0].line)
    return backends, tuple(not_understood)


def _backend_lines(text: str) -> Iterator[tuple[int, str]]:
    if text.lstrip()[:1] != "{":
        yield from enumerate(text.split("\n"), 1)
        return
    try:
        document = msgspec.json.decode(text, type=dict[str, list[str]])
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of cilium-dbg bpf lb list --backends: {error}", line=1) from error
    for number, (key, values) in enumerate(document.items(), 1):
        for value in values:
            yield number, f"{key} {value}"
