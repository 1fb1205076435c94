"""Is each endpoint who it says: a Pod that exists, has that address, and is listed once?

Sources: the slice controller writes targetRef and the Pod's address (pkg/controller/util/endpoint); kube-proxy keys
endpoints by address and port (pkg/proxy/endpointslicecache.go), and of duplicates the ready one must win.
"""

from __future__ import annotations

import enum

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Object, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.findings.shell import scope
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import EndpointView, Scene
from svcpath.walk.subjects.slices import CONTROLLER, MIRRORING


class Wrong(enum.Enum):
    """Why an endpoint is not who it says. ``CONTRADICTED`` are shown by the Pod itself, which was read; the others rest on
    what is missing among the Pods, and so on whether all were read."""

    NOT_THERE = "Pod {name} is not among the Pods"
    OTHER_ADDRESS = "Pod {name} has {ips}"
    ENDED = "Pod {name} has ended ({phase})"
    NOBODYS_ADDRESS = "no Pod has this address"


_CONTRADICTED = frozenset({Wrong.OTHER_ADDRESS, Wrong.ENDED})


class Stranger(msgspec.Struct, frozen=True):
    """An endpoint that is not who it says, and why. ``pod`` is the one that its targetRef names, where it was read."""

    endpoint: EndpointView
    wrong: Wrong
    pod: Pod | None = None

    @property
    def text(self) -> str:
        """In words for people."""
        reference = self.endpoint.endpoint.target_ref
        return self.wrong.value.format(
            name=reference.name if reference else "",
            ips=", ".join(self.pod.ips) if self.pod else "",
            phase=self.pod.status.phase if self.pod else "",
        )


def check(view: Scene) -> Asking[CheckResult]:
    if not view.endpoints:
        return CheckResult(looked=False)
    unlisted = _unlisted(view)
    read_before = bool(unlisted) and _read_before(view)
    gone, gaps = yield from _gone(view, fails="" if read_before else "; that share of new connections fails")
    if gone and read_before:
        gone, unlisted = [_of_another_time(found) for found in gone], []
    return CheckResult(findings=(*gone, *_twice(view), *unlisted), not_looked_at=gaps)


def _read_before(view: Scene) -> bool:
    """Whether the slices' last write lies before every ready Pod that they miss, in another file: then they were read before
    a rollout and the Pods behind it, or the controller stands still. resourceVersions are of one counter (etcd's revision)."""
    listed = {endpoint.address for endpoint in view.endpoints}
    newer = [pod for pod in view.selected if pod.fact.ready and not any(canonical(ip) in listed for ip in pod.fact.ips)]
    slices = [slice_ for slice_ in view.slices if slice_.fact.managed_by == CONTROLLER and slice_.fact.endpoints]
    files = {slice_.provenance.path for slice_ in slices}
    if not newer or not slices or len(slices) < len([slice_ for slice_ in view.slices if slice_.fact.endpoints]):
        return False
    if any(pod.provenance.path in files or not pod.provenance.path for pod in newer):
        return False
    written = [_version(slice_.fact) for slice_ in slices]
    return min(written) >= 0 and max(written) < min(_version(pod.fact) for pod in newer)


def _version(obj: Object) -> int:
    text = obj.metadata.resource_version
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 30 else -1


def _of_another_time(found: Finding) -> Finding:
    """The finding as what two readings of different times show alike."""
    return msgspec.structs.replace(
        found,
        status=Status.INCONCLUSIVE,
        sentence=f"{found.sentence}; ready Pods newer than the slices are in none: either the slices "
        "were read before the Pods, or their controller stands still",
        hypotheses=tuple(
            msgspec.structs.replace(hypothesis, confidence=Confidence.POSSIBLE)
            if hypothesis.confidence is not Confidence.REFUTED
            else hypothesis
            for hypothesis in found.hypotheses
        ),
        remedy="Read slices and Pods at one time: kubectl get endpointslices,pods -o yaml.",
    )


