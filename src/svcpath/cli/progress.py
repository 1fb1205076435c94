"""What a long command is at, on stderr, so that stdout stays for results."""

from __future__ import annotations

import time
from collections.abc import Callable

import click


def progress() -> Callable[[str], None]:
    """Says lines with the seconds since now."""
    started = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - started:6.1f} s  {line}", err=True)

    return say
