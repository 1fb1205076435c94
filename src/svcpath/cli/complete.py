"""Completion for kubectl: kubectl runs ``kubectl_complete-svcpath`` with the words so far, the last one unfinished.

The form of the answer is kubectl's own (k8s.io/kubectl/pkg/cmd/plugin_completion.go): a candidate a line, then a line
with a colon and the directive, 4 for "no file names".
"""

from __future__ import annotations

import os
import sys

_NO_FILES = 4


def main() -> None:
    """Answer kubectl with the shell completion that the command tree has for bash."""
    words = sys.argv[1:] or [""]
    os.environ["_SVCPATH_COMPLETE"] = "complete_bash"
    # Bash's variables: the line so far and the number of the word that is being written.
    os.environ["COMP_WORDS"] = " ".join(["svcpath", *words])
    os.environ["COMP_CWORD"] = str(len(words))
    from svcpath.cli.app import tree
    from svcpath.errors import UsageError

    try:
        tree(words)(prog_name="svcpath")
    except (SystemExit, UsageError):
        sys.stdout.write(f":{_NO_FILES}\n")
        sys.stdout.flush()
    sys.exit(0)
