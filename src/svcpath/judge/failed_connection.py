"""A connection that failed while no layer fails: never a healthy verdict, and no accusation either."""

from __future__ import annotations

from svcpath.findings.catalogue import finding
from svcpath.findings.finding import Evidence, Finding
from svcpath.status import Status
from svcpath.walk.failed import FailedConnection

_BAD = frozenset({Status.FAIL, Status.INCONCLUSIVE})


def unexplained(failed: FailedConnection | None, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """SP011, or SP619 where the Pods answer directly; nothing where some finding fails or is undecided already."""
    if failed is None or any(found.status in _BAD for found in findings):
        return ()
    attempt, place = failed.attempt, failed.place
    also = " while the Pods answer directly" if failed.direct else ""
    return (
        finding(
            "SP619" if failed.direct else "SP011",
            Status.INCONCLUSIVE,
            f"a recorded connection to {place} ended in {attempt.outcome}{failed.share}{also}, and no layer that was looked "
            "at explains it",
            evidence=(Evidence(f"{attempt.client or 'the client'} to {place}: {attempt.outcome}", failed.observation),),
            confidence=None,
            layer="dataplane",
        ),
    )
