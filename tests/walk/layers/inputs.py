"""Broken inputs by kind, each beside the healthy neighbour on which the same rule must stay silent.

Every builder makes a new cluster. ``Broken`` says what the verdict must be and which words the sentence must hold;
``Sound`` what it may be at most: healthy, or a warning with one of the named codes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Unpack

from svcpath.reports.records import Report
from tests.fixtures.cluster import Cluster
from tests.fixtures.options import Options

Build = Callable[[], Cluster]


@dataclass(frozen=True, kw_only=True)
class Registered:
    """One kind of input: how to build it, and what is asked of it."""

    name: str
    build: Build
    options: Options = field(default_factory=Options)
    target: str = "svc/web"

    @functools.cached_property
    def report(self) -> Report:
        """What is said of it, asked as it is meant; worked out once in a process."""
        return self.build().diagnose(self.target, **self.options)


@dataclass(frozen=True, kw_only=True)
class Broken(Registered):
    status: str
    layer: str | None
    code: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sound(Registered):
    warns: tuple[str, ...] = ()


BROKEN: list[Broken] = []
SOUND: list[Sound] = []


def broken(
    status: str,
    layer: str | None,
    code: str,
    *says: str,
    target: str = "svc/web",
    **options: Unpack[Options],
) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        name = build.__name__.strip("_")
        BROKEN.append(
            Broken(
                name=name,
                build=build,
                status=status,
                layer=layer,
                code=code,
                says=says,
                options=options,
                target=target,
            )
        )
        return build

    return register


def sound(*warns: str, target: str = "svc/web", **options: Unpack[Options]) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        name = build.__name__.strip("_")
        SOUND.append(Sound(name=name, build=build, warns=warns, options=options, target=target))
        return build

    return register