def _gone(view: Scene, *, fails: str) -> Asking[tuple[list[Finding], tuple[Gap, ...]]]:
    """Endpoints whose Pod is not there, or has another address. Only where Pods were listed at all; a Pod that no one
    looked for is a gap. ``fails``: the sentence's end, what that means for connections."""
    service = view.service
    if not view.pods or service is None or not service.spec.selector:
        return [], ()
    bad: list[Stranger] = []
    outside: list[EndpointView] = []
    unseen: list[str] = []
    deleted = False
    for endpoint in view.usable:
        reference = endpoint.endpoint.target_ref
        if endpoint.slice.managed_by == MIRRORING:
            continue  # slices.py judges mirrored slices
        if reference and reference.name:
            pod = next(reversed(view.pods.named(reference.name)), None)
            if pod is None:
                if view.pods.at(endpoint.address):
                    continue
                looked = yield from ask.one(
                    Need(Kind.POD, namespace=view.request.namespace, name=reference.name, permission="get pods")
                )
                if view.pods_sampled and not looked.complete:
                    unseen.append(reference.name)
                    continue
                deleted = deleted or looked.complete
                bad.append(Stranger(endpoint, Wrong.NOT_THERE))
            elif pod.fact.ips and endpoint.address not in {canonical(ip) for ip in pod.fact.ips}:
                bad.append(Stranger(endpoint, Wrong.OTHER_ADDRESS, pod.fact))
            elif pod.fact.finished:
                bad.append(Stranger(endpoint, Wrong.ENDED, pod.fact))
        elif not view.pods.at(endpoint.address):
            if endpoint.slice.managed_by == CONTROLLER or not endpoint.slice.managed_by:
                bad.append(Stranger(endpoint, Wrong.NOBODYS_ADDRESS))
            else:
                outside.append(endpoint)
    gaps: tuple[Gap, ...] = ()
    if unseen:
        command = f"kubectl {scope(view.request.namespace)} get pods -o yaml"
        names_ = ", ".join(list(dict.fromkeys(unseen))[:4])
        gaps = (Gap("endpoints", f"the Pods {names_}", "read one by one, others may be there", command),)
    if not bad:
        return [_outside(view, outside)] if outside else [], gaps
    total = len(view.usable)
    share = f"{len(bad)} of {total} backends"
    complete = view.pods_reply.complete or deleted
    shown = [stranger.endpoint for stranger in bad[:3]]
    listed = "; ".join(
        f"{stranger.endpoint.address} in slice {stranger.endpoint.slice.name}: {stranger.text}" for stranger in bad[:3]
    )
    contradicted = any(stranger.wrong in _CONTRADICTED for stranger in bad)
    all_read = bool(view.selected) and not view.pods_reply.partial and not view.pods_sampled
    return [
        finding(
            "SP306",
            Status.FAIL if complete or contradicted or all_read else Status.INCONCLUSIVE,
            f"{share} point at {_what(bad)} ({listed}){fails}",
            evidence=tuple(
                Evidence(f"slice {endpoint.slice.name}: {endpoint.address}", endpoint.observation) for endpoint in shown
            )
            + tuple(Evidence(f"Pod {endpoint.pod.fact.name}", endpoint.pod) for endpoint in shown if endpoint.pod),
            confidence=Confidence.PROVEN if complete else Confidence.SUPPORTED,
            share=share,
            namespace=view.request.namespace,
            address=bad[0].endpoint.address,
        )
    ], gaps


def _outside(view: Scene, outside: list[EndpointView]) -> Finding:
    """Addresses of no Pod in slices that somebody else than the controller manages: a machine outside, or a leftover."""
    listed = "; ".join(
        f"{endpoint.address} in slice {endpoint.slice.name} (managed by {endpoint.slice.managed_by})"
        for endpoint in outside[:3]
    )
    return finding(
        "SP319",
        Status.WARN,
        f"{len(outside)} of {len(view.usable)} backends have the address of no Pod: {listed}; outside the cluster, or left over",
        evidence=tuple(
            Evidence(f"slice {endpoint.slice.name}: {endpoint.address}", endpoint.observation)
            for endpoint in outside[:3]
        ),
        confidence=Confidence.POSSIBLE,
        share=f"{len(outside)} of {len(view.usable)} backends",
        namespace=view.request.namespace,
        address=outside[0].address,
    )


