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


def _fix(length: float) -> str:
    if math.isinf(length):
        return "let it sleep a number of seconds below the grace period"
    return f"make the grace period longer than {seconds(length)} plus the drain"


def outlasts_grace(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP706: the hook uses up the whole grace period."""
    subject = budget.subject
    for container in subject.ordinary:
        if container.hook.low >= subject.grace and container.hook.low > 0:
            grace = f"{'the default ' if subject.grace_is_default else ''}{subject.grace} s"
            yield LintFinding(
                "SP706",
                Level.ERROR,
                f"preStop of container {container.name} {_takes(container.hook.low)} ({container.hook.spelling}), "
                f"terminationGracePeriodSeconds is {grace}: the signal comes at the end of the grace period and the kill "
                f"2 s later; {_fix(container.hook.low)}",
                around.obj,
                container.hook_field,
            )


def refused(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP714: API servers since 1.30 refuse a sleep action above the grace period (validation.go, validateSleepAction)."""
    subject = budget.subject
    for container in subject.containers:
        field = (*container.hook_field, "sleep", "seconds")
        if container.hook.refused:
            text = f"the sleep action of container {container.name} {container.hook.refused}: API servers refuse the object"
            yield LintFinding("SP714", Level.ERROR, text, around.obj, field)
        if container.hook.spelling == "sleep action" and container.hook.low > subject.grace:
            yield LintFinding(
                "SP714",
                Level.ERROR,
                f"the sleep action of container {container.name} ({container.hook.low:g} s) is above the grace period "
                f"({subject.grace} s): API servers since 1.30 refuse the object",
                around.obj,
                field,
            )


def never_runs(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP719: the hook fails at once: tcpSocket is no preStop handler, or the command can't run as it is written."""
    for container in budget.subject.containers:
        if container.hook.broken:
            yield LintFinding(
                "SP719",
                Level.WARNING,
                f"preStop of container {container.name} {container.hook.broken}: it fails at once and delays nothing; use the sleep action",
                around.obj,
                container.hook_field,
            )


def needs_shell(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP709: the hook runs a program that images of this name do not hold."""
    for container in budget.subject.containers:
        image = container.image.lower()
        if container.hook.needs in _PROGRAMS and _BARE.search(image) and not _WITH_SHELL.search(image):
            yield LintFinding(
                "SP709",
                Level.WARNING,
                f"preStop of container {container.name} runs {container.hook.needs}, which image {container.image} most likely does not hold: "
                "the hook then fails at once; the sleep action needs no program",
                around.obj,
                container.hook_field,
            )


def missing(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP707: nothing on the path waits before its signal."""
    subject = budget.subject
    if not subject.serves or not subject.on_path or subject.grace == 0:
        return
    if any(container.hook.waits for container in subject.on_path):
        return
    drained = [budget.term(REMOVAL), budget.term(PROPAGATION)]
    if all(term.known and term.low == 0 for term in drained):
        return
    known = sum(term.low for term in drained)
    needed = f"at least {known:g} s" if known else "more than the propagation takes (5 to 15 s in most clusters)"
    grace = f"the default {subject.grace} s" if subject.grace_is_default else f"{subject.grace} s"
    containers = ", ".join(container.name for container in subject.on_path)
    first = next((container for container in subject.on_path if container.hook.spelling), subject.on_path[0])
    yield LintFinding(
        "SP707",
        Level.WARNING,
        f"{_why(subject.on_path, containers)}, while nodes and load balancers still send new connections; let preStop sleep "
        f"{needed}, below the grace period ({grace})",
        around.obj,
        first.hook_field if first.hook.spelling else first.field,
    )


def _why(on_path: Sequence[StoppedContainer], containers: str) -> str:
    hooks = [container.hook for container in on_path if container.hook.spelling]
    if not hooks:
        return f"no preStop in {containers}: SIGTERM comes at once"
    stops = next((hook.stop for hook in hooks if hook.stop is not None), None)
    if stops is not None:
        return f"preStop of {containers} runs {stops.program} before it waits: the application is stopped at once"
    return f"preStop of {containers} waits 0 s: SIGTERM comes at once"


def second_container(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP718: one container on the path waits, another does not, and the earliest signal counts."""
    on_path = budget.subject.on_path
    waiting = [container for container in on_path if container.hook.low > 0 and container.hook.waits]
    for container in on_path:
        if waiting and not container.hook.waits and waiting[0] is not container:
            what = "has no preStop: its signal comes at once"
            if container.hook.spelling:
                what = "is stopped at once, by its preStop or right behind it"
            yield LintFinding(
                "SP718",
                Level.WARNING,
                f"container {container.name} is on the path and {what}, although "
                f"{waiting[0].name} waits {seconds(waiting[0].hook.low)}; give both the same wait",
                around.obj,
                container.field,
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
