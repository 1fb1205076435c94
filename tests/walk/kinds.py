"""Broken inputs by kind, each beside the healthy neighbour on which the same rule must stay silent.

Every builder makes a cluster anew. ``Broken`` says what the verdict must be and which words the sentence must hold;
``Sound`` what it may be at most: healthy, or a warning with one of the named codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.walk.clusters import Cluster

Build = Callable[[], Cluster]


@dataclass(frozen=True)
class Broken:
    name: str
    build: Build
    status: str
    layer: str | None
    code: str
    says: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    target: str = "svc/web"


@dataclass(frozen=True)
class Sound:
    name: str
    build: Build
    warns: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    target: str = "svc/web"


BROKEN: list[Broken] = []
SOUND: list[Sound] = []


def broken(
    status: str,
    layer: str | None,
    code: str,
    *says: str,
    target: str = "svc/web",
    **options: str,
) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        BROKEN.append(Broken(build.__name__.strip("_"), build, status, layer, code, says, options, target))
        return build

    return register


def sound(*warns: str, target: str = "svc/web", **options: str) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        SOUND.append(Sound(build.__name__.strip("_"), build, warns, options, target))
        return build

    return register
