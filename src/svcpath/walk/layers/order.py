"""The seven layers in the order in which they are asked."""

from __future__ import annotations

from types import ModuleType

from svcpath.findings.finding import LayerName
from svcpath.walk.layers.dataplane import layer as dataplane
from svcpath.walk.layers.endpoints import layer as endpoints
from svcpath.walk.layers.lifecycle import layer as lifecycle
from svcpath.walk.layers.pod import layer as pod
from svcpath.walk.layers.ports import layer as ports
from svcpath.walk.layers.resolution import layer as resolution
from svcpath.walk.layers.service import layer as service

#: Each layer's package has ``layer(scene)``, a generator that ends in its Answer.
LAYERS: tuple[tuple[LayerName, ModuleType], ...] = (
    ("resolution", resolution),
    ("service", service),
    ("endpoints", endpoints),
    ("ports", ports),
    ("pod", pod),
    ("dataplane", dataplane),
    ("lifecycle", lifecycle),
)
