"""Does a drain hold? The terms of one workload put on the clock of one deletion, with what each unknown may still be.

    load balancer removal + EndpointSlice and data plane propagation + longest request or connection
      + application shutdown after its signal          <  terminationGracePeriodSeconds, with preStop inside

Unknown terms are taken at the value that is best for the workload when it is asked whether the drain is lost for
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
ORDERLY_END = "orderly end"


class BudgetOutcome(enum.Enum):
    """HOLDS: with every term known, all margins are positive. LOST: no value of the unknowns makes it hold. OPEN: it
    depends on what is not known."""

    HOLDS = "holds"
    LOST = "lost"
    OPEN = "open"


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
        hooks = all(one.hook.high is not None for one in self.subject.containers)
        return hooks and all(one.bounded for one in self.terms) and not self._behaviour_matters

    @property
    def _behaviour_matters(self) -> bool:
        return self.on_signal is None and self.margins.negative

    def term(self, name: str) -> Term:
        return next(one for one in self.terms if one.name == name)


def budget(
    subject: Subject,
    *,
    others: Sequence[Object] = (),
    health: Sequence[LoadBalancerHealth] = (),
    given: GivenTerms | None = None,
    on_signal: OnSignal | None = None,
) -> Budget:
    """Put one workload on the clock. ``others`` are the objects beside it (Ingress, routes), ``health`` what is known of
    load balancers."""
    said = given or GivenTerms()
    terms = (
        said.term("removal", REMOVAL, removal_term(subject.services, others, health)),
        said.term(
            "propagation", PROPAGATION, unknown(PROPAGATION, "depends on the nodes: svcpath drain watch measures it")
        ),
        said.term("longest", LONGEST, unknown(LONGEST, "--longest-request tells it")),
        said.term("shutdown", SHUTDOWN, unknown(SHUTDOWN, "svcpath drain watch measures it")),
    )
    best = {one.name: one.low for one in terms}
    assumed = on_signal or OnSignal.EXIT
    first = _best_margins(subject, best, assumed)
    finishing = _best_margins(subject, best, OnSignal.FINISH) if on_signal is None else None
    outcome = _outcome(subject, terms, on_signal)
    limits = tuple(_limits(subject, terms, on_signal)) if outcome is not BudgetOutcome.LOST else ()
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
    on_path = [stop(one.name, hooks[one.name], grace, _asked(one, on_signal, sure)) for one in subject.on_path]
    off_path = [stop(one.name, hooks[one.name], grace) for one in subject.ordinary if not one.on_path]
    found = margins(on_path, off_path, grace, load, on_signal)
    if found.orderly_end is None:
        return found
    end = grace - found.orderly_end
    sidecars = [sidecar_stop(one.name, hooks[one.name], grace, end) for one in subject.containers if one.sidecar]
    latest = max((one.hook for one in sidecars), default=end)
    whole = None if math.isinf(latest) else min(found.orderly_end, grace - latest)
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
    names = [one.name for one in subject.containers]
    choices = [_lengths(one, bends) for one in subject.containers]
    if math.prod(len(one) for one in choices) > 1000:
        # Several unknown hooks: moving them together meets every bend.
        width = max(len(one) for one in choices)
        return [dict(zip(names, (one[min(at, len(one) - 1)] for one in choices), strict=True)) for at in range(width)]
    return [dict(zip(names, one, strict=True)) for one in itertools.product(*choices)]


def _lengths(container: StoppedContainer, bends: Sequence[float]) -> list[float]:
    hook = container.hook
    if hook.known:
        return [hook.low]
    high = math.inf if hook.high is None else hook.high
    return sorted({min(max(one, hook.low), high) for one in bends})


def _best_margins(subject: Subject, values: dict[str, float], on_signal: OnSignal) -> Margins:
    """The margins with unknown hooks at the length that is best for the smallest margin."""
    load = _load(values)
    every = [margins_of(subject, hooks, load, on_signal) for hooks in _hook_choices(subject, load)]
    return max(every, key=lambda one: (one.smallest, one.new_connections))


def _outcome(subject: Subject, terms: Sequence[Term], on_signal: OnSignal | None) -> BudgetOutcome:
    best = {one.name: one.low for one in terms}
    kindest = on_signal or OnSignal.FINISH
    if _best_margins(subject, best, kindest).negative:
        return BudgetOutcome.LOST
    if not all(one.bounded for one in terms) or any(one.hook.high is None for one in subject.containers):
        return BudgetOutcome.OPEN
    worst = {one.name: one.high if one.high is not None else one.low for one in terms}
    load = _load(worst)
    hardest = on_signal or OnSignal.EXIT
    lengths = [(one.hook.low, one.hook.high or one.hook.low) for one in subject.containers]
    names = [one.name for one in subject.containers]
    if len(lengths) > 8:
        lengths = lengths[:8] + [(high, high) for _, high in lengths[8:]]
    for chosen in itertools.product(*lengths):
        if not margins_of(subject, dict(zip(names, chosen, strict=True)), load, hardest, sure=False).holds:
            return BudgetOutcome.OPEN
    return BudgetOutcome.HOLDS


# --- what each unknown may still be -------------------------------------------------------------------------------


def _limits(subject: Subject, terms: Sequence[Term], on_signal: OnSignal | None) -> list[Limit]:
    found = []
    for term in terms:
        if term.known:
            continue
        values = {one.name: one.low for one in terms}
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
                (near_margins.orderly_end, far_margins.orderly_end),
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
        text = "the stop signal is ignored: give PID 1 a handler, or an init that forwards the signal (tini, dumb-init)"
        return text, earliest.field
    longest_hook = max(one.hook.low for one in subject.ordinary)
    if found.orderly_end is None or math.isinf(longest_hook):
        endless = next(one for one in subject.containers if math.isinf(one.hook.low))
        return f"preStop of container {endless.name} (it never ends)", endless.hook_field
    if longest_hook >= subject.grace or found.smallest == found.orderly_end < min(
        found.new_connections, found.requests
    ):
        return grace, subject.grace_field
    hook = _hook_to_change(earliest)
    place = earliest.hook_field if earliest.hook.spelling else earliest.field
    if found.smallest == found.new_connections:
        removal = next(one for one in terms if one.name == REMOVAL)
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
