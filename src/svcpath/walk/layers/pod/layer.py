"""Question 5: does a direct connection to the Pod's address work, from the same client?"""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.findings.shell import shell
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod import cut_off, direct, one_family, other_policies, policies, routes, segments, state
from svcpath.walk.scene import Scene, host_port


def layer(view: Scene) -> Asking[LayerAnswer]:
    request = view.request
    if not view.usable:
        gap = Gap("pod", "a direct connection", "no usable endpoint to connect to")
        return answer([CheckResult(not_looked_at=(gap,), looked=False)])
    attempts = yield from ask.one(
        Need(Kind.ATTEMPTS, pod=request.client, cost=Cost.PROBE, permission="create pods/exec")
    )
    policy = yield from policies.check(view, attempts)
    rivals = yield from cut_off.check(view, attempts)
    judgements = [
        direct.check(view, attempts, rivals),
        (yield from one_family.check(view, attempts)),
        (yield from routes.check(view, attempts)),
        (yield from segments.check(view, attempts)),
        policy,
        (yield from state.check(view, attempts)),
    ]
    if not attempts.present:
        endpoint = view.usable[0]
        port = next((port for port in endpoint.slice.ports or () if port.port is not None), None)
        number = port.port if port and port.port is not None else 80
        command = shell(
            "kubectl -n {namespace} exec {client} -- curl -sv --connect-timeout 2 {url}",
            namespace=request.client_namespace or request.namespace,
            client=request.client_name or "CLIENT-POD",
            url=f"http://{host_port(endpoint.address, number)}/",
        )
        tcp = port is None or (port.protocol or "TCP") == "TCP"
        gap = Gap(
            "pod",
            "a direct connection to the Pods",
            _why(attempts) if tcp else "only a reply of the application would show it",
            command if tcp else "",
            _tried(attempts) if tcp else (),
        )
        judgements.append(CheckResult(not_looked_at=(gap,), looked=False))
    judgements.append((yield from _client(request)))
    judgements.append((yield from other_policies.check(view, attempts)))
    return answer(judgements)


def _client(request: Request) -> Asking[CheckResult]:
    """A client that is named and was not read: what its labels and addresses decide was not judged."""
    if not request.client_name:
        return CheckResult(looked=False)
    need = Need(Kind.POD, namespace=request.client_namespace, name=request.client_name, permission="get pods")
    reply = yield from ask.one(need)
    if reply.present:
        return CheckResult(looked=False)
    gap = Gap(
        "pod",
        f"what holds for the client {request.client_namespace}/{request.client_name} (policies, addresses, dnsPolicy)",
        reply.why or "no such Pod was found",
        shell(
            "kubectl -n {namespace} get pod {client} -o yaml",
            namespace=request.client_namespace,
            client=request.client_name,
        ),
        reply.in_vain,
    )
    return CheckResult(not_looked_at=(gap,), looked=False)


def _tried(attempts: Reply) -> tuple[Observation[Any], ...]:
    """Looks on a cluster that gave no connection."""
    return tuple(look for look in attempts.in_vain if look.provenance.command and look.provenance.source == "kube")


def _why(attempts: Reply) -> str:
    return "; ".join(dict.fromkeys(look.why for look in _tried(attempts))) or "no recorded connection attempts"
