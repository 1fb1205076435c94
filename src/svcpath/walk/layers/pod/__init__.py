"""Question 5: does a direct connection to the Pod's address work, from the same client?"""

from __future__ import annotations

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.layers.pod import direct, policies, state
from svcpath.walk.request import Request
from svcpath.walk.scene import host_port, scene


def layer(request: Request) -> Asking[LayerResult]:
    view = yield from scene(request)
    if not view.usable:
        gap = NotTested("pod", "a direct connection", "no usable endpoint to connect to")
        return layer_result("pod", [Judgement(not_tested=(gap,), looked=False)])
    attempts = yield from ask.one(
        Need(Kind.ATTEMPTS, pod=request.client, cost=Cost.PROBE, permission="create pods/exec")
    )
    policy = yield from policies.check(view, attempts)
    judgements = [direct.check(view, attempts), policy, (yield from state.check(view))]
    if not attempts.present:
        endpoint = view.usable[0]
        port = next((port.port for port in endpoint.slice.ports or () if port.port is not None), 80)
        client = request.client_name or "CLIENT-POD"
        namespace = request.client_namespace or request.namespace
        gap = NotTested(
            "pod",
            "a direct connection to the Pods",
            "no recorded connection attempts",
            f"kubectl -n {namespace} exec {client} -- curl -sv --connect-timeout 2 http://{host_port(endpoint.address, port)}/",
        )
        judgements.append(Judgement(not_tested=(gap,), looked=False))
    return layer_result("pod", judgements)
