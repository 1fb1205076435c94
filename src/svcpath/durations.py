"""Lengths of time as people write them: the one grammar of every option that takes one.

    duration = number | part { part }          30, 2.5, 500ms, 1m30s, 1h
    part     = number ( "ms" | "s" | "m" | "h" )
    number   = digits [ "." digits ] | "." digits

A plain number is seconds. The parts are Go's (time.ParseDuration), in any order, without its signs and without its units below a
millisecond. Fields whose source defines another language are read by that source's own rules and not by these: nft's (d, w;
models/dataplanes/nftables/tokens.py), sleep(1)'s (models/drain/commands.py), keep-alive options of servers
(models/drain/lint/fronts.py), the seconds of a Corefile.
"""

from __future__ import annotations

import math
import re

from svcpath.errors import UsageError

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PLAIN = re.compile(_NUMBER)
_PART = re.compile(rf"({_NUMBER})(ms|s|m|h)")
_PARTS = re.compile(rf"(?:{_NUMBER}(?:ms|s|m|h))+")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

DAY = 86_400.0
#: Ten years; nothing longer is meant.
LONGEST = 315_360_000.0


def seconds(text: str, *, least: float = 0.0, most: float = LONGEST) -> float:
    """Seconds of a duration from ``least`` to ``most``. Raises UsageError for any other text, "inf", "nan" and negative ones
    among them."""
    written = text.strip()
    if _PLAIN.fullmatch(written):
        found = float(written)
    elif _PARTS.fullmatch(written):
        found = math.fsum(float(number) * _UNIT[unit] for number, unit in _PART.findall(written))
    else:
        raise UsageError(f"{text!r} is no duration: write seconds as 30 or 2.5, or 500ms, 90s, 1m30s, 1h")
    if not least <= found <= most:
        raise UsageError(f"{text!r} is out of range: give {least:g} s to {most:.0f} s")
    return found
