"""What could not be looked at is named once: which gaps are the same is known by the looks for which they speak."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.text import Unplaced
from svcpath.findings.finding import Gap
from svcpath.judge import gaps
from svcpath.walk.ask import Reply
from tests.judge.build import present


def _look(
    kind: Kind = Kind.POD, reason: Reason = Reason.TIMED_OUT, source: str = "kube", command: str = ""
) -> Observation[None]:
    where = Provenance(source, command, path="" if source == "kube" else f"{kind.value}.json")
    return Observation(kind, State.UNREADABLE, reason=reason, why="the same words", provenance=where)


def _reply(*looks: Observation[None]) -> Reply:
    return Reply(Need(looks[0].kind, namespace="shop"), Observations(looks))


def test_a_look_on_a_cluster_that_went_wrong_is_a_gap_of_the_layer_that_asked() -> None:
    (gap,) = gaps.of_layer("pod", (), (_reply(_look()),), ())
    assert (gap.layer, gap.what, gap.why) == ("pod", "Pod in shop", "the same words")


@pytest.mark.parametrize(
    "look",
    [_look(reason=Reason.NOT_OFFERED), _look(source="files"), _look(reason=Reason.NOT_RECORDED, source="bundle")],
)
def test_what_nothing_went_wrong_with_is_no_gap(look: Observation[None]) -> None:
    assert gaps.of_layer("pod", (), (_reply(look),), ()) == ()


def test_a_layer_that_reported_a_look_itself_does_not_report_it_again() -> None:
    look = _look()
    named = Gap("pod", "the Pods", "in words of its own", looks=(look,))
    assert gaps.of_layer("pod", (named,), (_reply(look),), gaps.unread([look])) == (named,)


def test_another_look_that_ended_in_the_same_words_is_reported() -> None:
    named = Gap("pod", "the nodes", "the same words", looks=(_look(Kind.NODE, command="kubectl get nodes"),))
    found = gaps.of_layer("pod", (named,), (_reply(_look(command="kubectl get pods", reason=Reason.DENIED)),), ())
    assert [gap.what for gap in found] == ["the nodes", "Pod in shop"]


def test_what_could_not_be_read_is_reported_unless_its_command_or_its_place_was() -> None:
    first, second = _look(Kind.POD, Reason.MALFORMED, "files"), _look(Kind.ENDPOINT_SLICE, Reason.MALFORMED, "files")
    read = gaps.unread([first, second, _look(reason=Reason.NOT_RECORDED, source="files")])
    assert [(gap.layer, gap.looks) for gap in read] == [("endpoints", (first,)), ("endpoints", (second,))]
    assert gaps.of_layer("endpoints", (), (), read) == read
    named = Gap("endpoints", "it", "in other words", looks=(first,))
    assert gaps.of_layer("endpoints", (named,), (), read) == (named, read[1])


def test_an_unrecognized_file_is_a_gap_of_the_evidence() -> None:
    (gap,) = gaps.unplaced([present(Unplaced(why="a picture", size=3), Kind.UNPLACED, "a.png")])
    assert (gap.layer, gap.what, gap.why) == ("evidence", "a.png", "unrecognized file: a picture")
