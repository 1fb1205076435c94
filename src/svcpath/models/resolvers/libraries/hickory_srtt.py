"""The smoothed round-trip time that hickory 0.26 keeps of each server: it says how soon a silent query is sent again.

Rules from hickory-resolver 0.26.3 name_server.rs DecayingSrtt and send_inner (a reply without records counts as a
failure), and hickory-net 0.26.3 udp_client_stream.rs send_message. Times are seconds of the lookup's own clock. What two
queries in flight do to it in one instant has no order that the outside could know, so it is a lowest and a highest value.
"""

from __future__ import annotations

import math

import msgspec

FAILURE, MOST = 0.150, 5.0
FORGET_SECONDS, DECAY_SECONDS = 3, 180
FLOOR, FACTOR = 0.333, 1.2
SAME_INSTANT = 0.02
# What is measured on a machine is never quite what is computed here.
SLACK = 0.03


class _Event(msgspec.Struct, frozen=True):
    """``candidate`` is the number of the name that was asked (one ends before the next begins); ``rtt`` is negative for a
    failure."""

    candidate: int
    time: float
    kind: str
    rtt: float


class Srtt:
    def __init__(self) -> None:
        self._events: list[_Event] = []
        self._candidate = 0

    def next_candidate(self) -> None:
        self._candidate += 1

    def reply(self, time: float, kind: str, rtt: float) -> None:
        self._events.append(_Event(self._candidate, time, kind, rtt))

    def failure(self, time: float, kind: str) -> None:
        self._events.append(_Event(self._candidate, time, kind, -1.0))

    def value(self, time: float) -> float:
        low, high = _span(self._events, time)
        return (low + high) / 2

    def interval(self, time: float, kind: str) -> tuple[float, float]:
        """How long a query of that type, first sent at ``time``, waits before it is sent again: at least, at most."""
        before = [event for event in self._events if event.time <= time + SAME_INSTANT]
        sure = [
            event
            for event in before
            if event.candidate < self._candidate or event.kind == kind or event.time < time - SAME_INSTANT
        ]
        spans = [_span(sure, time)] + ([_span(before, time)] if len(before) > len(sure) else [])
        low = min(span[0] for span in spans) * FACTOR * (1 - SLACK)
        high = max(span[1] for span in spans) * FACTOR * (1 + SLACK)
        return max(FLOOR, low), max(FLOOR, high)


def _span(events: list[_Event], time: float) -> tuple[float, float]:
    """The value at ``time`` after those events: lowest and highest over the orders of what the two types did at once."""
    low = high = 0.0
    last: float | None = None
    for group in _instants(events):
        kinds = sorted({event.kind for event in group})
        ways = [_after(group, low, high, last)]
        if len(kinds) > 1:
            apart = [[event for event in group if event.kind == kind] for kind in kinds]
            ways += [_after(apart[0] + apart[1], low, high, last), _after(apart[1] + apart[0], low, high, last)]
        low, high = min(way[0] for way in ways), max(way[1] for way in ways)
        last = group[-1].time
    if last is None:
        return 0.0, 0.0
    decay = math.exp(-max(time - last, 1.0) / DECAY_SECONDS)
    return low * decay, high * decay


def _instants(events: list[_Event]) -> list[list[_Event]]:
    """Events of one candidate that are too near each other to have an order, together."""
    groups: list[list[_Event]] = []
    for event in sorted(events, key=lambda event: (event.candidate, event.time)):
        previous = groups[-1][-1] if groups else None
        if previous and previous.candidate == event.candidate and event.time - previous.time <= SAME_INSTANT:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _after(events: list[_Event], low: float, high: float, last: float | None) -> tuple[float, float]:
    for event in events:
        if last is None:
            low = high = FAILURE if event.rtt < 0 else event.rtt
        elif event.rtt < 0:
            low, high = low + FAILURE, high + FAILURE
        else:
            keep = math.exp(-max(event.time - last, 1.0) / FORGET_SECONDS)
            low, high = ((1 - keep) * event.rtt + keep * value for value in (low, high))
        low, high = min(low, MOST), min(high, MOST)
        last = event.time
    return low, high
