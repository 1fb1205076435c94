"""Error texts that are known, with their usual causes: ``symptoms.yaml``, loaded once and checked."""

from __future__ import annotations

import functools
import importlib.resources

import msgspec

from svcpath.errors import ModelError
from svcpath.findings.catalogue import catalogue
from svcpath.findings.finding import LayerName


class UsualCause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One usual cause of a symptom. ``command`` holds {ns}, {service}, {pod}; ``refutes`` what it would have to show."""

    text: str
    layer: LayerName
    codes: tuple[str, ...]
    command: str
    refutes: str


class Symptom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``words``: any of them, in lower case, within the error text makes it this symptom."""

    name: str
    words: tuple[str, ...]
    causes: tuple[UsualCause, ...]


@functools.cache
def symptoms() -> tuple[Symptom, ...]:
    """All symptoms. The file ships with the package; one that names a code that is not there is an internal error."""
    text = importlib.resources.files("svcpath.findings").joinpath("symptoms.yaml").read_bytes()
    found = msgspec.yaml.decode(text, type=tuple[Symptom, ...])
    named = {code for symptom in found for cause in symptom.causes for code in cause.codes}
    if unknown := sorted(named - set(catalogue())):
        raise ModelError(f"symptoms.yaml names {', '.join(unknown)}, which the catalogue does not have")
    return found


def recognise(text: str) -> Symptom | None:
    """The symptom whose words the error text holds; the longest matching word decides."""
    lowered = text.lower()
    matches = [(len(word), symptom) for symptom in symptoms() for word in symptom.words if word in lowered]
    return max(matches, key=lambda match: match[0])[1] if matches else None
