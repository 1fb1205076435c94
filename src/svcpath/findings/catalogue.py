"""The one list of codes: loaded once, typed, and used to write findings so that wording lives in one place."""

from __future__ import annotations

import enum
import functools
import importlib.resources
import string
from collections.abc import Mapping
from typing import Literal

import msgspec

from svcpath.errors import ModelError, UnknownTarget
from svcpath.findings.finding import Disproof, Evidence, Finding, Hypothesis, LayerName
from svcpath.findings.shell import fill
from svcpath.status import Confidence, Status


class DisproofTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    refutes: str


class Rests(enum.Enum):
    """Where a finding says that something is missing. What is missing from evidence that was not read whole proves nothing."""

    SLICES = "slices"  #: in no EndpointSlice: one that could not be read may hold it
    OBJECTS = "objects"  #: among no objects: a file of objects that is cut off may hold it
    TABLE = "table"  #: in no rule of a node's dump: the part that a cut dump lost may hold it


class CatalogueEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One code, and how the judge weighs it against others.

    ``layer``: a layer's name, or "evidence" for what is about the evidence itself (such a finding names its layer).
    ``symptom``: it says what was seen, not why; a finding of the same layer that says why leads.
    ``rests_on``: the absence on which it rests; ``empty_slice_proves``: an empty slice shows that absence even where
    objects were lost, for it is the controller's own word that nothing is selected.
    ``explains``: codes whose finding may be a mere consequence of this one; a finding that is one says so
    (``Finding.explains``), and theirs becomes a warning. ``yields_to``, of a symptom: codes of later layers that are the
    cause of what was seen wherever they fail.
    """

    layer: LayerName | Literal["evidence"]
    title: str
    meaning: str
    remedy: str = ""
    disproof: DisproofTemplate | None = None
    symptom: bool = False
    rests_on: frozenset[Rests] = frozenset()
    empty_slice_proves: bool = False
    explains: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()


@functools.cache
def catalogue() -> dict[str, CatalogueEntry]:
    """All codes in order. The file ships with the package; a damaged one is an internal error (ModelError)."""
    text = importlib.resources.files("svcpath.findings").joinpath("catalogue.yaml").read_bytes()
    return checked(msgspec.yaml.decode(text, type=dict[str, CatalogueEntry]))


def checked(entries: dict[str, CatalogueEntry]) -> dict[str, CatalogueEntry]:
    """``entries``, if what they say of each other holds. Raises ModelError otherwise."""
    for code, known in entries.items():
        unknown = [other for other in (*known.explains, *known.yields_to) if other not in entries]
        if unknown:
            raise ModelError(f"catalogue: {code} names {', '.join(unknown)}, which it does not have")
        if code in (*known.explains, *known.yields_to):
            raise ModelError(f"catalogue: {code} explains or yields to itself")
        if known.yields_to and not known.symptom:
            raise ModelError(f"catalogue: {code} yields to others and is no symptom: it already says why")
        if known.empty_slice_proves and Rests.OBJECTS not in known.rests_on:
            raise ModelError(f"catalogue: {code} rests on no objects, so an empty slice proves nothing for it")
        for template in _templates(known):
            _fields(code, template)
    return entries


def _templates(known: CatalogueEntry) -> tuple[str, ...]:
    refuted = known.disproof
    return (known.remedy, *((refuted.command, refuted.refutes) if refuted is not None else ()))


def _fields(code: str, template: str) -> None:
    try:
        names = [name for _, name, _, _ in string.Formatter().parse(template)]
    except ValueError as error:
        raise ModelError(f"catalogue: a template of {code} does not parse: {error}") from error
    if "" in names:
        raise ModelError(f"catalogue: a template of {code} holds an unnamed field")


def entry(code: str) -> CatalogueEntry:
    try:
        return catalogue()[code.upper()]
    except KeyError:
        raise UnknownTarget(
            f"no code {code!r}; codes run from SP001 to {list(catalogue())[-1]}: svcpath explain --list"
        ) from None


def disproof(code: str, **values: object) -> Disproof | None:
    """The code's disproof with real names: quoted for a shell in the command, plain in the prose.

    A value that is a command itself (``show``) is given as ``raw_show`` and not quoted.
    """
    template = entry(code).disproof
    if template is None:
        return None
    plain = {key.removeprefix("raw_"): str(value) for key, value in values.items()}
    raw = {key[4:] for key in values if key.startswith("raw_")}
    return Disproof(fill(template.command, plain, raw=raw), template.refutes.format_map(plain))


def finding(
    code: str,
    status: Status,
    sentence: str,
    *,
    evidence: tuple[Evidence, ...] = (),
    confidence: Confidence | None = Confidence.SUPPORTED,
    cause: str = "",
    cause_layer: LayerName | None = None,
    against: tuple[Evidence, ...] = (),
    others: tuple[Hypothesis, ...] = (),
    details: tuple[str, ...] = (),
    remedy: str = "",
    share: str = "",
    explaining: bool = False,
    layer: LayerName | None = None,
    names: Mapping[str, object] | None = None,
    **values: object,
) -> Finding:
    """Write a finding of the catalogue.

    Its first hypothesis is the code's own: ``cause`` (else the title) with ``confidence``, carried by ``evidence``, and
    refuted by the code's disproof filled with ``names`` and ``values``. ``confidence`` None writes a finding without a hypothesis, for
    what merely is. ``others`` are rival hypotheses. ``explaining``: here what the catalogue says it can explain follows
    from it. A code about the evidence itself needs ``layer``, the one that it speaks of; ModelError without it.
    """
    known = entry(code)
    values = {**(names or {}), **values}
    home = layer or _home(code, known)
    own: tuple[Hypothesis, ...] = ()
    if confidence is not None:
        own = (
            Hypothesis(
                cause=cause or known.title,
                layer=cause_layer or home,
                confidence=confidence,
                supports=evidence,
                against=against,
                disproof=disproof(code, **values) if values else None,
            ),
        )
    plain = {key.removeprefix("raw_"): str(value) for key, value in values.items()}
    text = remedy or (known.remedy.format_map(plain) if values else known.remedy)
    explained = known.explains if explaining else ()
    return Finding(code, home, status, sentence, evidence, own + others, details, text, share, explained)


def _home(code: str, known: CatalogueEntry) -> LayerName:
    if known.layer == "evidence":
        raise ModelError(f"{code} is about the evidence itself: name the layer that it speaks of")
    return known.layer
