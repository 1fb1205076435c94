"""Question 3: is there a usable endpoint, ready, else serving and terminating?"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.findings.shell import scope
from svcpath.status import Status
from svcpath.walk.ask import Asking
from svcpath.walk.layers.endpoints import aliased, families, identity, legacy, readiness, selection, slices, templates
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.troubles import failed


def layer(view: Scene) -> Asking[LayerAnswer]:
    request = view.request
    if view.service is not None and view.service.is_external_name:
        return answer([(yield from aliased.check(view.service))])
    if view.service is None and not view.slices:
        gap = Gap(
            "endpoints",
            "the endpoints",
            view.slices_reply.why or "no EndpointSlice was read",
            f"kubectl {scope(request.namespace)} get endpointslices -o yaml",
            view.slices_reply.in_vain,
        )
        return answer([CheckResult(not_looked_at=(gap,), looked=False)])
    trouble = failed(view.slices_reply.observations)
    if trouble is not None and not view.slices:
        return (yield from _without_slices(view, trouble))
    judgements = [
        (yield from selection.check(view)),
        (yield from templates.check(view)),
        (yield from slices.check(view)),
        (yield from legacy.check(view)),
        families.check(view),
        (yield from readiness.check(view)),
        (yield from identity.check(view)),
    ]
    if not view.slices and not any(result.findings for result in judgements):
        # Pods alone do not show what nodes are given: without slices nothing passes here.
        judgements = [msgspec.structs.replace(result, looked=False) for result in judgements]
    looked = any(result.looked for result in judgements)
    if looked and not any(result.status is Status.FAIL for judged in judgements for result in judged.findings):
        judgements.append(CheckResult(phrase=_summary(view), looked=bool(view.slices)))
    return answer(judgements)


def _without_slices(view: Scene, trouble: Observation[Any]) -> Asking[LayerAnswer]:
    """The slices could not be read: what the selector matches is said, that an endpoint is usable is not."""
    gap = Gap("endpoints", "the EndpointSlices", trouble.why, trouble.provenance.command, (trouble,))
    judged = yield from selection.check(view)
    selected = msgspec.structs.replace(judged, looked=bool(judged.findings))
    return answer([selected, CheckResult(not_looked_at=(gap,), looked=False)])


def _summary(view: Scene) -> str:
    """ "2 of 2 ready: 10.244.1.4 (w1), 10.244.2.4 (w2)", each with its port where slices differ in it."""
    numbers = {port.port for slice_ in view.slices for port in slice_.fact.ports or () if port.port is not None}
    shown = []
    for endpoint in view.usable[:6]:
        port = next((port.port for port in endpoint.slice.ports or () if port.port is not None), None)
        place = host_port(endpoint.address, port) if len(numbers) > 1 and port is not None else endpoint.address
        node = endpoint.endpoint.node_name
        shown.append(f"{place} ({node})" if node else place)
    more = f" and {len(view.usable) - 6} more" if len(view.usable) > 6 else ""
    kind = "ready" if view.ready else "serving while terminating"
    return f"{len(view.usable)} of {len(view.distinct)} {kind}: {', '.join(shown)}{more}"
