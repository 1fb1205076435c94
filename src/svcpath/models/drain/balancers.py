"""How long what stands in front of the cluster goes on sending new connections to a Pod that is being deleted.

A load balancer that only health-checks its backends needs interval x unhealthy threshold seconds to notice (one more
interval and the probe's own time at worst; the product is what its settings promise). It checks the Pod only where it sends
to Pods themselves, and then a controller takes the Pod out as well, as a rule sooner; with externalTrafficPolicy Local the
check is of the node, which fails with the node's last Pod; with Cluster nodes pass connections on to other Pods. An Ingress or Gateway controller
that watches slices is as quick as its own configuration reload, which no manifest tells. Annotation names: AWS Load
Balancer Controller v2 and the in-tree AWS provider, and the cloud controllers of Azure, DigitalOcean and Hetzner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import msgspec

from svcpath.evidence.facts.kubernetes import Object, OtherObject, Service
from svcpath.evidence.facts.node import LoadBalancerHealth
from svcpath.models.drain.google import health_checks
from svcpath.models.drain.terms import REMOVAL, Term, TermOrigin, known, unknown

_INTERVAL = (
    "service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval",
    "alb.ingress.kubernetes.io/healthcheck-interval-seconds",
    "service.beta.kubernetes.io/azure-load-balancer-health-probe-interval",
    "service.beta.kubernetes.io/do-loadbalancer-healthcheck-check-interval-seconds",
    "load-balancer.hetzner.cloud/health-check-interval",
)
_THRESHOLD = (
    "service.beta.kubernetes.io/aws-load-balancer-healthcheck-unhealthy-threshold",
    "alb.ingress.kubernetes.io/unhealthy-threshold-count",
    "service.beta.kubernetes.io/azure-load-balancer-health-probe-num-of-probe",
    "service.beta.kubernetes.io/do-loadbalancer-healthcheck-unhealthy-threshold",
    "load-balancer.hetzner.cloud/health-check-retries",
)
_TARGET_TYPE = (
    "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type",
    "alb.ingress.kubernetes.io/target-type",
)
_ROUTES = frozenset({"HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute", "IngressRoute", "VirtualService"})


class Front(msgspec.Struct, frozen=True):
    """One thing in front of the Service. ``least``: seconds it may also be, where ``seconds`` is an upper bound;
    ``sees_pods``: it checks Pods themselves, as far as its annotations tell."""

    kind: str
    name: str
    seconds: float | None
    detail: str
    least: float | None = None
    sees_pods: bool = False

    @property
    def low(self) -> float:
        return (self.seconds or 0.0) if self.least is None else self.least


def removal_term(
    services: Sequence[Service],
    others: Sequence[Object],
    health: Sequence[LoadBalancerHealth],
    unlisted: Sequence[str] = (),
) -> Term:
    """The removal term: the slowest of all fronts, unknown as soon as one of them is, none if the objects show none.
    ``unlisted``: resources in which there may be more of them.

    Health checks name no Service: of several that differ, which of them stands in front is not known, so they are a range.
    """
    fronts = list(fronts_of(services, others, health))
    if unlisted:
        fronts.append(
            Front("", "", None, f"{', '.join(unlisted)} could not be listed: what stands in front is not all known")
        )
    if not fronts:
        if not services:
            return unknown(REMOVAL, "no Service was read: what stands in front is not shown")
        return known(REMOVAL, 0.0, TermOrigin.NONE_FOUND, "none found (no LoadBalancer, Ingress, Gateway)")
    checks = [front.seconds for front in fronts if not front.name and front.seconds is not None]
    named = [front for front in fronts if front.name and front.seconds is not None]
    silent = [front for front in fronts if front.seconds is None]
    detail = "; ".join(dict.fromkeys(front.detail for front in silent or fronts))
    least = max([*(front.low for front in named), min(checks, default=0.0)])
    most = max([*(front.seconds or 0.0 for front in named), *checks], default=0.0)
    if silent:
        return unknown(REMOVAL, detail, low=least)
    if least < most:
        several = ": which of them stands in front is not known" if len(set(checks)) > 1 else ""
        return unknown(REMOVAL, f"{detail}{several}", low=least, high=most)
    return known(REMOVAL, most, TermOrigin.MANIFEST, detail)


def fronts_of(
    services: Sequence[Service], others: Sequence[Object], health: Sequence[LoadBalancerHealth]
) -> Iterator[Front]:
    """Everything in front, with its removal time where settings tell it."""
    checks = [item for item in health if item.health_check_interval is not None or item.unhealthy_threshold is not None]
    for check in checks:
        interval, threshold = check.health_check_interval, check.unhealthy_threshold
        if interval is None or threshold is None:
            missing = "health check interval" if interval is None else "unhealthy threshold"
            yield Front("load balancer", "", None, f"the load balancer's {missing} was not read")
            continue
        yield Front(
            "load balancer",
            "",
            interval * threshold,
            f"load balancer health check: {interval:g} s interval x {threshold} failures",
        )
    for service in services:
        if service.spec.type == "LoadBalancer":
            front = _annotated(service)
            if front.seconds is not None or not checks:
                yield front
    for obj in others:
        if is_route(obj):
            targets = set(backends(obj.spec))
            behind = [service for service in services if any(_meant(service, target, obj) for target in targets)]
            if behind:
                front = _checked(_annotated(obj), obj, behind, others)
                if front.seconds is not None or not checks:
                    yield front


def is_route(obj: Object) -> TypeGuard[OtherObject]:
    return isinstance(obj, OtherObject) and (obj.kind == "Ingress" or obj.kind in _ROUTES)


def _meant(service: Service, target: tuple[str, str], route: Object) -> bool:
    """Rendered objects without a namespace go where the others go."""
    name, namespace = target
    where = namespace or route.namespace
    return service.name == name and (not where or not service.namespace or where == service.namespace)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _annotated(obj: Object) -> Front:
    interval = _number(obj, _INTERVAL)
    threshold = _number(obj, _THRESHOLD)
    if interval is not None and threshold is not None:
        detail = f"{obj.kind} {obj.name} annotations: {interval:g} s interval x {threshold:g} failures"
        if isinstance(obj, Service) and obj.spec.external_traffic_policy == "Local":
            return Front(obj.kind, obj.name, interval * threshold, detail)
        sooner = "less where nodes pass connections on (externalTrafficPolicy Cluster) or a controller takes the Pod out before"
        return Front(obj.kind, obj.name, interval * threshold, f"{detail} at most, {sooner}", 0.0, _sees_pods(obj))
    what = "type LoadBalancer" if isinstance(obj, Service) else "its controller's own reaction"
    return Front(
        obj.kind,
        obj.name,
        None,
        f"{obj.kind} {obj.name} stands in front ({what}): manifests do not say how long it takes",
    )


def _sees_pods(obj: Object) -> bool:
    """Whether targets are Pods: said by the target type, of an Ingress also possible where nothing says otherwise."""
    kinds = [obj.annotations[name] for name in _TARGET_TYPE if name in obj.annotations]
    return "ip" in kinds or (not kinds and not isinstance(obj, Service))


def _checked(front: Front, obj: OtherObject, services: Sequence[Service], others: Sequence[Object]) -> Front:
    """The same with what GKE's health checks say, where nothing else tells."""
    checks = list(health_checks(obj, services, others)) if front.seconds is None else []
    if {service.name for service in services} - {check.service for check in checks} or not checks:
        return front
    detail = "; ".join(dict.fromkeys(check.detail for check in checks))
    return Front(
        obj.kind, obj.name, max(check.seconds for check in checks), f"{obj.kind} {obj.name}, {detail}", least=0.0
    )


def _number(obj: Object, names: Sequence[str]) -> float | None:
    for name in names:
        text = obj.annotations.get(name, "").strip()
        if re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?s?", text):
            return float(text.removesuffix("s"))
    return None


def backends(value: Any) -> Iterator[tuple[str, str]]:
    """Names (with the namespace, where it is said) of the Services that an Ingress or a route refers to, wherever its spec
    does."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            service = current.get("service")
            if isinstance(service, dict) and isinstance(service.get("name"), str):
                yield service["name"], ""
            for key in ("serviceName",):
                if isinstance(current.get(key), str):
                    yield current[key], ""
            for key in ("backendRefs", "services"):
                several = current.get(key)
                for reference in several if isinstance(several, list) else ():
                    if isinstance(reference, dict) and isinstance(reference.get("name"), str):
                        yield reference["name"], _text(reference.get("namespace"))
            host = current.get("host")
            if isinstance(host, str) and "port" in current:
                name, _, rest = host.partition(".")
                yield name, rest.partition(".")[0]
            stack.extend(current.values())
        elif isinstance(current, list):
            stack.extend(current)
