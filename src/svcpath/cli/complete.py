"""Completion for kubectl: kubectl runs ``kubectl_complete-svcpath`` with the words so far, the last one unfinished.

The form of the answer is kubectl's own (k8s.io/kubectl/pkg/cmd/plugin_completion.go): a candidate a line, then a line
with a colon and the directive, 0 for names of files, 4 for none.
"""

from __future__ import annotations

import sys

_FILES, _NO_FILES = 0, 4


def main() -> None:
    """Answer kubectl with the candidates that the command tree has."""
    from click.shell_completion import ShellComplete

    from svcpath.cli.app import tree
    from svcpath.cli.completion import VARIABLE
    from svcpath.errors import UsageError

    words = sys.argv[1:] or [""]
    try:
        found = ShellComplete(tree(words), {}, "svcpath", VARIABLE).get_completions(words[:-1], words[-1])
    except UsageError:  # a command of another distribution, which is not installed
        found = []
    for item in found:
        if item.type == "plain":
            sys.stdout.write(f"{item.value}\n")
    sys.stdout.write(f":{_FILES if any(item.type == 'file' for item in found) else _NO_FILES}\n")
    sys.stdout.flush()
    sys.exit(0)
