"""Budgets: unknown terms stay ranges, limits are where a margin reaches zero, and a suggested patch holds."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.facts.kubernetes import Service, Workload
from svcpath.evidence.facts.node import LoadBalancerHealth
from svcpath.models.drain.budget import Budget, BudgetOutcome, budget
from svcpath.models.drain.clock import OnSignal
from svcpath.models.drain.subject import subject_of
from svcpath.models.drain.terms import LONGEST, PROPAGATION, REMOVAL, SHUTDOWN, GivenTerms, TermOrigin

SERVICE = msgspec.convert(
    {
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    },
    Service,
)


def container(name: str = "app", sleep: int | None = None, port: int | None = 8080, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "image": f"{name}:1", **more}
    if port:
        made["ports"] = [{"containerPort": port}]
    if sleep is not None:
        made["lifecycle"] = {"preStop": {"sleep": {"seconds": sleep}}}
    return made


def workload(
    *containers: dict[str, Any], grace: int | None = 20, kind: str = "Deployment", sidecars: Any = ()
) -> Workload:
    spec: dict[str, Any] = {"containers": list(containers), "initContainers": list(sidecars)}
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return msgspec.convert({"kind": kind, "metadata": {"name": "web"}, "spec": {"template": template}}, Workload)


class Terms(TypedDict, total=False):
    """The fields of ``GivenTerms`` that are seconds."""

    removal: float
    propagation: float
    longest: float
    shutdown: float


def of(made: Workload, on_signal: OnSignal | None = None, service: bool = True, **terms: Unpack[Terms]) -> Budget:
    subject = subject_of(made, (SERVICE,) if service else ())
    assert subject is not None
    return budget(subject, given=GivenTerms(**terms), on_signal=on_signal)


ALL: Terms = {"removal": 0.0, "propagation": 0.4, "longest": 6.0, "shutdown": 0.2}


def test_with_every_term_known_the_reference_experiment_holds() -> None:
    found = of(workload(container(sleep=10)), **ALL)
    assert found.outcome is BudgetOutcome.HOLDS
    assert found.margins.requests == pytest.approx(3.6)
    assert found.bounded


def test_the_reference_experiment_by_its_manifest_alone_is_open_and_never_lost() -> None:
    found = of(workload(container(sleep=10)))
    assert found.outcome is BudgetOutcome.UNDETERMINED
    assert {limit.name: limit.largest for limit in found.limits} == {PROPAGATION: 10, LONGEST: 10, SHUTDOWN: 10}
    assert {limit.name: limit.finishing for limit in found.limits} == {PROPAGATION: None, LONGEST: 20, SHUTDOWN: None}


def test_without_any_service_the_load_balancer_is_unknown_and_with_one_it_is_none() -> None:
    made = workload(container(sleep=10))
    assert of(made, service=False).term(REMOVAL).origin is TermOrigin.UNKNOWN
    assert of(made).term(REMOVAL).origin is TermOrigin.NONE_FOUND


def test_load_balancer_settings_beside_the_manifest_make_the_removal_term() -> None:
    subject = subject_of(workload(container(sleep=45), grace=90), ())
    assert subject is not None
    found = budget(subject, health=[LoadBalancerHealth(health_check_interval=15, unhealthy_threshold=2)])
    assert found.term(REMOVAL).seconds == 30
    assert found.margins.new_connections == 15
    half = budget(subject, health=[LoadBalancerHealth(health_check_interval=15)])
    assert half.term(REMOVAL).seconds is None


def test_a_request_longer_than_the_hook_is_lost_only_where_the_application_exits() -> None:
    made = workload(container(sleep=10), grace=60)
    longest: Terms = {**ALL, "longest": 30.0}
    assert of(made, OnSignal.EXIT, **longest).outcome is BudgetOutcome.DOES_NOT_HOLD
    assert of(made, OnSignal.FINISH, **longest).outcome is BudgetOutcome.HOLDS
    assert of(made, None, **longest).outcome is BudgetOutcome.UNDETERMINED


def test_an_ignored_signal_never_ends_in_order() -> None:
    found = of(workload(container(sleep=10)), OnSignal.IGNORE, **ALL)
    assert (found.outcome, found.margins.graceful_exit, found.patch) == (BudgetOutcome.DOES_NOT_HOLD, None, None)


def test_a_second_container_on_the_path_without_a_hook_ends_the_path_at_once() -> None:
    both = workload(container(sleep=10), container("envoy", port=9901))
    assert of(both, OnSignal.EXIT, **ALL).outcome is BudgetOutcome.DOES_NOT_HOLD
    aside = workload(container(sleep=10), container("shipper", port=None))
    assert of(aside, OnSignal.EXIT, **ALL).outcome is BudgetOutcome.HOLDS


def test_a_sidecar_proxy_is_signalled_last_and_takes_nothing_from_the_path() -> None:
    proxy = container("istio-proxy", restartPolicy="Always")
    assert of(workload(container(sleep=10), sidecars=[proxy]), OnSignal.EXIT, **ALL).outcome is BudgetOutcome.HOLDS


def test_an_init_container_that_ends_before_the_others_start_is_no_sidecar() -> None:
    subject = subject_of(workload(container(sleep=10), sidecars=[container("migrate", sleep=99)]), ())
    assert subject is not None
    assert [container.name for container in subject.containers] == ["app"]


def test_a_hook_of_unknown_length_accuses_nobody_unless_no_length_would_hold() -> None:
    hook = {"preStop": {"httpGet": {"path": "/drain", "port": 8080}}}
    made = workload(container(lifecycle=hook), grace=20)
    quick: Terms = {**ALL, "removal": 15.0, "longest": 2.0}
    assert of(made, OnSignal.EXIT, **quick).outcome is BudgetOutcome.UNDETERMINED
    slow: Terms = {**ALL, "removal": 25.0}
    assert of(made, OnSignal.EXIT, **slow).outcome is BudgetOutcome.DOES_NOT_HOLD


def test_the_grace_period_is_thirty_seconds_unless_it_is_set() -> None:
    subject = subject_of(workload(container(), grace=None), ())
    assert subject is not None
    assert (subject.grace, subject.grace_is_default) == (30, True)


small = st.integers(min_value=0, max_value=60)


@given(small, st.integers(min_value=0, max_value=90), small, small, small, st.sampled_from([None, *OnSignal]))
def test_at_its_limit_an_unknown_leaves_no_margin_negative_and_beyond_it_some(
    sleep: int, grace: int, removal: int, longest: int, shutdown: int, on_signal: OnSignal | None
) -> None:
    known: Terms = {"removal": float(removal), "longest": float(longest), "shutdown": float(shutdown)}
    made = workload(container(sleep=sleep), grace=grace)
    found = of(made, on_signal, **known)
    if found.outcome is BudgetOutcome.DOES_NOT_HOLD:
        return
    for limit in found.limits:
        behaviours = (
            [(on_signal, limit.largest)]
            if on_signal
            else [
                (OnSignal.EXIT, limit.largest),
                (OnSignal.FINISH, limit.largest if limit.finishing is None else limit.finishing),
            ]
        )
        for behaviour, largest in behaviours:
            beyond: Terms = {**known, "propagation": largest + 0.5}
            assert of(made, behaviour, **beyond).margins.negative
            at: Terms = {**known, "propagation": largest}
            assert not of(made, behaviour, **at).margins.negative or largest == 0


@given(
    small,
    st.integers(min_value=1, max_value=90),
    small,
    small,
    small,
    st.sampled_from([OnSignal.EXIT, OnSignal.FINISH]),
)
def test_a_suggested_patch_holds(
    sleep: int, grace: int, removal: int, longest: int, shutdown: int, on_signal: OnSignal
) -> None:
    terms: Terms = {
        "removal": float(removal),
        "propagation": 0.5,
        "longest": float(longest),
        "shutdown": float(shutdown),
    }
    found = of(workload(container(sleep=sleep), grace=grace), on_signal, **terms)
    if found.outcome is BudgetOutcome.HOLDS:
        return
    assert found.patch is not None
    patched = workload(container(sleep=dict(found.patch.hooks).get("app", sleep)), grace=found.patch.grace)
    assert of(patched, on_signal, **terms).outcome is BudgetOutcome.HOLDS


@pytest.mark.parametrize("on_signal", [None, OnSignal.EXIT, OnSignal.FINISH])
def test_a_hook_without_an_end_is_lost_wherever_it_stands_and_is_the_first_to_change(
    on_signal: OnSignal | None,
) -> None:
    endless = {"preStop": {"exec": {"command": ["sleep", "infinity"]}}}
    on_path = of(workload(container(lifecycle=endless)), on_signal=on_signal, **ALL)
    assert on_path.outcome is BudgetOutcome.DOES_NOT_HOLD
    assert "container app (it never ends)" in on_path.first
    assert on_path.patch is not None
    beside = container("log", port=None, restartPolicy="Always", lifecycle=endless)
    sidecar = of(workload(container(sleep=10), sidecars=[beside]), on_signal=on_signal, **ALL)
    assert sidecar.outcome is BudgetOutcome.DOES_NOT_HOLD
    assert "container log (it never ends)" in sidecar.first
    assert sidecar.patch is None


def test_a_patch_leaves_room_for_the_hook_of_a_sidecar() -> None:
    slow = container("log", port=None, sleep=50, restartPolicy="Always")
    found = of(workload(container(sleep=10), sidecars=[slow]), on_signal=OnSignal.EXIT, **ALL)
    assert found.outcome is BudgetOutcome.DOES_NOT_HOLD
    assert found.patch is not None
    patched = of(
        workload(container(sleep=10), sidecars=[slow], grace=found.patch.grace), on_signal=OnSignal.EXIT, **ALL
    )
    assert patched.outcome is BudgetOutcome.HOLDS
