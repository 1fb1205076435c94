"""Questions about a user's own drain are answered from what was recorded, and only from that."""

from __future__ import annotations

import pytest

from svcpath.drain.questions import Answered, QuestionStatus, answers
from svcpath.models.drain.deletion import ContainerExit, Deletion
from svcpath.models.drain.moments import SampledConnection
from svcpath.models.drain.timeline import DrainTimeline

IN_ORDER = (ContainerExit("app", 0, "Completed", 10.4, 10.0),)


def _deletion(exits: tuple[ContainerExit, ...] = IN_ORDER, gone: float | None = 11.0) -> Deletion:
    return Deletion(
        pod="web-1",
        namespace="shop",
        node="w1",
        zero=100.0,
        uncertain=0.1,
        grace=20,
        addresses=("10.0.0.1",),
        noticed=0.5,
        conditions="",
        hook_ends=10.0,
        exits=exits,
        removed=10.5,
        gone=gone,
        planes=(),
    )


def _row(kind: str, start: float, end: float, peer: str = "web-1", outcome: str = "ok") -> SampledConnection:
    return SampledConnection(kind, 100 + start, 100 + start, 100 + start, 100 + start, 100 + end, peer, outcome)


def _ask(
    number: int,
    *rows: SampledConnection,
    reported: float | None = 3.0,
    exits: tuple[ContainerExit, ...] = IN_ORDER,
    gone: float | None = 11.0,
) -> Answered:
    found = DrainTimeline(100.0, (_deletion(exits, gone),), (), rows, (), reported)
    return answers(found, {"web-1"})[number - 1]


def test_there_is_an_answer_to_each_question_in_order() -> None:
    found = answers(DrainTimeline(0.0, (_deletion(),), (), (), (), None), {"web-1"})
    assert [answered.number for answered in found] == list(range(1, 8))


def test_without_connections_what_only_a_client_sees_is_not_observed() -> None:
    assert {number: _ask(number).answer for number in (1, 2, 4, 5, 6)} == dict.fromkeys(
        (1, 2, 4, 5, 6), QuestionStatus.NOT_OBSERVED
    )


def test_another_workloads_deletion_answers_nothing() -> None:
    found = answers(DrainTimeline(0.0, (_deletion(),), (), (), (), None), {"api-1"})
    assert {answered.answer for answered in found} == {QuestionStatus.NOT_OBSERVED}


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ([_row("new", 0.9, 1.0), _row("new", 2.0, 2.1, "web-2")], QuestionStatus.PASS),
        ([_row("new", 7.0, 7.1)], QuestionStatus.FAIL),
        ([_row("new", 0.9, 1.0), _row("new", 2, 2, "", "refused")], QuestionStatus.FAIL),
    ],
)
def test_new_connections_after_the_slice_showed_the_pod_leaving(
    rows: list[SampledConnection], answer: QuestionStatus
) -> None:
    assert _ask(1, *rows).answer is answer


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ([_row("slow", -1, 5)], QuestionStatus.PASS),
        ([_row("slow", -1, 5), _row("slow", 4, 10, outcome="cut")], QuestionStatus.FAIL),
        ([_row("slow", -9, -3)], QuestionStatus.NOT_OBSERVED),
        ([_row("slow", -1, 5, "web-2")], QuestionStatus.NOT_OBSERVED),
    ],
)
def test_requests_that_ran_on_the_leaving_pod(rows: list[SampledConnection], answer: QuestionStatus) -> None:
    assert _ask(2, *rows).answer is answer


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ([_row("keepalive", 1, 1.1), _row("keepalive", 3, 3.1, "web-2")], QuestionStatus.PASS),
        ([_row("websocket", 9, 9.1)], QuestionStatus.FAIL),
        ([_row("grpc", 1, 1.1, outcome="cut")], QuestionStatus.FAIL),
        ([_row("new", 1, 1.1)], QuestionStatus.NOT_OBSERVED),
    ],
)
def test_kept_connections_to_the_leaving_pod(rows: list[SampledConnection], answer: QuestionStatus) -> None:
    assert _ask(4, *rows).answer is answer


def test_a_container_whose_end_was_not_seen_is_not_said_to_have_ended_well() -> None:
    assert _ask(3).answer is QuestionStatus.PASS
    assert _ask(3, exits=()).answer is QuestionStatus.NOT_OBSERVED
    assert _ask(3, exits=(ContainerExit("app", 137, "Error", 20.2, 20.0),)).answer is QuestionStatus.FAIL
    assert _ask(3, exits=(ContainerExit("app", 137, "OOMKilled", 4.0, 4.0),)).answer is QuestionStatus.NOTE


def test_old_pods_that_outlive_the_report_are_noted_and_not_called_a_failure() -> None:
    assert _ask(7).answer is QuestionStatus.NOTE
    assert _ask(7, reported=11.0).answer is QuestionStatus.PASS
    assert _ask(7, gone=None).answer is QuestionStatus.NOTE
    assert _ask(7, reported=None).answer is QuestionStatus.NOT_OBSERVED
