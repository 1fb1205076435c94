"""The preStop seconds and grace period with which a drain would hold, as a patch for the workload.

The API's own kinds take a strategic merge patch. Kinds of a CRD do not: a merge there replaces the whole list of containers,
so theirs is a JSON patch (RFC 6902).

What is not known is assumed, and said: ten seconds of propagation, the rest at what the evidence tells at least. The
suggestion keeps two seconds to spare on every margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from svcpath.models.drain.clock import OnSignal
from svcpath.models.drain.subject import Field, Subject
from svcpath.models.drain.terms import LONGEST, PROPAGATION, REMOVAL, SHUTDOWN, Term

#: Propagation that is assumed where it is not known: most clusters need well under a second, few more than ten.
ASSUMED_PROPAGATION = 10.0
SPARE = 2
#: The handler that a sleep action replaces, by the hook's spelling.
_HANDLERS = {"exec sleep": "exec", "exec": "exec", "httpGet": "httpGet", "tcpSocket": "tcpSocket"}


class Patch(msgspec.Struct, frozen=True):
    """``hooks`` are preStop seconds by container. ``assumptions`` name the unknown terms and what was put for them."""

    grace: int
    hooks: tuple[tuple[str, int], ...]
    assumptions: tuple[str, ...]
    text: str


def suggest(subject: Subject, terms: Sequence[Term], on_signal: OnSignal | None) -> Patch | None:
    """A patch that would hold; None when none of hooks on the path and grace period could help: the signal is ignored, or the
    hook of a container beside the path never ends."""
    if on_signal is OnSignal.IGNORE or not subject.on_path or subject.knative:
        return None
    values = {term.name: term.low for term in terms}
    assumptions: list[str] = []
    for term in terms:
        if term.known:
            continue
        if term.name == PROPAGATION:
            values[PROPAGATION] = max(term.low, ASSUMED_PROPAGATION)
        assumptions.append(f"{term.name} {values[term.name]:g} s")
    drained = values[REMOVAL] + values[PROPAGATION]
    last_request = drained + values[LONGEST]
    needed = drained if on_signal is OnSignal.FINISH else last_request
    seconds = math.ceil(needed) + SPARE
    hooks = tuple(
        (container.name, seconds)
        for container in subject.on_path
        if not (container.hook.known and container.hook.stop is None and needed < container.hook.low < math.inf)
    )
    kept = [container.hook.low for container in subject.containers if container.name not in dict(hooks)]
    if any(math.isinf(length) for length in kept):
        return None
    latest = max([*(length for _, length in hooks), *kept, last_request])
    grace = max(math.ceil(latest + values[SHUTDOWN]) + SPARE, subject.grace)
    if grace == subject.grace and not hooks:
        return None
    text = _operations if subject.foreign else _text
    return Patch(grace, hooks, tuple(assumptions), text(subject, grace, hooks))


def _text(subject: Subject, grace: int, hooks: Sequence[tuple[str, int]]) -> str:
    """A strategic merge patch in YAML."""
    lines = [*subject.template]
    spellings = {container.name: container.hook.spelling for container in subject.ordinary}
    text = []
    for depth, step in enumerate(lines):
        text.append("  " * depth + f"{step}:")
    indent = "  " * len(lines)
    text.append(f"{indent}terminationGracePeriodSeconds: {grace}")
    if hooks:
        text.append(f"{indent}containers:")
        for name, seconds in hooks:
            text.append(f"{indent}- name: {name}")
            text.append(f"{indent}  lifecycle:")
            text.append(f"{indent}    preStop:")
            replaced = _HANDLERS.get(spellings[name])
            if replaced:
                text.append(f"{indent}      {replaced}: null  # keep what it does besides waiting")
            text.append(f"{indent}      sleep: {{seconds: {seconds}}}")
    return "\n".join(text)


def _operations(subject: Subject, grace: int, hooks: Sequence[tuple[str, int]]) -> str:
    """A JSON patch in YAML."""
    text = _operation(subject.grace_field, str(grace))
    for name, seconds in hooks:
        container = next(candidate for candidate in subject.ordinary if candidate.name == name)
        wait = f"{{sleep: {{seconds: {seconds}}}}}"
        keep = "  # keep what it does besides waiting" if container.hook.spelling in _HANDLERS else ""
        if container.has_lifecycle:
            text += _operation(container.hook_field, wait + keep)
        else:
            text += _operation(container.hook_field[:-1], f"{{preStop: {wait}}}")
    return "\n".join(text)


def _operation(field: Field, value: str) -> list[str]:
    return ["- op: add", f"  path: /{'/'.join(str(step) for step in field)}", f"  value: {value}"]
