"""The sampler's parts as one file, since one file can be piped into any container."""

from __future__ import annotations

import importlib.resources
import re
import sys

_PARTS = ("rows.py", "gets.py", "kept.py", "main.py")
_FUTURE = "from __future__ import annotations\n"
_OWN = re.compile(r"^from svcpath\.drain\.sampler\.\w+ import (?:\([^)]*\)|[^(\n]*)\n", re.M)


def text() -> str:
    """One file of standard-library Python: every part below the other, without what they import of each other."""
    room = importlib.resources.files("svcpath.drain.sampler")
    parts = [_OWN.sub("", room.joinpath(name).read_text().replace(_FUTURE, "")) for name in _PARTS]
    return "\n".join((room.joinpath("__init__.py").read_text(), _FUTURE, *parts))


if __name__ == "__main__":
    sys.stdout.write(text())
