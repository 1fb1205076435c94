"""The one list of codes: loaded once, typed, and used to write findings so that wording lives in one place."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from typing import get_args

import msgspec

from svcpath.errors import UnknownTarget
from svcpath.walk.findings.finding import (
    Evidence,
    Falsifier,
    Finding,
    Hypothesis,
    LayerName,
    Standing,
    Status,
)
from svcpath.walk.shell import fill


class FalsifierTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    refutes: str


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One code. ``layer`` is a layer's name, or "evidence" for what is about the evidence itself. ``symptom``: it says what
    was seen, not why; a finding of the same layer that says why leads."""

    layer: str
    title: str
    meaning: str
    remedy: str = ""
    falsifier: FalsifierTemplate | None = None
    symptom: bool = False


@functools.cache
def catalogue() -> dict[str, Entry]:
    """All codes in order. The file ships with the package; a damaged one is an internal error."""
    text = importlib.resources.files("svcpath.walk.findings").joinpath("catalogue.yaml").read_bytes()
    return msgspec.yaml.decode(text, type=dict[str, Entry])


def entry(code: str) -> Entry:
    try:
        return catalogue()[code.upper()]
    except KeyError:
        raise UnknownTarget(
            f"no code {code!r}; codes run from SP001 to {list(catalogue())[-1]}: svcpath explain --list"
        ) from None


def falsifier(code: str, **values: object) -> Falsifier | None:
    """The code's falsifier with real names: quoted for a shell in the command, plain in the prose.

    A value that is a command itself (``show``) is given as ``raw_show`` and not quoted.
    """
    template = entry(code).falsifier
    if template is None:
        return None
    plain = {key.removeprefix("raw_"): str(value) for key, value in values.items()}
    raw = {key[4:] for key in values if key.startswith("raw_")}
    return Falsifier(fill(template.command, plain, raw=raw), template.refutes.format_map(plain))


def finding(
    code: str,
    status: Status,
    sentence: str,
    *,
    evidence: tuple[Evidence, ...] = (),
    standing: Standing | None = Standing.SUPPORTED,
    cause: str = "",
    cause_layer: LayerName | None = None,
    against: tuple[Evidence, ...] = (),
    others: tuple[Hypothesis, ...] = (),
    details: tuple[str, ...] = (),
    remedy: str = "",
    share: str = "",
    explains: tuple[str, ...] = (),
    layer: LayerName | None = None,
    names: Mapping[str, object] | None = None,
    **values: object,
) -> Finding:
    """Write a finding of the catalogue.

    Its first hypothesis is the code's own: ``cause`` (else the title) with ``standing``, carried by ``evidence``, and
    refuted by the code's falsifier filled with ``names`` and ``values``. ``standing`` None writes a finding without a hypothesis, for
    what merely is. ``others`` are rival hypotheses.
    """
    known = entry(code)
    values = {**(names or {}), **values}
    home = layer or _layer_of(known.layer)
    own: tuple[Hypothesis, ...] = ()
    if standing is not None:
        own = (
            Hypothesis(
                cause=cause or known.title,
                layer=cause_layer or home,
                standing=standing,
                supports=evidence,
                against=against,
                falsifier=falsifier(code, **values) if values else None,
            ),
        )
    plain = {key.removeprefix("raw_"): str(value) for key, value in values.items()}
    text = remedy or (known.remedy.format_map(plain) if values else known.remedy)
    return Finding(code, home, status, sentence, evidence, own + others, details, text, share, explains)


def _layer_of(name: str) -> LayerName:
    for layer in get_args(LayerName):
        if layer == name:
            return layer  # type: ignore[no-any-return]
    return "resolution"
