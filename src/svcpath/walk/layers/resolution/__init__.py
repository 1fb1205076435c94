"""Question 1: does the name resolve, with the application's own resolver?"""

from __future__ import annotations

from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.request import Request
from svcpath.walk.scene import scene


def layer(request: Request) -> Asking[LayerResult]:
    yield from scene(request)
    gap = NotTested("resolution", "the node's table", "no resolv.conf in the evidence")
    return layer_result("resolution", [Judgement(not_tested=(gap,), looked=False)])
