"""``python -m svcpath``: the same as the ``svcpath`` command, for where only a library path is at hand."""

from __future__ import annotations

from svcpath.cli.main import main

main()
