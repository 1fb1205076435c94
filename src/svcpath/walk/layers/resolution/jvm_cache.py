"""The JVM's own cache against what DNS and the slices say now (sun.net.InetAddressCachePolicy; models/resolvers/runtimes/jvm.py)."""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical, family_of
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.node import JvmSettings
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.resolvers.runtimes.jvm import Policy, Settings, policy
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.names.client import Client
from svcpath.walk.scene import Scene


def check(request: Request, view: Scene, client: Client) -> Asking[CheckResult]:
    runs, answers, attempts = yield (
        ask.in_client(request, Kind.JVM),
        Need(Kind.DNS_ANSWERS),
        Need(Kind.ATTEMPTS),
    )
    if not runs.present:
        return CheckResult(looked=False)
    observed = runs.present[0]
    settings: tuple[JvmSettings, ...] = observed.fact.settings
    policies = [(jvm, _policy(jvm)) for jvm in settings]
    now = {
        canonical(value)
        for answer in answers.present
        for row in answer.fact.rows
        for value in row.answers
        if family_of(value) and row.rcode == "NOERROR"
    }
    slices = {endpoint.address for endpoint in view.endpoints}
    used = [
        (attempt, recorded)
        for recorded in attempts.present
        for attempt in recorded.fact.attempts
        if family_of(attempt.address or attempt.host)
        and canonical(attempt.address or attempt.host) not in (now | slices)
    ]
    forever = [(jvm, found) for jvm, found in policies if found.positive < 0]
    agree = bool(now) and (not slices or now <= slices)
    rows = tuple(f"{_words(jvm)}: TTL {found.positive} s" + _ineffective(found) for jvm, found in policies)
    findings: list[Finding] = []
    if used and agree and forever:
        attempt, seen = used[0]
        old = attempt.address or attempt.host
        current = ", ".join(sorted(now))
        findings.append(
            finding(
                "SP106",
                Status.FAIL,
                f"DNS and EndpointSlice agree on {current}; the JVM caches {old} forever (effective TTL -1)",
                evidence=(
                    Evidence(f"the client keeps connecting to {old}", seen),
                    *(Evidence(f"DNS now: {current}", answer) for answer in answers.present[:1]),
                    *(Evidence(f"slice {slice_.fact.name}: {current}", slice_) for slice_ in view.slices[:1]),
                    Evidence("the JVM's settings", observed),
                ),
                confidence=Confidence.SUPPORTED,
                details=rows,
                namespace=request.client_namespace or request.namespace or "NAMESPACE",
                pod=client.label if client.pod else "CLIENT-POD",
            )
        )
    elif forever and len(forever) == len(policies):
        findings.append(
            finding(
                "SP106",
                Status.WARN,
                "the JVM keeps every address forever (effective TTL -1): a replaced Pod is not found again until it restarts",
                evidence=(Evidence("the JVM's settings", observed),),
                confidence=Confidence.POSSIBLE,
                details=rows,
                namespace=request.client_namespace or request.namespace or "NAMESPACE",
                pod=client.label if client.pod else "CLIENT-POD",
            )
        )
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _policy(settings: JvmSettings) -> Policy:
    return policy(
        Settings(
            flags=settings.flags,
            security=dict(settings.security_properties),
            security_manager=bool(settings.security_manager),
        )
    )


def _words(settings: JvmSettings) -> str:
    parts = list(settings.flags)
    parts += [f"java.security {key}={value}" for key, value in sorted(settings.security_properties.items())]
    if settings.security_manager is not None:
        parts.append("with SecurityManager" if settings.security_manager else "without SecurityManager")
    return " ".join(parts) or "defaults"


def _ineffective(found: Policy) -> str:
    return f" ({'; '.join(found.ineffective)})" if found.ineffective else ""
