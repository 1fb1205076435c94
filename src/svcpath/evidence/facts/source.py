"""The seam: whatever can meet Needs is a Source. Files, a bundle, a cluster and a recorder are Sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request

#: What is asked next, from what met the Needs before.
Then = Callable[[Sequence[tuple[Observation[Any], ...]]], Sequence[Need]]


class Source(Protocol):
    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        """Meet a batch of Needs.

        Returns, in the order of ``needs``, a non-empty tuple each: all present Observations, or a single absent or
        unreadable one. Never raises for a Need that can't be met; raises SourceUnavailable when nothing can be.
        """
        ...


@runtime_checkable
class Settling(Protocol):
    """A Source that knows more of what is meant than was said: the context's namespace, what a bundle was collected for."""

    def settled(self, request: Request) -> Request:
        """``request`` with that filled in where it says nothing.

        Raises SourceUnavailable where the source can show nothing at all.
        """
        ...


@runtime_checkable
class Confirming(Protocol):
    """A Source that knows all there is, and so what is not."""

    def confirm(self, request: Request) -> None:
        """Raises UnknownTarget for a client or container that ``request`` names and that is not there."""
        ...


@runtime_checkable
class Expecting(Protocol):
    """A Source that can begin to look before it is asked."""

    def expect(self, needs: Sequence[Need], then: Then | None = None) -> None:
        """Begin to meet ``needs``, which are going to be asked, and what ``then`` makes of them; returns at once.

        ``then`` is called on a thread of the Source's own, with what ``observe`` would give for ``needs``.
        """
        ...


def settled(source: Source, request: Request) -> Request:
    """``request`` as ``source`` understands it."""
    return source.settled(request) if isinstance(source, Settling) else request


def expect(source: Source, needs: Sequence[Need], then: Then | None = None) -> None:
    """Tell ``source`` what is going to be asked, if it can make use of it."""
    if isinstance(source, Expecting):
        source.expect(needs, then)


def confirm(source: Source, request: Request) -> None:
    """Raises UnknownTarget where ``source`` knows that what ``request`` names is not there."""
    if isinstance(source, Confirming):
        source.confirm(request)
