"""Observations: present with a value, else with a reason that code may decide by."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, unreadable
from svcpath.evidence.facts.text import RawText


def test_what_is_not_present_has_a_reason_and_what_is_has_none() -> None:
    with pytest.raises(ValueError, match="reason"):
        Observation(Kind.HOSTS, State.ABSENT)
    with pytest.raises(ValueError, match="reason"):
        Observation(Kind.HOSTS, State.PRESENT, RawText(""), Reason.FAILED)
    with pytest.raises(ValueError, match="value"):
        Observation(Kind.HOSTS, State.PRESENT)


@pytest.mark.parametrize(
    ("reason", "refused"),
    [
        (Reason.NOT_RECORDED, False),
        (Reason.NOT_OFFERED, False),
        (Reason.NO_WAY_IN, False),
        (Reason.DENIED, True),
        (Reason.TIMED_OUT, True),
        (Reason.LEFT_OUT, True),
    ],
)
def test_only_what_was_there_to_look_at_was_refused_whatever_its_words(reason: Reason, refused: bool) -> None:
    trouble = Trouble(reason, "no answer from the API server in 15 s")
    assert unreadable(Kind.HOSTS, trouble, Provenance()).refused is refused
