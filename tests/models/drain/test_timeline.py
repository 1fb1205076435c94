"""A recorded deletion replays into the times that it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from svcpath.evidence.sources.files import FilesSource
from svcpath.models.drain.moments import PlaneChange, SampledConnection, seconds_of, stamp_of
from svcpath.models.drain.outages import outages
from svcpath.models.drain.timeline import DrainTimeline, timeline
from svcpath.models.drain.verdicts import findings
from svcpath.reports.timeline import remarks_of, seen_of

RECORDED = Path(__file__).parents[2] / "data" / "drain" / "recorded"


@pytest.fixture(scope="module")
def replayed() -> DrainTimeline:
    source = FilesSource([RECORDED])
    return timeline(seen_of(source.watch_events()), remarks_of(source.inventory()))


def test_zero_is_the_deletion_stamp_less_the_grace_period(replayed: DrainTimeline) -> None:
    (deletion,) = replayed.deletions
    assert stamp_of(replayed.zero) == "2026-11-30T02:07:18.000Z"
    assert (deletion.pod, deletion.grace) == ("echo-server-5698c6f946-pc5qf", 20)
    assert deletion.uncertain == pytest.approx(0.074, abs=1e-3)


def test_the_slice_the_end_and_the_removal_come_at_their_recorded_times(replayed: DrainTimeline) -> None:
    (deletion,) = replayed.deletions
    assert deletion.noticed == pytest.approx(0.144)
    assert deletion.conditions == "ready=false serving=true terminating=true"
    assert [(exit_.container, exit_.code) for exit_ in deletion.exits] == [("server", 137)]
    assert deletion.ended == pytest.approx(20.487)
    assert deletion.removed == pytest.approx(20.51)
    assert deletion.gone == pytest.approx(21.213)
    assert deletion.hook_ends == 10


def test_the_client_and_the_rollout_are_on_the_same_axis(replayed: DrainTimeline) -> None:
    new = [moment for moment in replayed.moments if moment.text.startswith("new-connection")]
    assert len(new) == 6
    assert {moment.text.split()[1] for moment in new} == {"echo-server-5698c6f946-h6gmq"}
    slow = next(moment for moment in replayed.moments if moment.text.startswith("slow-finished"))
    assert slow.at == pytest.approx(5.135)
    assert replayed.rollout_reported == pytest.approx(5.138)


def test_it_is_found_that_the_server_ignored_its_signal_although_nothing_was_lost(replayed: DrainTimeline) -> None:
    by_code = {finding.code: finding for finding in findings(replayed)}
    assert set(by_code) == {"SP720", "SP701"}
    assert by_code["SP720"].level == "warning"
    assert "ignored SIGTERM at 10.0 s and was killed at 20.5 s (exit code 137" in by_code["SP720"].text
    assert "no request was lost" in by_code["SP720"].text


def test_events_and_objects_that_were_there_before_are_no_moments(replayed: DrainTimeline) -> None:
    assert not [moment for moment in replayed.moments if moment.at < -2]


def test_a_recording_without_a_client_does_not_claim_what_it_can_not_know() -> None:
    source = FilesSource([RECORDED / "pods.jsonl.gz"])
    (finding,) = findings(timeline(seen_of(source.watch_events())))
    assert "did not end on SIGTERM" in finding.text
    assert "whether a request was lost was not recorded" in finding.text


def test_a_plane_change_is_measured_from_the_delete_of_its_pod() -> None:
    source = FilesSource([RECORDED])
    at = seconds_of("2026-11-30T02:07:18.400Z")
    change = PlaneChange(at, at - 0.25, "w2", "10.96.28.101:80/tcp", "10.244.1.9:8080", present=False)
    other = PlaneChange(at, at, "w2", "10.96.28.101:80/tcp", "10.244.1.99:8080", present=False)
    (deletion,) = timeline(seen_of(source.watch_events()), planes=[change, other]).deletions
    ((node, *seconds),) = deletion.planes
    assert node == "w2"
    assert seconds == pytest.approx([0.4, 0.25])


def _new(start: float, outcome: str) -> SampledConnection:
    return SampledConnection("new", start, start, start, start, start + 0.01, "a" if outcome == "ok" else "", outcome)


def test_an_outage_has_edges_between_the_last_that_worked_and_the_first_that_did_not() -> None:
    tries = [_new(0.0, "ok"), _new(0.1, "refused"), _new(0.2, "timeout"), _new(0.35, "ok"), _new(0.4, "ok")]
    (outage,) = outages(tries)
    assert (outage.start, outage.end, outage.failed) == (0.1, 0.2, 2)
    assert (outage.before, outage.after) == pytest.approx((0.1, 0.15))
    assert outages([_new(0.0, "ok"), _new(0.1, "ok")]) == []
