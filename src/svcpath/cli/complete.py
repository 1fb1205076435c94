"""Completion for kubectl: kubectl runs ``kubectl_complete-svcpath`` with the words so far, the last one unfinished.

The form of the answer is kubectl's own (k8s.io/kubectl/pkg/cmd/plugin_completion.go): a candidate a line, then a line
with a colon and the directive, 4 for "no file names".
"""

from __future__ import annotations

import sys

_NO_FILES = 4


def main() -> int:
    import typer.main

    from svcpath.cli.app import app

    words = sys.argv[1:] or [""]
    from click.shell_completion import ShellComplete

    found = ShellComplete(typer.main.get_command(app), {}, "svcpath", "_SVCPATH_COMPLETE").get_completions(
        words[:-1], words[-1]
    )
    for one in found:
        sys.stdout.write(f"{one.value}\n")
    sys.stdout.write(f":{_NO_FILES}\n")
    return 0
