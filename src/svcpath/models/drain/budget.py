"""Does a drain hold? The terms of one workload put on a shutdown timeline, with what each unknown may still be.

    load balancer removal + endpoint propagation + longest request or connection
      + application shutdown after its signal          <  terminationGracePeriodSeconds, with preStop inside

Unknown terms are taken at the value that is best for the workload when it is asked whether the drain fails for
certain, and are never taken for granted when it is asked whether it holds.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import Object
from svcpath.evidence.facts.node import LoadBalancerHealth
from svcpath.models.drain.balancers import removal_term
from svcpath.models.drain.clock import DrainDemand, Margins, OnSignal, margins, sidecar_stop, stop
from svcpath.models.drain.patch import Patch, suggest
from svcpath.models.drain.subject import Field, StoppedContainer, Subject
from svcpath.models.drain.terms import LONGEST, PROPAGATION, REMOVAL, SHUTDOWN, GivenTerms, Term, unknown

#: A value so large that every margin that depends on it is on its last slope.
_FAR = 1e7

NEW_CONNECTIONS = "new connections"
REQUESTS = "requests"
GRACEFUL_EXIT = "graceful exit"


class BudgetOutcome(enum.Enum):
    """HOLDS: with every term known, all margins are positive. DOES_NOT_HOLD: no value of the unknowns makes
    it hold. UNDETERMINED: it depends on what is not known."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does-not-hold"
    UNDETERMINED = "undetermined"


class Limit(msgspec.Struct, frozen=True):
    """The largest value of one unknown with which the drain still holds, all other unknowns at their best.

    ``finishing`` is the value if the application finishes its requests after the signal, where that is not known.
    """

    name: str
    largest: float
    finishing: float | None = None


class Budget(msgspec.Struct, frozen=True):
    """``margins`` are with every unknown at its best, for an application that exits on its signal unless ``on_signal``
    says otherwise; ``finishing`` the same for one that finishes its requests, where the behaviour is not known."""

    subject: Subject
    terms: tuple[Term, ...]
    on_signal: OnSignal | None
    margins: Margins
    finishing: Margins | None
    limits: tuple[Limit, ...]
    outcome: BudgetOutcome
    first: str
    first_field: Field
    patch: Patch | None

    @property
    def bounded(self) -> bool:
        """Every term has an upper bound and the behaviour on the signal is known or does not matter."""
        hooks = all(container.hook.high is not None for container in self.subject.containers)
        return hooks and all(term.bounded for term in self.terms) and not self._behaviour_matters

    @property
    def _behaviour_matters(self) -> bool:
        return self.on_signal is None and self.margins.negative

    def term(self, name: str) -> Term:
        return next(term for term in self.terms if term.name == name)


def budget(
    subject: Subject,
    *,
    others: Sequence[Object] = (),
    health: Sequence[LoadBalancerHealth] = (),
    unlisted: Sequence[str] = (),
    given: GivenTerms | None = None,
    on_signal: OnSignal | None = None,
) -> Budget:
    """Put one workload on the shutdown timeline. ``others`` are the objects beside it (Ingress, routes), ``health`` what is known of
    load balancers; ``unlisted`` resources that may stand in front and could not be listed."""
    known = given or GivenTerms()
    terms = (
        known.term("removal", REMOVAL, removal_term(subject.services, others, health, unlisted)),
        known.term(
            "propagation", PROPAGATION, unknown(PROPAGATION, "depends on the nodes: svcpath drain watch measures it")
        ),
        known.term("longest", LONGEST, unknown(LONGEST, "--longest-request tells it")),
        known.term("shutdown", SHUTDOWN, unknown(SHUTDOWN, "svcpath drain watch measures it")),
    )
    best = {term.name: term.low for term in terms}
    assumed = on_signal or OnSignal.EXIT
    first = _best_margins(subject, best, assumed)
    finishing = _best_margins(subject, best, OnSignal.FINISH) if on_signal is None else None
    outcome = _outcome(subject, terms, on_signal)
    limits = tuple(_limits(subject, terms, on_signal)) if outcome is not BudgetOutcome.DOES_NOT_HOLD else ()
    to_change, to_change_field = _first_to_change(subject, terms, finishing or first, on_signal)
    return Budget(
        subject=subject,
        terms=terms,
        on_signal=on_signal,
        margins=first,
        finishing=finishing,
        limits=limits,
        outcome=outcome,
        first=to_change,
        first_field=to_change_field,
        patch=suggest(subject, terms, on_signal) if outcome is not BudgetOutcome.HOLDS else None,
    )


