"""Checks that need nothing but the scene: a file each in the package of their question, found by themselves.

    @check
    def left_to_another_proxy(scene: Scene) -> CheckResult: ...

What several checks share (the client's resolver, a node's tables) is gathered once by the layer, which calls them itself; a
check that asks for itself, or for nothing, is marked and called after those. It may be a generator that yields its Needs.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Generator
from typing import TypeVar

from svcpath.findings.finding import CheckResult, LayerAnswer, extended
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene

Check = Callable[[Scene], CheckResult] | Callable[[Scene], Asking[CheckResult]]
CheckT = TypeVar("CheckT", bound=Check)

_MARKED: dict[str, list[Check]] = {}


def check(function: CheckT) -> CheckT:
    """Mark ``function`` as a check of the layer in whose package it is written."""
    package = function.__module__.rpartition(".")[0]
    _MARKED.setdefault(package, []).append(function)
    return function


@functools.cache
def checks_of(package: str) -> tuple[Check, ...]:
    """The marked functions of a package, by the names of their files."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return tuple(sorted(_MARKED.get(package, ()), key=lambda function: (function.__module__, function.__name__)))


def with_checks(answer: LayerAnswer, package: str, scene: Scene) -> Asking[LayerAnswer]:
    """What a layer said, and what the marked checks of its package add."""
    judgements: list[CheckResult] = []
    for function in checks_of(package):
        asked = function(scene)
        judgements.append((yield from asked) if isinstance(asked, Generator) else asked)
    return extended(answer, judgements)
