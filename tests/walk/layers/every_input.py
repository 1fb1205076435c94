"""All kinds of input, from every module beside this one that registers some, in the order of the path.

A broken input lies with the layer that its verdict names; in evidence/ what is odd is the evidence itself.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.walk import layers
from tests.walk.layers.inputs import BROKEN, SOUND, Broken, Sound

__all__ = ["BROKEN", "SOUND", "Broken", "Sound"]

_ORDER = ("resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle", "evidence")

for _layer in _ORDER:
    _package = importlib.import_module(f"{layers.__name__}.{_layer}")
    for _module in pkgutil.iter_modules(_package.__path__):
        if not _module.name.startswith("test_"):
            importlib.import_module(f"{_package.__name__}.{_module.name}")
