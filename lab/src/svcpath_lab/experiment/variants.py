"""The broken runs, and which statements each must flip: what a run's help promises and ``score`` of the experiment checks."""

from __future__ import annotations

from svcpath_lab.experiment.manifests import RunVariant


def expected_failures(variant: RunVariant) -> tuple[str, ...]:
    """Names of the rows that this variant makes fail; every other row holds.

    A hook that is longer than the grace period is cut; a frozen kube-proxy keeps sending to the old Pod and keeps it in the
    node's table; a server that also listens on the wrong port answers there.
    """
    failing: list[str] = []
    if variant.wrong_port_listens:
        failing.append("control wrong-port")
    if variant.stale_proxy:
        failing.append("new connections")
    if variant.prestop > variant.grace:
        failing.append("preStop")
    if variant.stale_proxy:
        failing.append("convergence")
    return tuple(failing)
