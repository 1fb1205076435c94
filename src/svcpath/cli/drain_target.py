"""svcpath drain run --target: a drain of the user's own workload, watched, and with --act also begun."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from svcpath.cli.exits import ExitCode
from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drain.cluster import ClusterTransport
    from svcpath.drain.questions import Answered
    from svcpath.drain.target import Action, Look

#: Scenarios that can be begun on a user's workload, and what begins them.
_BEGINS = {"2": "delete", "3": "delete", "7": "restart", "all": "restart"}


class Wanted(msgspec.Struct, frozen=True):
    """The options of a run on a workload; see drain_run.run."""

    target: str
    namespace: str
    scenario: str
    act: bool
    yes: bool
    force: bool
    db: Path
    context: str
    kubeconfig: str
    api_url: str
    timeout: float
    sample_from: str
    container: str
    sample: Sequence[str]


def run(wanted: Wanted) -> int:
    from svcpath.cli.drain_recording import check_sampling
    from svcpath.drain.cluster import ClusterTransport
    from svcpath.drain.kube import Api
    from svcpath.drain.target import Action, follow, look
    from svcpath.drain.target import act as begin
    from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
    from svcpath.evidence.sources.kube_client import Access

    kind, slash, name = wanted.target.partition("/")
    if not slash or not name or KIND_OF.get(kind.lower()) != "Deployment":
        raise UsageError(f"--target {wanted.target!r}: give a Deployment as deploy/NAME")
    if wanted.scenario != "all" and wanted.scenario not in [str(number) for number in range(1, 8)]:
        raise UsageError(f"--scenario {wanted.scenario!r}: give 1 to 7 or all for a workload")
    check_sampling(wanted.sample_from, wanted.sample, wanted.api_url)
    if wanted.act and wanted.scenario not in _BEGINS:
        raise UsageError(
            f"scenario {wanted.scenario} is not begun by a delete or a restart: watch without --act, or play it on a lab"
        )
    if wanted.db.exists():
        raise UsageError(f"{wanted.db} is there already: give another file with --db")
    action = Action(_BEGINS[wanted.scenario]) if wanted.act else None
    access = Access(context=wanted.context, kubeconfig=wanted.kubeconfig, api_url=wanted.api_url)
    with contextlib.closing(ClusterTransport(access)) as cluster, _ended() as ended:
        wanted = msgspec.structs.replace(wanted, namespace=wanted.namespace or cluster.namespace)
        api = Api(cluster)
        found = look(api, wanted.namespace, name)
        if action is not None:
            _confirm(found, action, wanted)
        with _recording(wanted, cluster):
            if action is not None:
                begin(api, found, action)
                _say("done; watching until it is over")
            else:
                _say(
                    f"watching deploy/{name}: roll it out, or delete a Pod of it; Ctrl-C ends the watch (--act begins it)"
                )
            passed = follow(api, found, timeout=wanted.timeout, ended=ended, say=_say)
            ended.wait(1.0)  # the last events are still on their way
    return _shown(wanted, passed.names, over=passed.over)


@contextlib.contextmanager
def _ended() -> Iterator[threading.Event]:
    """Set by Ctrl-C or SIGTERM: what was recorded so far is shown."""
    event = threading.Event()
    before = {number: signal.signal(number, lambda *_: event.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _recording(wanted: Wanted, cluster: ClusterTransport) -> Iterator[None]:
    from svcpath.cli.drain_recording import target_recording

    with target_recording(
        cluster,
        wanted.db,
        wanted.namespace,
        wanted.target,
        commands=not wanted.api_url,
        sample_from=wanted.sample_from,
        container=wanted.container,
        sample=wanted.sample,
        say=_say,
    ) as under_way:
        for intake in under_way.samplers:
            if not intake.began(20):
                _say(f"the sampler in {wanted.sample_from} has not begun: {intake.error or 'no line of it yet'}")
        yield


def _confirm(found: Look, action: Action, wanted: Wanted) -> None:
    """Say what will be done, and go on only when that is wanted. Raises UsageError."""
    from svcpath.drain.target import objections, plan

    sentence = plan(found, action)
    against = objections(found, action)
    if against and not wanted.force:
        raise UsageError(f"refused to {sentence}: {'; '.join(against)} (--force does it nevertheless)")
    for reason in against:
        _say(f"forced: {reason}")
    _say(f"will {sentence}")
    if wanted.yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("no terminal to ask on: give --yes with --act to do it")
    if not click.confirm("Go on?", err=True):
        raise UsageError("nothing was done")


def _shown(wanted: Wanted, names: frozenset[str], *, over: bool) -> int:
    from svcpath.drain.load import load
    from svcpath.drain.questions import QuestionStatus, answers
    from svcpath.reports.renderers.terminal import render
    from svcpath.reports.timeline import timeline_report
    from svcpath.reports.views.timeline import document

    timeline, gaps = load([wanted.db])
    click.echo(render(document(timeline_report(timeline, gaps))))
    all_of_them = answers(timeline, names)
    chosen = [answered for answered in all_of_them if wanted.scenario in ("all", str(answered.number))]
    for answered in chosen:
        click.echo(_line(answered))
    if not over:
        click.echo("the drain was not over when the watch ended")
    click.echo(f"recorded in {wanted.db}: svcpath drain timeline show {wanted.db}")
    if any(answered.answer is QuestionStatus.FAIL for answered in chosen):
        return ExitCode.BAD
    observed = any(answered.answer is not QuestionStatus.NOT_OBSERVED for answered in chosen)
    return ExitCode.GOOD if observed and over else ExitCode.UNDECIDED


def _line(answered: Answered) -> str:
    from svcpath.drain.questions import QuestionStatus
    from svcpath.drain.scenarios import SCENARIOS

    marks = {
        QuestionStatus.PASS: "✔",
        QuestionStatus.FAIL: "✖",
        QuestionStatus.NOTE: "!",
        QuestionStatus.NOT_OBSERVED: "·",
    }
    word = f"{answered.answer.value}: " if answered.answer is QuestionStatus.NOT_OBSERVED else ""
    return f"{marks[answered.answer]} {answered.number}. {SCENARIOS[answered.number].title}\n     {word}{answered.sentence}"


def _say(text: str) -> None:
    click.echo(text, err=True)
