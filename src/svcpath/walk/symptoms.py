"""An error text ranks hypotheses and never decides alone.

Each symptom lists its usual causes in order, with the layer that can close each and the command that splits them. A
hypothesis is refuted only when its layer was looked at and passed by evidence that excludes it, and supported when a
finding of one of its codes fails.
"""

from __future__ import annotations

import msgspec

from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import (
    Evidence,
    Falsifier,
    Finding,
    Hypothesis,
    LayerName,
    LayerResult,
    NotTested,
    Standing,
    Status,
)
from svcpath.walk.request import Request
from svcpath.walk.shell import fill


class Cause(msgspec.Struct, frozen=True):
    """One usual cause of a symptom. ``command`` holds {ns}, {service}, {pod}; ``refutes`` what it would have to show."""

    text: str
    layer: LayerName
    codes: tuple[str, ...]
    command: str
    refutes: str


class Symptom(msgspec.Struct, frozen=True):
    """``words``: any of them, in lower case, within the error text makes it this symptom."""

    name: str
    words: tuple[str, ...]
    causes: tuple[Cause, ...]


_SLICES = "kubectl -n {ns} get endpointslices -l kubernetes.io/service-name={service} -o yaml"
_SOCKETS = "kubectl -n {ns} exec {pod} -- cat /proc/net/tcp /proc/net/tcp6"
_DNS = "kubectl -n kube-system get pods -l k8s-app=kube-dns"
_RESOLV = "kubectl -n {ns} exec CLIENT-POD -- cat /etc/resolv.conf"
_DIRECT = "kubectl -n {ns} exec CLIENT-POD -- curl -sv --connect-timeout 2 http://POD-IP:PORT/"
_NODE = "iptables-save | grep -E 'KUBE-(SVC|SEP|SERVICES)'; nft list table ip kube-proxy  # on the client's node"

SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "connection refused",
        (
            "refused",
            "econnrefused",
            "errno 111",
            # What a proxy in between makes of it.
            "reset reason: connection failure",
            "no healthy upstream",
        ),
        (
            Cause(
                "the slices hold no usable endpoint, so the node's REJECT rule refuses",
                "endpoints",
                ("SP301", "SP302", "SP303", "SP304", "SP308", "SP310"),
                _SLICES,
                "showing an endpoint that is ready",
            ),
            Cause(
                "nothing listens on the target port in the Pod",
                "ports",
                ("SP403", "SP404", "SP405", "SP408", "SP410"),
                _SOCKETS,
                "showing a socket in state 0A on the target port",
            ),
            Cause(
                "no slice port joins the Service port",
                "ports",
                ("SP401", "SP407", "SP411"),
                _SLICES,
                "showing a port of the Service port's name and protocol",
            ),
            Cause(
                "a REJECT on the node that should not be there",
                "dataplane",
                ("SP602", "SP607"),
                _NODE,
                "showing a chain with the Service's backends and no REJECT",
            ),
        ),
    ),
    Symptom(
        "timeout",
        ("timed out", "timeout", "time-out", "etimedout", "deadline exceeded", "errno 110"),
        (
            Cause(
                "packets to the Pod are dropped: NetworkPolicy, route or MTU",
                "pod",
                ("SP502", "SP503", "SP504"),
                _DIRECT,
                "connecting to the Pod's own address",
            ),
            Cause(
                "the node's table sends to an address that is gone",
                "dataplane",
                ("SP603", "SP601", "SP608", "SP613"),
                _NODE,
                "showing backends of the slices only",
            ),
            Cause(
                "an endpoint points at a Pod that is not there",
                "endpoints",
                ("SP306", "SP307"),
                _SLICES,
                "showing addresses that Pods have",
            ),
            Cause(
                "the cluster DNS does not answer",
                "resolution",
                ("SP110", "SP111", "SP114", "SP120"),
                _DNS,
                "showing all Pods ready",
            ),
        ),
    ),
    Symptom(
        "no such host",
        (
            "nxdomain",
            "no such host",
            "name or service not known",
            "does not resolve",
            "could not resolve",
            "enotfound",
            "no address associated",
            "no usable address",
            "unknownhost",
            "unknown host",
            "not known",
        ),
        (
            Cause(
                "the name, its namespace or the search list is wrong",
                "resolution",
                ("SP101", "SP102", "SP103", "SP108", "SP119"),
                _RESOLV,
                "showing the cluster's search domains, with the Service existing in that namespace",
            ),
            Cause(
                "a headless Service without ready endpoints has no record",
                "resolution",
                ("SP116",),
                _SLICES,
                "showing an endpoint that is ready",
            ),
            Cause(
                "the Service does not exist",
                "service",
                ("SP201",),
                "kubectl -n {ns} get service {service}",
                "printing the Service",
            ),
            Cause(
                "the cluster DNS serves no cluster zone",
                "resolution",
                ("SP112",),
                "kubectl -n kube-system get configmap coredns -o yaml",
                "showing a kubernetes plugin with the cluster domain",
            ),
        ),
    ),
    Symptom(
        "temporary failure in name resolution",
        (
            "temporary failure",
            "try again",
            "eai_again",
            "servfail",
            "server misbehaving",
            "timeout was reached resolving",
        ),
        (
            Cause(
                "the cluster DNS has no ready endpoint",
                "resolution",
                ("SP110", "SP120", "SP111"),
                _DNS,
                "showing all Pods ready",
            ),
            Cause(
                "the client asks another server", "resolution", ("SP109",), _RESOLV, "showing the cluster DNS address"
            ),
            Cause(
                "CoreDNS can't reach its upstream",
                "resolution",
                ("SP113", "SP114", "SP115"),
                "kubectl -n kube-system logs deployment/coredns --tail=200",
                "showing no error line",
            ),
        ),
    ),
    Symptom(
        "connection reset",
        (
            "reset by peer",
            "econnreset",
            "errno 104",
            "broken pipe",
            "eof",
            "connection closed",
            "connection termination",
        ),
        (
            Cause(
                "the Pod ended while the connection was open",
                "lifecycle",
                ("SP703", "SP701"),
                "kubectl -n {ns} get pods -o wide",
                "showing that no Pod was replaced at that time",
            ),
            Cause(
                "the application closed it",
                "pod",
                ("SP506",),
                _DIRECT,
                "working over the Pod's own address for as long",
            ),
            Cause(
                "another protocol is spoken than the port expects",
                "service",
                ("SP208",),
                "kubectl -n {ns} get service {service} -o yaml",
                "showing the protocol that the client speaks",
            ),
        ),
    ),
    Symptom(
        "no route to host",
        ("no route", "ehostunreach", "network is unreachable", "errno 113", "errno 101"),
        (
            Cause(
                "the endpoint's address is on no node any more",
                "endpoints",
                ("SP306", "SP307"),
                _SLICES,
                "showing addresses that Pods have",
            ),
            Cause("a route between the nodes is missing", "pod", ("SP502", "SP506"), _DIRECT, "connecting"),
        ),
    ),
)


