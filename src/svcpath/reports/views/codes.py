"""What the catalogue says about a code, for the forms that show it; a result saved by another release may have others."""

from __future__ import annotations

from typing import NamedTuple

from svcpath.errors import UnknownTarget
from svcpath.findings.catalogue import entry


class About(NamedTuple):
    title: str
    meaning: str
    help: str


def about(code: str) -> About:
    try:
        known = entry(code)
    except UnknownTarget:
        return About(code, "", "")
    return About(known.title, known.meaning, known.remedy)
