"""The catalogue and the code that speaks by it hold the same codes: none is dead, none is unknown."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import svcpath
from svcpath.findings.catalogue import catalogue

SOURCE = Path(svcpath.__file__).parent
_CODE = re.compile(r"SP\d{3}")


def _codes(path: Path) -> set[str]:
    """Codes that stand alone as a constant: what they say of each other stands in the catalogue."""
    text = path.read_text(encoding="utf-8")
    if not _CODE.search(text):
        return set()  # to read every file's syntax takes seconds
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str) and _CODE.fullmatch(value)}


def test_every_code_is_raised_somewhere_and_every_code_that_is_raised_is_explained() -> None:
    raised: dict[str, Path] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        raised |= dict.fromkeys(_codes(path), path)
    assert set(catalogue()) - set(raised) == set()
    assert set(raised) - set(catalogue()) == set()