def recognise(text: str) -> Symptom | None:
    """The symptom whose words the error text holds; the longest matching word decides."""
    lowered = text.lower()
    best: tuple[int, Symptom] | None = None
    for symptom in SYMPTOMS:
        for word in symptom.words:
            if word in lowered and (best is None or len(word) > best[0]):
                best = (len(word), symptom)
    return best[1] if best else None


def hypotheses(symptom: Symptom, request: Request, layers: tuple[LayerResult, ...] = ()) -> tuple[Hypothesis, ...]:
    """The causes in order, with the standing that ``layers`` give each; supported ones first, refuted last."""
    by_name = {result.name: result for result in layers}
    ranked = []
    for cause in symptom.causes:
        result = by_name.get(cause.layer)
        standing, supports = _standing(cause, result)
        values = {"ns": request.namespace or "NAMESPACE", "service": request.service or "SERVICE", "pod": "BACKEND-POD"}
        falsifier = Falsifier(fill(cause.command, values), cause.refutes)
        ranked.append(Hypothesis(cause.text, cause.layer, standing, supports, (), falsifier))
    order = (Standing.PROVEN, Standing.SUPPORTED, Standing.POSSIBLE, Standing.REFUTED)
    return tuple(sorted(ranked, key=lambda one: order.index(one.standing)))


def _standing(cause: Cause, result: LayerResult | None) -> tuple[Standing, tuple[Evidence, ...]]:
    if result is None:
        return Standing.POSSIBLE, ()
    for one in result.findings:
        if one.code in cause.codes and one.status is Status.FAIL:
            return (one.best.standing if one.best else Standing.SUPPORTED), one.evidence
    clean = result.status in (Status.PASS, Status.WARN) and not result.not_tested
    return (Standing.REFUTED if clean else Standing.POSSIBLE), ()


def finding_for(request: Request, layers: tuple[LayerResult, ...]) -> Finding | None:
    """The finding that a ``--symptom`` adds when no layer fails: it leaves open what the evidence leaves open."""
    symptom = recognise(request.symptom)
    if symptom is None or any(result.status is Status.FAIL for result in layers):
        return None
    ranked = hypotheses(symptom, request, layers)
    still_open = [one for one in ranked if one.standing is not Standing.REFUTED]
    if not still_open:
        return None
    first = still_open[0]
    return finding(
        "SP010",
        Status.INCONCLUSIVE,
        f'"{request.symptom}" leaves open: {"; ".join(one.cause for one in still_open)}',
        standing=None,
        others=ranked,
        layer=first.layer,
        remedy=f"run: {first.falsifier.command}" if first.falsifier else "",
    )


def gap(request: Request) -> tuple[NotTested, ...]:
    """A symptom that none of the known ones is: it was given, and it ranks nothing."""
    if not request.symptom or recognise(request.symptom) is not None:
        return ()
    what = f'the symptom "{request.symptom}"'
    return (NotTested("evidence", what, "of no known kind: it is no error of a lookup or of a connection"),)