# --- margins ------------------------------------------------------------------------------------------------------


def _load(values: dict[str, float]) -> DrainDemand:
    return DrainDemand(
        drained=values[REMOVAL] + values[PROPAGATION], longest=values[LONGEST], shutdown=values[SHUTDOWN]
    )


def margins_of(
    subject: Subject, hooks: dict[str, float], load: DrainDemand, on_signal: OnSignal, *, sure: bool = True
) -> Margins:
    """The margins with every hook at the length given by container name. ``sure``: of hooks that tell the application to
    stop before they end only those count that do so for certain."""
    grace = float(subject.grace)
    on_path = [
        stop(container.name, hooks[container.name], grace, _asked(container, on_signal, sure))
        for container in subject.on_path
    ]
    off_path = [
        stop(container.name, hooks[container.name], grace) for container in subject.ordinary if not container.on_path
    ]
    found = margins(on_path, off_path, grace, load, on_signal)
    if found.graceful_exit is None:
        return found
    end = grace - found.graceful_exit
    sidecars = [
        sidecar_stop(container.name, hooks[container.name], grace, end)
        for container in subject.containers
        if container.sidecar
    ]
    latest = max((sidecar.hook for sidecar in sidecars), default=end)
    whole = None if math.isinf(latest) else min(found.graceful_exit, grace - latest)
    return Margins(found.new_connections, found.requests, whole)


def _asked(container: StoppedContainer, on_signal: OnSignal, sure: bool) -> float:
    """When the hook itself tells the application to stop."""
    found = container.hook.stop
    if found is None or on_signal is OnSignal.IGNORE or (sure and not found.sure):
        return math.inf
    return found.at


def _hook_choices(subject: Subject, load: DrainDemand) -> list[dict[str, float]]:
    """Hook lengths to try: known ones as they are, unknown ones at every value where a margin bends."""
    grace = float(subject.grace)
    last = load.drained + load.longest
    end = grace - load.shutdown
    # Halfway, what is left before the signal and what is left after it are the same.
    bends = (0.0, load.drained, last, max(0.0, (load.drained + end) / 2), max(0.0, (last + end) / 2), end, grace)
    names = [container.name for container in subject.containers]
    choices = [_lengths(container, bends) for container in subject.containers]
    if math.prod(len(lengths) for lengths in choices) > 1000:
        # Several unknown hooks: moving them together meets every bend.
        width = max(len(lengths) for lengths in choices)
        return [
            dict(zip(names, (lengths[min(at, len(lengths) - 1)] for lengths in choices), strict=True))
            for at in range(width)
        ]
    return [dict(zip(names, combination, strict=True)) for combination in itertools.product(*choices)]


def _lengths(container: StoppedContainer, bends: Sequence[float]) -> list[float]:
    hook = container.hook
    if hook.known:
        return [hook.low]
    high = math.inf if hook.high is None else hook.high
    return sorted({min(max(length, hook.low), high) for length in bends})


def _best_margins(subject: Subject, values: dict[str, float], on_signal: OnSignal) -> Margins:
    """The margins with unknown hooks at the length that is best for the smallest margin."""
    load = _load(values)
    every = [margins_of(subject, hooks, load, on_signal) for hooks in _hook_choices(subject, load)]
    return max(every, key=lambda candidate: (candidate.smallest, candidate.new_connections))


def _outcome(subject: Subject, terms: Sequence[Term], on_signal: OnSignal | None) -> BudgetOutcome:
    best = {term.name: term.low for term in terms}
    kindest = on_signal or OnSignal.FINISH
    if _best_margins(subject, best, kindest).negative:
        return BudgetOutcome.DOES_NOT_HOLD
    if not all(term.bounded for term in terms) or any(container.hook.high is None for container in subject.containers):
        return BudgetOutcome.UNDETERMINED
    worst = {term.name: term.high if term.high is not None else term.low for term in terms}
    load = _load(worst)
    hardest = on_signal or OnSignal.EXIT
    lengths = [(container.hook.low, container.hook.high or container.hook.low) for container in subject.containers]
    names = [container.name for container in subject.containers]
    if len(lengths) > 8:
        lengths = lengths[:8] + [(high, high) for _, high in lengths[8:]]
    for chosen in itertools.product(*lengths):
        if not margins_of(subject, dict(zip(names, chosen, strict=True)), load, hardest, sure=False).holds:
            return BudgetOutcome.UNDETERMINED
    return BudgetOutcome.HOLDS


