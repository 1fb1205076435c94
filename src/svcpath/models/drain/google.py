"""What GKE's load balancers are configured to do in a drain: BackendConfig of a Service's ports, policies of a Service at a Gateway.

``drainingTimeoutSec`` is how long requests that are open may run on after the endpoint was taken out; then the load balancer
cuts them. It does not delay new connections. A health check bounds from above when a Pod is taken out: a controller takes it
out of its network endpoint group as a rule sooner, at a time that no manifest gives. Sources: GKE documentation, "Ingress
configuration" (BackendConfig, cloud.google.com/v1; the annotation cloud.google.com/backend-config by port name, port number
or default) and "Configure Gateway resources using policies" (GCPBackendPolicy and HealthCheckPolicy, networking.gke.io/v1).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import Object, OtherObject, Service

_ANNOTATIONS = ("cloud.google.com/backend-config", "beta.cloud.google.com/backend-config")
_CLASS = "kubernetes.io/ingress.class"


class Draining(msgspec.Struct, frozen=True):
    """``seconds`` that open requests to ``service`` may run on, as ``field`` of ``obj`` says."""

    obj: OtherObject
    service: str
    seconds: float
    field: tuple[str | int, ...]


class Check(msgspec.Struct, frozen=True):
    """A health check of the backends of ``service``: a Pod that answers no more is out after ``seconds`` at the latest."""

    obj: OtherObject
    service: str
    seconds: float
    detail: str


def drainings(services: Sequence[Service], others: Sequence[Object]) -> Iterator[Draining]:
    """How long open requests may run on, wherever objects set it for these Services."""
    for service, obj, place in _told(services, others, "GCPBackendPolicy"):
        seconds = _number(obj, *place, "connectionDraining", "drainingTimeoutSec")
        if seconds is not None and seconds <= 3600:
            yield Draining(obj, service.name, seconds, ("spec", *place, "connectionDraining", "drainingTimeoutSec"))


def health_checks(front: OtherObject, services: Sequence[Service], others: Sequence[Object]) -> Iterator[Check]:
    """The checks that GKE's load balancer behind ``front`` (an Ingress or a route) makes of these Services."""
    if front.kind == "Ingress" and not _google(front):
        return
    for service, obj, place in _told(services, others, "HealthCheckPolicy"):
        if (front.kind == "Ingress") != (obj.kind == "BackendConfig"):
            continue
        where = (*place, "healthCheck") if obj.kind == "BackendConfig" else place
        interval, threshold = _number(obj, *where, "checkIntervalSec"), _number(obj, *where, "unhealthyThreshold")
        if interval and threshold:
            detail = (
                f"{obj.kind} {obj.name}: {interval:g} s interval x {threshold:g} failures at most, less where GKE's "
            )
            yield Check(obj, service.name, interval * threshold, f"{detail}controller takes the Pod out before")


def _told(
    services: Sequence[Service], others: Sequence[Object], policy: str
) -> Iterator[tuple[Service, OtherObject, tuple[str, ...]]]:
    """What tells of a Service, with the place of its settings in the spec."""
    beside = [obj for obj in others if isinstance(obj, OtherObject) and isinstance(obj.spec, dict)]
    for service in services:
        yield from ((service, obj, ()) for obj in _configs(service, beside))
        yield from ((service, obj, ("default",)) for obj in _policies(service, beside, policy))


def _number(obj: OtherObject, *place: str) -> float | None:
    value: Any = obj.spec
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _configs(service: Service, beside: Sequence[OtherObject]) -> Iterator[OtherObject]:
    """The BackendConfigs of the ports that an Ingress of Google's class uses; of every port where no Ingress is shown."""
    ingresses = [obj for obj in beside if obj.kind == "Ingress" and _same_namespace(obj, service)]
    used = [(ingress, port) for ingress in ingresses for port in _ports(ingress.spec, service.name)]
    wanted = {port for ingress, port in used if _google(ingress)}
    if used and not wanted:
        return  # what stands in front is another controller's
    names = _annotated(service, wanted)
    for obj in beside:
        known = obj.kind == "BackendConfig" and _group(obj, "cloud.google.com") and _same_namespace(obj, service)
        if known and obj.name in names:
            yield obj


def _annotated(service: Service, wanted: set[str]) -> set[str]:
    """Names of the BackendConfigs that the annotation gives to the ports (by name or number; none: to all ports)."""
    text = next((service.annotations[name] for name in _ANNOTATIONS if service.annotations.get(name)), "")
    try:
        configs = json.loads(text)
    except ValueError:
        return set()
    if not isinstance(configs, dict):
        return set()
    by_port: dict[str, Any] = configs["ports"] if isinstance(configs.get("ports"), dict) else {}
    names: set[str] = set()
    for port in service.spec.ports or ():
        keys = {port.name or "", str(port.port)} - {""}
        if wanted and not keys & wanted:
            continue
        own = [by_port[key] for key in sorted(keys) if isinstance(by_port.get(key), str)]
        names.update(own or ([configs["default"]] if isinstance(configs.get("default"), str) else []))
    return names


def _policies(service: Service, beside: Sequence[OtherObject], kind: str) -> Iterator[OtherObject]:
    """The policies of a kind that target the Service, unless every Gateway that is shown is another controller's."""
    gateways = [str((obj.spec or {}).get("gatewayClassName", "")) for obj in beside if obj.kind == "Gateway"]
    if gateways and not any(class_name.startswith("gke-") for class_name in gateways):
        return
    for obj in beside:
        if obj.kind == kind and _group(obj, "networking.gke.io") and _same_namespace(obj, service):
            target = (obj.spec or {}).get("targetRef")
            target = target if isinstance(target, dict) else {}
            if target.get("kind") in ("Service", "ServiceImport") and target.get("name") == service.name:
                yield obj


def _ports(spec: Any, service: str) -> Iterator[str]:
    """Names or numbers of the ports of a Service that an Ingress refers to."""
    stack = [spec]
    while stack:
        current = stack.pop()
        if isinstance(current, list):
            stack.extend(current)
        elif isinstance(current, dict):
            backend = current.get("service")
            if isinstance(backend, dict) and backend.get("name") == service:
                port = backend.get("port")
                port = port if isinstance(port, dict) else {}
                yield str(port.get("name") or port.get("number") or "")
            stack.extend(current.values())


def _google(ingress: OtherObject) -> bool:
    """Whether GKE's controller takes the Ingress: its class is gce or gce-internal, or none is named."""
    named = ingress.annotations.get(_CLASS) or (ingress.spec or {}).get("ingressClassName") or "gce"
    return str(named).startswith("gce")


def _group(obj: OtherObject, group: str) -> bool:
    return obj.api_version.partition("/")[0] == group


def _same_namespace(obj: Object, service: Service) -> bool:
    """Rendered objects without a namespace go where the others go."""
    return not obj.namespace or not service.namespace or obj.namespace == service.namespace
