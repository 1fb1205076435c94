"""Durations as a parser of options: an error names the option."""

from __future__ import annotations

from collections.abc import Callable

import click

from svcpath import durations
from svcpath.errors import UsageError


def seconds(text: str | float) -> float:
    """Seconds of an option (a default is seconds already). Raises click.BadParameter."""
    return at_least(0.0)(text)


def at_least(least: float) -> Callable[[str | float], float]:
    """The parser of an option that takes nothing shorter than ``least`` seconds."""

    def parse(text: str | float) -> float:
        if isinstance(text, float | int):
            return float(text)
        try:
            return durations.seconds(text, least=least)
        except UsageError as error:
            raise click.BadParameter(str(error)) from error

    return parse