# --- what each unknown may still be -------------------------------------------------------------------------------


def _limits(subject: Subject, terms: Sequence[Term], on_signal: OnSignal | None) -> list[Limit]:
    found = []
    for term in terms:
        if term.known:
            continue
        values = {known.name: known.low for known in terms}
        if on_signal is not None:
            found.append(Limit(term.name, _largest(subject, values, term.name, on_signal)))
            continue
        exiting = _largest(subject, values, term.name, OnSignal.EXIT)
        finishing = _largest(subject, values, term.name, OnSignal.FINISH)
        found.append(Limit(term.name, exiting, finishing if finishing != exiting else None))
    return found


def _largest(subject: Subject, values: dict[str, float], name: str, on_signal: OnSignal) -> float:
    """The largest value of one term that leaves every margin at or above zero.

    A margin falls by one second a second once the term decides it, so its root is read off its far slope. The hook is
    tried at every length it may have.
    """
    largest = 0.0
    far = {**values, name: _FAR}
    for hooks in _hook_choices(subject, _load(values)):
        near_margins = margins_of(subject, hooks, _load(values), on_signal)
        far_margins = margins_of(subject, hooks, _load(far), on_signal)
        if near_margins.negative:
            continue
        roots = [
            at_far + _FAR
            for near, at_far in (
                (near_margins.new_connections, far_margins.new_connections),
                (near_margins.requests, far_margins.requests),
                (near_margins.graceful_exit, far_margins.graceful_exit),
            )
            if near is not None and at_far is not None and at_far < near
        ]
        largest = max(largest, min(roots, default=math.inf))
    return round(largest, 6)


def _first_to_change(
    subject: Subject, terms: Sequence[Term], found: Margins, on_signal: OnSignal | None
) -> tuple[str, Field]:
    """The term that decides the smallest margin, and where it stands in the object."""
    grace = f"terminationGracePeriodSeconds {subject.grace}"
    earliest = min(subject.on_path or subject.ordinary, key=_waits)
    if on_signal is OnSignal.IGNORE:
        text = f"{earliest.stop_signal or 'SIGTERM'} is ignored: give PID 1 a handler, or an init that forwards the signal (tini, dumb-init)"
        return text, earliest.field
    longest_hook = max(container.hook.low for container in subject.ordinary)
    if found.graceful_exit is None or math.isinf(longest_hook):
        endless = next(container for container in subject.containers if math.isinf(container.hook.low))
        return f"preStop of container {endless.name} (it never ends)", endless.hook_field
    if longest_hook >= subject.grace or found.smallest == found.graceful_exit < min(
        found.new_connections, found.requests
    ):
        return grace, subject.grace_field
    hook = _hook_to_change(earliest)
    place = earliest.hook_field if earliest.hook.spelling else earliest.field
    if found.smallest == found.new_connections:
        removal = next(term for term in terms if term.name == REMOVAL)
        if removal.known and removal.low >= subject.grace:
            return f"load balancer removal {removal.low:g} s", subject.grace_field
        return hook, place
    return (hook, place) if on_signal is OnSignal.EXIT else (grace, subject.grace_field)


def _waits(container: StoppedContainer) -> float:
    """Seconds for which a container certainly goes on accepting."""
    return min(container.hook.low, _asked(container, OnSignal.EXIT, True))


def _hook_to_change(container: StoppedContainer) -> str:
    hook = container.hook
    if not hook.spelling:
        return f"preStop of container {container.name} (none)"
    if hook.stop is not None and hook.stop.sure:
        return f"preStop of container {container.name} (it runs {hook.stop.program} after {hook.stop.at:g} s, before it has waited)"
    length = f"{hook.low:g} s" if hook.known else f"{hook.low:g} s or more"
    return f"preStop of container {container.name} ({length})"
