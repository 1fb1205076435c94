"""The programs that are run inside containers, one a file, each in the language that its ending says.

Here they can be read and linted (tests/evidence/live/test_script_files.py). What leaves for a container is the file without
the comments at its head, so a script explains itself at no cost for the exec.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import dropwhile

#: How a line of a file's head begins: a comment, or PHP's opening tag, which `php -r` takes none of.
_HEAD = ("#", "//", "<?php")


@cache
def text(name: str, package: str = __name__) -> str:
    """The file below its head, line by line as it stands. Drain and lab have scripts in packages of their own."""
    lines = resources.files(package).joinpath(name).read_text("utf-8").split("\n")
    return "\n".join(dropwhile(lambda line: line.startswith(_HEAD), lines))


@cache
def one_line(name: str, package: str = __name__) -> str:
    """The same on one line, to be put into other shell text: lines and their indentation are for readers alone.

    A shell script's lines are joined by a space, so each ends as a command does (``;``, ``do``, ``then``, ``&``).
    """
    between = " " if name.endswith(".sh") else ""
    return between.join(line.strip() for line in text(name, package).split("\n") if line.strip())
