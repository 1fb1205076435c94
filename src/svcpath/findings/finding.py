"""What a layer says: findings with their evidence, hypotheses with their confidence, and the layer's own status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.status import Confidence, Status

LayerName = Literal["resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle"]

#: Always these seven, always in this order.
LAYERS: tuple[LayerName, ...] = ("resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle")


class Evidence(msgspec.Struct, frozen=True):
    """One sentence that an observation bears out, and the command that shows it again."""

    sentence: str
    observation: Observation[Any] | None = None

    @property
    def command(self) -> str:
        return self.observation.provenance.command if self.observation else ""

    @property
    def path(self) -> str:
        """The file of the evidence; empty for a live look."""
        return self.observation.provenance.path if self.observation else ""

    @property
    def line(self) -> int:
        """From 1; 0 stands for the whole file, or for none."""
        return self.observation.provenance.line if self.observation and self.path else 0


class Disproof(msgspec.Struct, frozen=True):
    """The command that would prove a hypothesis wrong, and what it would have to show."""

    command: str
    refutes: str


class Hypothesis(msgspec.Struct, frozen=True):
    cause: str
    layer: LayerName
    confidence: Confidence
    supports: tuple[Evidence, ...] = ()
    against: tuple[Evidence, ...] = ()
    disproof: Disproof | None = None


class Finding(msgspec.Struct, frozen=True):
    """``code`` is a key of the catalogue; ``sentence`` says what is, with the real names, addresses and ports.

    ``explains`` are codes, of those that the catalogue says this code can explain, whose finding this one outranks: it
    explains the traffic that was seen, so that theirs is a warning beside it.
    """

    code: str
    layer: LayerName
    status: Status
    sentence: str
    evidence: tuple[Evidence, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    details: tuple[str, ...] = ()
    remedy: str = ""
    share: str = ""
    explains: tuple[str, ...] = ()

    @property
    def best(self) -> Hypothesis | None:
        """The hypothesis with the strongest confidence; the first of equals."""
        order = list(Confidence)
        return min(self.hypotheses, key=lambda hypothesis: order.index(hypothesis.confidence), default=None)


class Gap(msgspec.Struct, frozen=True):
    """Something no layer could look at: what, why, and the command or right that would allow it. ``layer`` is
    "evidence" for a file that could not be placed. ``looks`` are the looks for which it speaks, each of which gave nothing."""

    layer: LayerName | Literal["evidence"]
    what: str
    why: str
    command: str = ""
    looks: tuple[Observation[Any], ...] = ()


class CheckResult(msgspec.Struct, frozen=True):
    """What a check contributes: findings, things not looked at, and a phrase for the layer's pass sentence.

    ``looked`` is false when the check had nothing to look at: a layer none of whose checks looked is not-looked-at.
    """

    findings: tuple[Finding, ...] = ()
    not_looked_at: tuple[Gap, ...] = ()
    phrase: str = ""
    looked: bool = True


class LayerAnswer(msgspec.Struct, frozen=True):
    """All that one layer says: findings (of other layers too, where its evidence showed them), gaps and passes. Nothing is
    weighed here: what status and sentence it comes to is the judge's.

    ``passes`` are the phrases of what was looked at and is right, empty without a phrase; ``looked`` whether any check had
    something to look at; ``otherwise`` what stands in the layer's line when none had.
    """

    findings: tuple[Finding, ...] = ()
    gaps: tuple[Gap, ...] = ()
    passes: tuple[str, ...] = ()
    looked: bool = False
    otherwise: str = ""


def answer(judgements: Sequence[CheckResult], *, otherwise: str = "") -> LayerAnswer:
    """Put side by side what the checks of one layer said, in their order."""
    return LayerAnswer(
        findings=tuple(finding for judgement in judgements for finding in judgement.findings),
        gaps=tuple(gap for judgement in judgements for gap in judgement.not_looked_at),
        passes=tuple(judgement.phrase for judgement in judgements if judgement.phrase),
        looked=any(judgement.looked for judgement in judgements),
        otherwise=otherwise,
    )


def extended(first: LayerAnswer, judgements: Sequence[CheckResult]) -> LayerAnswer:
    """``first`` and what further checks of the same layer say behind it."""
    more = answer(judgements)
    return msgspec.structs.replace(
        first,
        findings=(*first.findings, *more.findings),
        gaps=(*first.gaps, *more.gaps),
        passes=(*first.passes, *more.passes),
        looked=first.looked or more.looked,
    )


@dataclass(frozen=True, slots=True)
class Change:
    """Something that changed recently on the path: RFC 3339 time, what, and who changed it."""

    at: str
    what: str
    who: str = ""
    observation: Observation[Any] | None = field(default=None, compare=False)
