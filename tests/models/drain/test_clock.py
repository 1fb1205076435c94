"""The shutdown timeline and its three margins, against the kubelet's arithmetic done by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.models.drain.clock import DrainDemand, OnSignal, ended, margins, sidecar_stop, stop

# (hook, grace) -> (signal, kill)
STOPS = [
    ((0, 30), (0, 30)),
    ((10, 20), (10, 20)),
    ((30, 5), (5, 7)),
    ((18, 20), (18, 20)),
    ((19, 20), (19, 21)),
    ((20, 20), (20, 22)),
    ((21, 20), (20, 22)),
    ((0, 0), (0, 2)),
    ((0, 1), (0, 2)),
    ((float("inf"), 10), (10, 12)),
]


@pytest.mark.parametrize(("given", "expected"), STOPS)
def test_signal_and_kill(given: tuple[float, float], expected: tuple[float, float]) -> None:
    found = stop("c", *given)
    assert (found.signal, found.kill) == expected


def test_a_sidecar_is_signalled_after_all_others_ended_or_at_the_end_of_the_grace() -> None:
    assert sidecar_stop("s", 0, 20, 12).signal == 12
    assert sidecar_stop("s", 15, 20, 12).signal == 15
    assert (sidecar_stop("s", 0, 20, 25).signal, sidecar_stop("s", 0, 20, 25).kill) == (20, 22)


def _margins(hook: float, grace: float, load: DrainDemand, on_signal: OnSignal) -> tuple[float, float, float | None]:
    found = margins([stop("c", hook, grace)], [], grace, load, on_signal)
    return found.new_connections, found.requests, found.graceful_exit


def test_the_reference_experiment() -> None:
    load = DrainDemand(drained=0.4, longest=6, shutdown=0.2)
    new, requests, end = _margins(10, 20, load, OnSignal.EXIT)
    assert (new, requests, end) == pytest.approx((9.6, 3.6, 9.8))
    new, requests, end = _margins(10, 20, load, OnSignal.FINISH)
    assert (new, requests, end) == pytest.approx((9.6, 13.6, 9.8))
    new, requests, end = _margins(10, 20, load, OnSignal.IGNORE)
    assert (new, requests) == pytest.approx((19.6, 13.6))
    assert end is None


def test_a_hook_longer_than_the_grace_period_leaves_no_graceful_exit() -> None:
    assert _margins(45, 30, DrainDemand(), OnSignal.FINISH) == (30, 32, -15)


def test_the_earliest_signal_on_the_path_counts_and_others_only_have_to_end() -> None:
    waiting, at_once = stop("app", 10, 20), stop("proxy", 0, 20)
    assert margins([waiting, at_once], [], 20, DrainDemand(drained=1), OnSignal.EXIT).new_connections == -1
    aside = margins([waiting], [stop("log", 25, 20)], 20, DrainDemand(drained=1), OnSignal.EXIT)
    assert (aside.new_connections, aside.graceful_exit) == (9, -5)


seconds = st.floats(min_value=0, max_value=600)


@given(seconds, seconds, seconds, seconds, seconds, st.sampled_from(OnSignal))
def test_more_load_never_widens_a_margin(
    hook: float, grace: float, drained: float, longest: float, more: float, on_signal: OnSignal
) -> None:
    light = _margins(hook, grace, DrainDemand(drained, longest, 0.0), on_signal)
    heavy = _margins(hook, grace, DrainDemand(drained + more, longest, 0.0), on_signal)
    assert all(after is None or before is None or after <= before for before, after in zip(light, heavy, strict=True))


@given(seconds, seconds)
def test_the_application_always_has_two_seconds_between_signal_and_kill(hook: float, grace: float) -> None:
    found = stop("c", hook, grace)
    assert found.kill - found.signal >= 2 - 1e-9
    assert found.kill >= grace


@given(
    st.integers(0, 40), st.integers(0, 30), st.integers(0, 20), st.integers(0, 20), st.integers(0, 9),
    st.sampled_from(OnSignal),
)  # fmt: skip
def test_a_container_ends_between_its_signal_and_its_kill_or_by_the_kill(
    hook: int, grace: int, drained: int, longest: int, shutdown: int, on_signal: OnSignal
) -> None:
    app, load = stop("app", hook, grace), DrainDemand(drained, longest, shutdown)
    at = ended(app, load, on_signal)
    assert app.signal <= at <= app.kill
    if on_signal is OnSignal.IGNORE:
        assert at == app.kill
    found = margins([app], [], grace, load, on_signal)
    if found.graceful_exit is not None and found.graceful_exit >= 0:
        assert at <= grace
