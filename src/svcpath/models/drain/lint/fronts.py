"""Rules about what stands in front: health checks, keep-alive, affinity, annotations of ingress controllers.

Defaults are those of nginx (keepalive_timeout 75 s; ingress-nginx upstream-keepalive-timeout 60 s) and the AWS Load Balancer
Controller v2 (deregistration delay 300 s, idle timeout 60 s); only what a manifest sets is judged. GKE's load balancers are
configured by objects of their own (google.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from svcpath.evidence.facts.kubernetes import Container, Object, OtherObject, Service
from svcpath.models.drain.balancers import fronts_of
from svcpath.models.drain.budget import Budget
from svcpath.models.drain.clock import OnSignal
from svcpath.models.drain.google import drainings
from svcpath.models.drain.lint.rule import Around, Level, LintFinding
from svcpath.models.drain.subject import Field, StoppedContainer, pod_spec
from svcpath.models.drain.terms import LONGEST, REMOVAL

_ALB = "alb.ingress.kubernetes.io/"
_AWS = "service.beta.kubernetes.io/aws-load-balancer-"
#: Options of servers that say how long an idle connection is kept: gunicorn, uvicorn, hypercorn, Node wrappers, Go programs.
_KEEP_ALIVE = re.compile(
    r"--?(?:http-?)?(?:timeout-)?keep-?alive(?:-timeout|-time)?(?:[= ](\d+(?:\.\d+)?)(ms|s|m)?)?\Z"
)


def slow_health_check(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP715: the load balancer notices later than the backend stops accepting."""
    removal = budget.term(REMOVAL)
    if budget.on_signal is OnSignal.IGNORE or not budget.subject.on_path:
        return
    where = min(budget.subject.on_path, key=_accepts)
    accepts = min(_accepts(where), float(budget.subject.grace))
    sure = removal.low > accepts
    fronts = fronts_of(budget.subject.services, around.others, around.health)
    if not sure and not any(
        front.sees_pods and front.seconds is not None and front.seconds > accepts for front in fronts
    ):
        return
    takes = (
        f"takes {removal.low:g} s{'' if removal.known else ' or more'}"
        if sure
        else f"may take up to {removal.high:g} s"
    )
    yield LintFinding(
        "SP715",
        Level.ERROR if sure else Level.WARNING,
        f"the load balancer {takes} to notice ({removal.detail}), the backend accepts for {accepts:g} s "
        "after the delete: new connections are refused in between; sleep longer in preStop or check more often",
        around.obj,
        where.hook_field if where.hook.spelling else where.field,
    )


def _accepts(container: StoppedContainer) -> float:
    """Seconds until a container's signal, or until its hook tells it to stop."""
    hook = container.hook
    asked = hook.stop.at if hook.stop is not None and hook.stop.sure else math.inf
    return min(math.inf if hook.high is None else hook.high, asked)


