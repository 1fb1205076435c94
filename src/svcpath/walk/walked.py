"""What a walk brings back, not judged yet."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import Change, LayerAnswer, LayerName
from svcpath.status import Status
from svcpath.walk.ask import Reply
from svcpath.walk.failed import FailedConnection
from svcpath.walk.picture.path import RequestPath
from svcpath.walk.quality import Quality


class LayerWalk(msgspec.Struct, frozen=True):
    """One layer's answer, and what met the Needs that it was the first to ask."""

    layer: LayerName
    answer: LayerAnswer
    met: tuple[Reply, ...]

    @property
    def fails(self) -> bool:
        """By a finding of its own."""
        return any(found.status is Status.FAIL and found.layer == self.layer for found in self.answer.findings)


class Walked(msgspec.Struct, frozen=True):
    """``named``: the user named the Service. ``asked`` has the seven layers in order; ``unread`` what could not be
    looked at or read, in the order in which it was asked for."""

    request: Request
    named: bool
    asked: tuple[LayerWalk, ...]
    quality: Quality
    failed: FailedConnection | None
    changes: tuple[Change, ...]
    path: RequestPath
    unread: tuple[Observation[Any], ...]
