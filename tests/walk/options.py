"""What a diagnosis is asked beside its target, typed, so that a test's misspelt option is found before it runs."""

from __future__ import annotations

from typing import TypedDict


class Options(TypedDict, total=False):
    """The keywords of ``svcpath.api.diagnose`` that kinds and recordings set."""

    namespace: str
    port: str
    client: str
    as_name: str
    resolver: str
    symptom: str


class Asked(Options, total=False):
    """A whole request: the options with their target."""

    target: str
