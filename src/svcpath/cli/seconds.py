"""Lengths of time on the command line: a number of seconds, or a duration as Go and Kubernetes write it (500ms, 30s, 1m30s)."""

from __future__ import annotations

import math
import re

import typer

_PARTS = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|s|m|h)")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
#: Ten years; nothing longer is meant.
_MOST = 315_360_000.0


def seconds(text: str | float) -> float:
    """Seconds of an option. Raises typer.BadParameter."""
    if isinstance(text, float | int):
        return float(text)
    found = _plain(text) if re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", text) else _duration(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no time: give seconds, or a duration as 500ms, 30s, 1m30s")
    if found < 0 or found > _MOST or not math.isfinite(found):
        raise typer.BadParameter(f"{text!r} is not in the range of 0 to {_MOST:.0f} s")
    return found


def _plain(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _duration(text: str) -> float | None:
    parts = _PARTS.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNIT[unit] for number, unit in parts)
