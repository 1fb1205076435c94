"""The entry point: quick for ``--version``, everything else imported late; errors become one line and an exit code."""

from __future__ import annotations

import sys

from svcpath import __version__


def main(arguments: list[str] | None = None) -> None:
    """Run svcpath with ``arguments`` (default: the process's own) and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in (["--version"], ["-V"]):
        print(f"svcpath {__version__}")  # noqa: T201
        sys.exit(0)
    import gc

    from svcpath.cli.app import run

    code = run(given)
    # The process ends: the interpreter need not look once more through all that was imported for what is garbage.
    gc.freeze()
    sys.exit(code)
