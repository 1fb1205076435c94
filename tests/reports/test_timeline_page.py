"""A recorded drain on one axis: what happened when, on which lane."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from svcpath.drain.load import load
from svcpath.models.drain.moments import PlaneChange, SampledConnection
from svcpath.models.drain.timeline import DrainTimeline, timeline
from svcpath.reports.document import Lane
from svcpath.reports.document import Timeline as Drawn
from svcpath.reports.timeline import timeline_report
from svcpath.reports.views.timeline_page import drawn, page
from svcpath.status import Status

RECORDED = Path(__file__).parent.parent / "data" / "drain" / "recorded"


@pytest.fixture(scope="module")
def found() -> DrainTimeline:
    return load([RECORDED])[0]


def lanes(picture: Drawn, group: str) -> dict[str, Lane]:
    return {lane.name: lane for lane in picture.lanes if lane.group == group}


def test_a_pods_life_is_prestop_then_the_time_after_its_signal(found: DrainTimeline) -> None:
    (lane,) = lanes(drawn(timeline_report(found)), "Pods").values()
    assert [(span.text, round(span.start, 1), round(span.end, 1)) for span in lane.spans] == [
        ("preStop", 0.0, 10.0),
        ("after the stop signal", 10.0, 20.5),
    ]
    events = {event.text: (round(event.at, 1), event.status) for event in lane.events}
    assert events["delete, grace 20 s"] == (0.0, None)
    assert events["grace ends"] == (20.0, Status.FAIL)
    assert events["server exit code 137 (Error)"] == (20.5, Status.FAIL)


def test_an_endpoints_three_conditions_follow_each_other(found: DrainTimeline) -> None:
    endpoints = lanes(drawn(timeline_report(found)), "Endpoints")
    old, new = endpoints["10.244.1.9"], endpoints["10.244.1.40"]
    assert [(span.text, span.status) for span in old.spans] == [
        ("ready=false serving=true terminating=true", Status.WARN)
    ]
    assert old.events[0].text.startswith("removed")
    assert new.spans[-1].text == "ready=true serving=true terminating=false"
    for lane in endpoints.values():
        for before, after in zip(lane.spans, lane.spans[1:], strict=False):
            assert before.end == after.start


def test_data_planes_and_connections_stand_on_the_same_axis(found: DrainTimeline) -> None:
    zero = found.zero
    change = PlaneChange(zero + 0.4, zero + 0.4, "w1", "10.96.0.1:80/tcp", "10.244.1.9:8080", False)
    made = tuple(
        SampledConnection("http", zero + i, zero + i, zero + i, None, zero + i + 0.5, peer, outcome)
        for i, (peer, outcome) in enumerate([("a", "ok"), ("b", "refused"), ("", "timeout"), ("a", "http-error")])
    )
    report = timeline_report(timeline((), (), made, (change,)))
    picture = drawn(report)
    (lane,) = lanes(picture, "Data planes").values()
    assert lane.name == "w1"
    assert lane.events[0].text.startswith("no longer sends new connections of 10.96.0.1:80/tcp to 10.244.1.9:8080")
    connections = picture.connections
    assert connections is not None
    assert [connections.outcomes[i] for i in connections.outcome] == [
        ("ok", Status.PASS),
        ("refused", Status.FAIL),
        ("timeout", Status.FAIL),
        ("http-error", Status.WARN),
    ]
    assert [connections.backends[i] for i in connections.backend] == ["a", "b", "no answer", "a"]
    assert connections.lengths == pytest.approx((0.5,) * 4, abs=1e-3)


def test_a_recording_without_a_deletion_says_so(found: DrainTimeline) -> None:
    empty = msgspec.structs.replace(found, deletions=(), moments=(), connections=(), outages=())
    document = page(timeline_report(empty))
    assert getattr(document.sections[0], "word", "") == "NO DELETION"
