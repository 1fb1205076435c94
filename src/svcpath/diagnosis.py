"""The one door: what was asked, over a Source, to a report. Commands, the library, the score and the recorder come through it.

Kept apart from the rest of the library (``api.py``), which takes longer to import than a walk takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Source

if TYPE_CHECKING:
    from svcpath.judge.tally import LayerResult
    from svcpath.reports.records import Report
    from svcpath.walk.walked import LayerWalk


def diagnose(
    source: Source,
    target: Request | str = "",
    *,
    progress: Callable[[LayerResult], None] | None = None,
    **words: Any,
) -> Report:
    """Walk all layers over ``source`` and return the report (contract ``svcpath.report/v1``).

    ``target`` is a Request; or a target as users write it, with ``words`` for the rest: both as ``Request.of`` takes them.
    ``progress`` is called with what each layer comes to as it is there. Raises UsageError when it is not clear what is
    meant, UnknownTarget for what is not there, SourceUnavailable when the source can't be read at all.
    """
    if isinstance(target, Request):
        if words:
            raise TypeError(f"a Request says it all: {', '.join(words)} belong into it")
        request = target
    else:
        request = Request.of(target, **words)
    from svcpath.walk.walk import walk

    def watched(answer: LayerWalk) -> None:
        from svcpath.judge.judge import provisional

        if progress is not None:
            progress(provisional(answer))

    walked = walk(source, request, watched if progress is not None else None)
    from svcpath.judge.judge import judge
    from svcpath.reports.report import report

    return report(judge(walked))
