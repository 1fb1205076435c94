"""A fault as data: resources/faults/NAME.yaml, or a folder of a user's own.

    about      one sentence
    expect     status (or a list of them), layer, codes: what a right diagnosis gives; healthy controls expect healthy
    target     what diagnose is asked: service, from, port, lookup, resolver (default: the scene's Service from its client)
    needs      modes, families, provider: where this fault can be made at all
    scene      what is different from the start: deployment, service, client (merged into the scene's own), extra objects
    steps      what is done once the scene stands; undo: what is done to nodes and cluster afterwards (the scene's own
               namespace is deleted anyway)
    settle     seconds between the last step and the look (2)

Texts may hold <placeholders>: names, ports and addresses of the scene (ground.py). The steps are those of steps.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import yaml

from svcpath.errors import UsageError
from svcpath_lab import resources


class Expect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a right diagnosis gives. Empty codes: any code of the layer."""

    status: str | tuple[str, ...] = "fault"
    layer: str | tuple[str, ...] = ""
    codes: tuple[str, ...] = ()

    @property
    def statuses(self) -> tuple[str, ...]:
        return (self.status,) if isinstance(self.status, str) else self.status

    @property
    def layers(self) -> tuple[str, ...]:
        named = (self.layer,) if isinstance(self.layer, str) else self.layer
        return tuple(layer for layer in named if layer)


class FaultTarget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"client": "from"}):
    service: str = "<service>"
    client: str = "<client>"
    port: str = ""
    lookup: str = ""
    resolver: str = ""


class Needs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    modes: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    provider: str = ""


class Changes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the scene has instead of its usual: partial objects, merged; ``ready: false`` does not wait for the Pods."""

    deployment: dict[str, Any] = {}
    service: dict[str, Any] = {}
    client: dict[str, Any] = {}
    extra: tuple[dict[str, Any], ...] = ()
    ready: bool = True


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    expect: Expect
    name: str = ""
    target: FaultTarget = FaultTarget()
    needs: Needs = Needs()
    scene: Changes = Changes()
    steps: tuple[dict[str, Any], ...] = ()
    undo: tuple[dict[str, Any], ...] = ()
    settle: float = 2.0

    @property
    def healthy(self) -> bool:
        """Is it a control, on which a fault would be a false accusation?"""
        return self.expect.statuses == ("healthy",)

    def possible(self, *, mode: str, family: str, provider: str) -> bool:
        """Can it be made on such a lab?"""
        return (
            (not self.needs.modes or mode in self.needs.modes)
            and (not self.needs.families or family in self.needs.families)
            and (not self.needs.provider or provider == self.needs.provider)
        )


def read(path: Path) -> Fault:
    """One fault file; raises UsageError with what does not fit."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        fault = msgspec.convert(raw, Fault)
    except (yaml.YAMLError, msgspec.ValidationError) as wrong:
        raise UsageError(f"{path}: {wrong}") from wrong
    return msgspec.structs.replace(fault, name=fault.name or path.stem)


def shipped() -> tuple[Fault, ...]:
    """Every fault and healthy control of the lab, by name."""
    return tuple(read(path) for path in sorted((resources.folder() / "faults").glob("*.yaml")))


def named(name: str) -> Fault:
    for fault in shipped():
        if fault.name == name:
            return fault
    raise UsageError(f"no fault {name!r}; `svcpath lab faults` lists them")
