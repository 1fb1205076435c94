"""Policies of other APIs than NetworkPolicy: they may deny what NetworkPolicies allow, and svcpath does not judge them.

They are named, so that a healthy verdict does not seem to have looked at them.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import OtherObject
from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.finding import CheckResult, Gap
from svcpath.findings.shell import shell
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene, host_port

#: Kind -> API group: Cilium, Calico, sigs.k8s.io/network-policy-api, Antrea, Istio, Linkerd.
DENYING: dict[str, tuple[str, ...]] = {
    "CiliumNetworkPolicy": ("cilium.io",),
    "CiliumClusterwideNetworkPolicy": ("cilium.io",),
    "NetworkPolicy": ("projectcalico.org", "crd.projectcalico.org", "crd.antrea.io"),
    "GlobalNetworkPolicy": ("projectcalico.org", "crd.projectcalico.org"),
    "AdminNetworkPolicy": ("policy.networking.k8s.io",),
    "BaselineAdminNetworkPolicy": ("policy.networking.k8s.io",),
    "ClusterNetworkPolicy": ("policy.networking.k8s.io", "crd.antrea.io"),
    "AuthorizationPolicy": ("security.istio.io", "policy.linkerd.io"),
    "PeerAuthentication": ("security.istio.io",),
}


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    if attempts.present:
        return CheckResult(looked=False)  # the connections tell what all policies together do
    request = view.request
    namespaces = tuple(
        dict.fromkeys(namespace for namespace in (request.namespace, request.client_namespace) if namespace)
    )
    replies = yield tuple(Need(Kind.OTHER_OBJECT, namespace=namespace) for namespace in namespaces)
    denying = [other.fact for reply in replies for other in reply.present if _denies(other.fact)]
    if not denying:
        return CheckResult(looked=False)
    named = ", ".join(dict.fromkeys(f"{policy.kind} {policy.name}" for policy in denying[:4]))
    more = f" and {len(denying) - 4} more" if len(denying) > 4 else ""
    port = next(
        (number for endpoint in view.usable[:1] for number, _ in view.asked_ports(endpoint) if number is not None), 80
    )
    place = host_port(view.usable[0].address, port) if view.usable else "POD-ADDRESS"
    gap = Gap(
        "pod",
        f"what other policies allow ({named}{more})",
        "policies of other APIs than networking.k8s.io are not judged: a connection shows them",
        shell(
            "kubectl -n {namespace} exec {client} -- curl -sv --connect-timeout 2 {url}",
            namespace=request.client_namespace or request.namespace,
            client=request.client_name or "CLIENT-POD",
            url=f"http://{place}/",
        ),
    )
    return CheckResult(not_looked_at=(gap,), looked=False)


def _denies(obj: object) -> bool:
    return isinstance(obj, OtherObject) and obj.api_version.rpartition("/")[0] in DENYING.get(obj.kind, ())
