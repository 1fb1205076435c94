"""Rules about preStop hooks and the grace period."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from svcpath.models.drain.budget import Budget
from svcpath.models.drain.lint.rule import Around, Level, LintFinding
from svcpath.models.drain.subject import StoppedContainer
from svcpath.models.drain.terms import PROPAGATION, REMOVAL

#: Images known to hold neither a shell nor coreutils, by their names.
_BARE = re.compile(r"distroless|(?:^|/)scratch(?:$|[:@])|chainguard/static|(?:^|/)static(?:$|[:@-])")
_WITH_SHELL = re.compile(r":(?:[\w.-]*-)?debug|-dev(?:$|[:@-])|busybox")
_PROGRAMS = frozenset(("sh", "bash", "ash", "dash", "ksh", "zsh", "sleep", "env", "timeout", "busybox"))


def seconds(value: float) -> str:
    """Seconds as words: "45 s", "without end"."""
    return "without end" if math.isinf(value) else f"{value:g} s"


def _takes(length: float) -> str:
    return "never ends" if math.isinf(length) else f"takes {seconds(length)}"


def _mend(length: float) -> str:
    if math.isinf(length):
        return "let it sleep a number of seconds below the grace period"
    return f"make the grace period longer than {seconds(length)} plus the drain"


def outlasts_grace(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP706: the hook uses up the whole grace period."""
    subject = budget.subject
    for one in subject.ordinary:
        if one.hook.low >= subject.grace and one.hook.low > 0:
            grace = f"{'the default ' if subject.grace_is_default else ''}{subject.grace} s"
            yield LintFinding(
                "SP706",
                Level.ERROR,
                f"preStop of container {one.name} {_takes(one.hook.low)} ({one.hook.spelling}), "
                f"terminationGracePeriodSeconds is {grace}: the signal comes at the end of the grace period and the kill "
                f"2 s later; {_mend(one.hook.low)}",
                around.obj,
                one.hook_field,
            )


def refused(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP714: API servers since 1.30 refuse a sleep action above the grace period (validation.go, validateSleepAction)."""
    subject = budget.subject
    for one in subject.containers:
        field = (*one.hook_field, "sleep", "seconds")
        if one.hook.refused:
            text = f"the sleep action of container {one.name} {one.hook.refused}: API servers refuse the object"
            yield LintFinding("SP714", Level.ERROR, text, around.obj, field)
        if one.hook.spelling == "sleep action" and one.hook.low > subject.grace:
            yield LintFinding(
                "SP714",
                Level.ERROR,
                f"the sleep action of container {one.name} ({one.hook.low:g} s) is above the grace period "
                f"({subject.grace} s): API servers since 1.30 refuse the object",
                around.obj,
                field,
            )


def never_runs(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP719: the hook fails at once: tcpSocket is no preStop handler, or the command can't run as it is written."""
    for one in budget.subject.containers:
        if one.hook.broken:
            yield LintFinding(
                "SP719",
                Level.WARNING,
                f"preStop of container {one.name} {one.hook.broken}: it fails at once and delays nothing; use the sleep action",
                around.obj,
                one.hook_field,
            )


def needs_shell(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP709: the hook runs a program that images of this name do not hold."""
    for one in budget.subject.containers:
        image = one.image.lower()
        if one.hook.needs in _PROGRAMS and _BARE.search(image) and not _WITH_SHELL.search(image):
            yield LintFinding(
                "SP709",
                Level.WARNING,
                f"preStop of container {one.name} runs {one.hook.needs}, which image {one.image} most likely does not hold: "
                "the hook then fails at once; the sleep action needs no program",
                around.obj,
                one.hook_field,
            )


def missing(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP707: nothing on the path waits before its signal."""
    subject = budget.subject
    if not subject.serves or not subject.on_path or subject.grace == 0:
        return
    if any(one.hook.waits for one in subject.on_path):
        return
    drained = [budget.term(REMOVAL), budget.term(PROPAGATION)]
    if all(one.known and one.low == 0 for one in drained):
        return
    known = sum(one.low for one in drained)
    needed = f"at least {known:g} s" if known else "more than the propagation takes (5 to 15 s in most clusters)"
    grace = f"the default {subject.grace} s" if subject.grace_is_default else f"{subject.grace} s"
    containers = ", ".join(one.name for one in subject.on_path)
    first = next((one for one in subject.on_path if one.hook.spelling), subject.on_path[0])
    yield LintFinding(
        "SP707",
        Level.WARNING,
        f"{_why(subject.on_path, containers)}, while nodes and load balancers still send new connections; let preStop sleep "
        f"{needed}, below the grace period ({grace})",
        around.obj,
        first.hook_field if first.hook.spelling else first.field,
    )


def _why(on_path: Sequence[StoppedContainer], containers: str) -> str:
    hooks = [one.hook for one in on_path if one.hook.spelling]
    if not hooks:
        return f"no preStop in {containers}: the stop signal comes at once"
    stops = next((one.stop for one in hooks if one.stop is not None), None)
    if stops is not None:
        return f"preStop of {containers} runs {stops.program} before it waits: the application is told to stop at once"
    return f"preStop of {containers} waits 0 s: the stop signal comes at once"


def second_container(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP718: one container on the path waits, another does not, and the earliest signal counts."""
    on_path = budget.subject.on_path
    waiting = [one for one in on_path if one.hook.low > 0 and one.hook.waits]
    for one in on_path:
        if waiting and not one.hook.waits and waiting[0] is not one:
            what = "has no preStop: its signal comes at once"
            if one.hook.spelling:
                what = "is told to stop at once, by its preStop or right behind it"
            yield LintFinding(
                "SP718",
                Level.WARNING,
                f"container {one.name} is on the path and {what}, although "
                f"{waiting[0].name} waits {seconds(waiting[0].hook.low)}; give both the same wait",
                around.obj,
                one.field,
            )


def no_grace(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP710: no time at all."""
    subject = budget.subject
    if subject.grace == 0 and subject.kind not in ("Job", "CronJob"):
        yield LintFinding(
            "SP710",
            Level.WARNING,
            "terminationGracePeriodSeconds is 0: the Pod's object goes at once and its containers are killed within 2 s, "
            "whatever they are doing",
            around.obj,
            subject.grace_field,
        )
