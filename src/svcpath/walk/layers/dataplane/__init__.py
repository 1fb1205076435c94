"""Question 6: does the client's node carry the packet to a usable endpoint and back?"""

from __future__ import annotations

from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.request import Request
from svcpath.walk.scene import scene


def layer(request: Request) -> Asking[LayerResult]:
    yield from scene(request)
    gap = NotTested("dataplane", "the node's table", "no rule dump in the evidence")
    return layer_result("dataplane", [Judgement(not_tested=(gap,), looked=False)])