def _what(bad: list[Stranger]) -> str:
    pods = [stranger.endpoint.pod for stranger in bad]
    if all(pod is not None and pod.fact.finished for pod in pods):
        return "a Pod that has ended" if len(bad) == 1 else "Pods that have ended"
    if all(pod is not None and not pod.fact.finished for pod in pods):
        return "an address that its Pod does not have" if len(bad) == 1 else "addresses that their Pods do not have"
    return "a Pod that is not there" if len(bad) == 1 else "Pods that are not there"


def _twice(view: Scene) -> list[Finding]:
    """One address and port under different Pods: a ghost that must not hide the ready one."""
    by_address: dict[tuple[str, tuple[int | None, ...]], list[EndpointView]] = {}
    for endpoint in view.endpoints:
        ports = tuple(sorted((port.port for port in endpoint.slice.ports or ()), key=lambda item: item or 0))
        by_address.setdefault((endpoint.address, ports), []).append(endpoint)
    findings = []
    for (address, ports), listed in by_address.items():
        who = list(dict.fromkeys(endpoint.who for endpoint in listed))
        if len(who) < 2:
            continue
        best = next(
            (endpoint for endpoint in view.distinct if endpoint.address == address and endpoint in listed), listed[0]
        )
        ghosts = [name for name in who if name != best.who]
        number = next((port for port in ports if port is not None), None)
        place = address if number is None else f"[{address}]:{number}" if ":" in address else f"{address}:{number}"
        rest = "" if best.endpoint.ready else " (not ready either)"
        claim = f"ready wins whatever slice is newer, the ghost {', '.join(ghosts)} must not hide it"
        if sum(1 for endpoint in listed if endpoint.endpoint.ready) > 1:
            claim = f"{' and '.join(who)} are both ready, and one address belongs to one Pod"
        findings.append(
            finding(
                "SP309",
                Status.WARN,
                f"{address} is listed twice, for {' and '.join(who)}: different targetRef, one usable backend {place} "
                f"(Pod {best.who}){rest}; {claim}",
                evidence=tuple(
                    Evidence(
                        f"slice {endpoint.slice.name}: {address} -> {endpoint.who}, ready={str(endpoint.endpoint.ready).lower()} "
                        f"terminating={str(endpoint.endpoint.terminating).lower()}",
                        endpoint.observation,
                    )
                    for endpoint in listed
                ),
                confidence=Confidence.PROVEN,
                namespace=view.request.namespace,
                address=address,
            )
        )
    return findings


def _unlisted(view: Scene) -> list[Finding]:
    """Ready Pods that match and that no slice lists, in a family the Service has."""
    listed = {endpoint.address for endpoint in view.endpoints}
    families = {endpoint.family for endpoint in view.endpoints}
    missing = [
        pod
        for pod in view.selected
        if pod.fact.ready
        and not pod.fact.deleting
        and pod.fact.ips
        and not any(canonical(ip) in listed for ip in pod.fact.ips)
        and any((6 if ":" in ip else 4) in families for ip in pod.fact.ips)
    ]
    if not missing or view.slices_reply.partial:
        return []
    names = ", ".join(f"{pod.fact.name} ({', '.join(pod.fact.ips)})" for pod in missing[:3])
    which = "no slice" if view.slices_reply.complete else "no slice of the evidence"
    return [
        finding(
            "SP315",
            Status.WARN,
            f"{len(missing)} ready Pod{'s that match are' if len(missing) > 1 else ' that matches is'} in {which}: {names}",
            evidence=tuple(Evidence(f"Pod {pod.fact.name} is ready and matches", pod) for pod in missing[:3]),
            confidence=Confidence.SUPPORTED,
            namespace=view.request.namespace,
            service=view.request.service,
            address=missing[0].fact.ips[0],
        )
    ]
