"""The catalogue and the code that speaks by it hold the same codes: none is dead, none is unknown."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import svcpath
from svcpath.findings.catalogue import catalogue

SOURCE = Path(svcpath.__file__).parent
#: Files that name codes which others raise: of them only what they give to ``finding`` themselves counts.
REFERRING = {Path("walk/symptoms.py"), Path("walk/verdict.py")}


def _codes(path: Path) -> set[str]:
    """Codes that stand alone as a constant; those of ``explains=`` are another finding's."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    foreign = {
        id(inner)
        for call in calls
        for keyword in call.keywords
        if keyword.arg == "explains"
        for inner in ast.walk(keyword.value)
    }
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in foreign]
    if path.relative_to(SOURCE) in REFERRING:
        given = [call.args[0] for call in calls if call.args and getattr(call.func, "id", "") == "finding"]
        found = [node for node in given if isinstance(node, ast.Constant)]
    return {node.value for node in found if isinstance(node.value, str) and re.fullmatch(r"SP\d{3}", node.value)}


def test_every_code_is_raised_somewhere_and_every_code_that_is_raised_is_explained() -> None:
    raised: dict[str, Path] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        raised |= dict.fromkeys(_codes(path), path)
    assert set(catalogue()) - set(raised) == set()
    assert set(raised) - set(catalogue()) == set()