def keep_alive(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP713: idle connections are kept longer than the Pod lives on, so that clients reuse one that is about to break."""
    subject = budget.subject
    window = float(subject.grace)
    spec = pod_spec(around.obj)
    for container in spec.containers or () if spec else ():
        stopping = next(
            (candidate for candidate in subject.ordinary if candidate.name == container.name and candidate.on_path),
            None,
        )
        found = _keep_alive(container)
        if stopping is not None and found is not None and found[0] > window:
            yield _kept(around.obj, (*stopping.field, *found[1]), f"container {container.name}", found[0], window)
    for obj in (*subject.services, *around.others):
        for name in (f"{_AWS}connection-idle-timeout", f"{_ALB}load-balancer-attributes"):
            seconds = _idle(obj.annotations.get(name, ""))
            if seconds is not None and seconds > window and _in_front(obj, budget):
                yield _kept(obj, ("metadata", "annotations", name), f"{obj.kind} {obj.name}", seconds, window)


def _kept(obj: Object, field: Field, who: str, seconds: float, window: float) -> LintFinding:
    return LintFinding(
        "SP713",
        Level.WARNING,
        f"{who} keeps idle connections for {seconds:g} s, the Pod lives {window:g} s after its delete: pools go on using a "
        "connection until the Pod is killed; close connections on shutdown (Connection: close, GOAWAY) or cap their age",
        obj,
        field,
    )


def _keep_alive(container: Container) -> tuple[float, Field] | None:
    for where, words in (("args", container.args), ("command", container.command)):
        for number, word in enumerate(words or ()):
            match = _KEEP_ALIVE.fullmatch(word)
            if match is None:
                continue
            amount, unit, at = match[1], match[2], number
            if amount is None and number + 1 < len(words or ()):
                following = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)?", (words or ())[number + 1])
                if following:
                    amount, unit, at = following[1], following[2], number + 1
            if amount is not None:
                return float(amount) * {"ms": 0.001, "m": 60.0}.get(unit or "s", 1.0), (where, at)
    return None


def _idle(text: str) -> float | None:
    match = re.fullmatch(r"\s*(\d{1,6})\s*", text) or re.search(r"idle_timeout\.timeout_seconds=(\d{1,6})", text)
    return float(match[1]) if match else None


def _in_front(obj: Object, budget: Budget) -> bool:
    if isinstance(obj, Service):
        return obj in budget.subject.services
    return any(front.name == obj.name for front in fronts_of(budget.subject.services, (obj,), ()))


def affinity(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP716: IPVS keeps a client's affinity to a backend of weight 0 while expire_quiescent_template is 0."""
    if not around.ipvs or around.quiescent != "0":
        return
    for service in budget.subject.services:
        if service.spec.session_affinity == "ClientIP":
            yield LintFinding(
                "SP716",
                Level.WARNING,
                f"Service {service.name} has ClientIP affinity and the nodes use IPVS with "
                "net.ipv4.vs.expire_quiescent_template=0: a client pinned to a terminating Pod keeps being sent there; set it to 1",
                service,
                ("spec", "sessionAffinity"),
            )


def annotated(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP717: what is in front is configured to do in a drain: by annotations, GKE's objects, a target group's attributes."""
    for obj in (*budget.subject.services, *around.others):
        if not isinstance(obj, Service | OtherObject) or not _in_front(obj, budget):
            continue
        for name, value in sorted(obj.annotations.items()):
            field = ("metadata", "annotations", name)
            message = _annotation(name, value)
            if message:
                yield LintFinding("SP717", Level.NOTE, f"{obj.kind} {obj.name}: {message}", obj, field)
            seconds = _deregistration(name, value)
            if seconds is not None:
                yield from _drained(seconds, f"{obj.kind} {obj.name}", obj, field, budget)
    for draining in drainings(budget.subject.services, around.others):
        yield from _drained(
            draining.seconds, f"{draining.obj.kind} {draining.obj.name}", draining.obj, draining.field, budget
        )
    delays = {check.deregistration_delay for check in around.health if check.deregistration_delay is not None}
    if len(delays) == 1 and budget.subject.services:  # of several it is not known which of them stands in front
        yield from _drained(delays.pop(), "target group", around.obj, budget.subject.grace_field, budget)


def _drained(seconds: float, who: str, obj: Object, field: Field, budget: Budget) -> Iterator[LintFinding]:
    """What becomes of requests that are open when the load balancer takes the Pod out, and may run on for ``seconds``."""
    grace, longest = float(budget.subject.grace), budget.term(LONGEST).low
    if seconds > grace:
        text = (
            f"{who}: the load balancer lets open requests run for {seconds:g} s after it removed the target, the Pod lives "
            f"{grace:g} s: longer requests are cut by the kill"
        )
        yield LintFinding("SP717", Level.NOTE, text, obj, field)
    if seconds < longest:
        text = (
            f"{who}: the load balancer cuts requests that are still open {seconds:g} s after it removed the target, whatever "
            f"the Pod does; the longest takes {longest:g} s"
        )
        yield LintFinding("SP717", Level.WARNING, text, obj, field)


def _deregistration(name: str, value: str) -> float | None:
    """Seconds of a target group's attributes in an annotation."""
    if not name.endswith(("target-group-attributes", "aws-load-balancer-target-group-attributes")):
        return None
    match = re.search(r"deregistration_delay\.timeout_seconds=(\d{1,6})", value)
    return float(match[1]) if match else None


def _annotation(name: str, value: str) -> str:
    if name == f"{_ALB}target-type" and value == "ip":
        return (
            "target-type ip: a rollout goes on before new targets are healthy unless the namespace injects the Pod readiness "
            "gate (elbv2.k8s.aws/pod-readiness-gate-inject)"
        )
    if name == "nginx.ingress.kubernetes.io/service-upstream" and value == "true":
        return (
            "service-upstream: the controller keeps connections to the cluster IP, so reused ones stay with the old Pod"
        )
    if name == "nginx.ingress.kubernetes.io/affinity" and value == "cookie":
        return "cookie affinity: clients of the old Pod are moved to another one and lose what it held"
    return ""
