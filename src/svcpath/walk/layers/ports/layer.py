"""Question 4: do port and protocol agree, from the Service's port to a listening socket?"""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.ports import listening, named, slice_ports
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.socket_tables import sockets


def layer(view: Scene) -> Asking[LayerAnswer]:
    service = view.service
    if service is not None and service.is_external_name:
        return answer([CheckResult(phrase="not translated: ExternalName")])
    tables = yield from sockets(view)
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    if service is None:
        # The slices carry the ports that the controller resolved: whether anything listens there is seen without it.
        gap = Gap("ports", "the Service's own ports", "no Service was read", "kubectl get services -A -o yaml")
        listened = listening.check(view, tables, attempts)
        return answer([CheckResult(not_looked_at=(gap,), looked=False), listened])
    judgements = [named.check(view), slice_ports.check(view), listening.check(view, tables, attempts)]
    nothing = "no usable endpoint to follow a port to" if view.slices else "no slice and no Pod to follow a port to"
    return answer(judgements, otherwise=nothing)
