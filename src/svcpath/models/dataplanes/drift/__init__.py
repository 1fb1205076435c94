"""Drift: a node's table against what the Services and slices ask of it, both ways.

A difference is named by what it does to a new connection. Where lines that could matter were not understood, or the
dump is not whole, the answer is undecided and never "no drift". What a row means by *late*, *stuck* and *altered* is
in ``times``; nothing here reads a clock.

``compare`` runs it. ``difference`` says what a difference is; ``samples`` with which packets it is looked for;
``frontend`` compares one frontend and ``outcome`` one packet of it; ``plain`` has what is right for dialects without
rules; ``unexpected_entries`` is the other way, from the table to the Services; ``auxiliary`` the rules that lead to no backend;
``coverage`` what the dump shows at all; ``dating`` how old a difference is.
"""

from svcpath.models.dataplanes.drift.compare import drift
from svcpath.models.dataplanes.drift.dating import SliceIndex
from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind, DriftReport
from svcpath.models.dataplanes.drift.samples import some_pod

__all__ = ["Difference", "DifferenceKind", "DriftReport", "SliceIndex", "drift", "some_pod"]
