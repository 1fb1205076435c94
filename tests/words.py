"""The words that svcpath does not use, each with the one that it uses: one word per thing, in the field's own English.

``python -m tests.words [PATH...]`` prints every place where one of them stands.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Word(NamedTuple):
    """``pattern`` is matched against every line of text; ``instead`` is what is said."""

    pattern: re.Pattern[str]
    instead: str


def _word(pattern: str, instead: str) -> Word:
    return Word(re.compile(pattern), instead)


#: Anywhere: code, text, flags, contracts, docs, names of files.
WORDS = (
    _word(r"(?<![a-z])[Mm]end(s|ed|ing)?\b", "fix, fixes, fixed"),
    _word(r"(?i)prove(s)? it wrong|printing a line", "to disprove: COMMAND"),
    _word(r"(?i)falsif", "disproof"),
    _word(r"\b_?[Ss]tandings?\b", "confidence"),
    _word(r"(?i)findings rest on\b", "evidence collected"),
    _word(r"(?i)changed lately", "recent changes"),
    _word(r"(?i)\bthey part\b|\bpart(s)? at candidate|\bpart ways\b", "resolvers diverge at"),
    _word(r"(?i)\bhang(s)? on\b", "depends on"),
    _word(r"(?i)not[ _-]tested", "not looked at"),
    _word(r"(?i)\black(s|ed|ing)?\b", "is missing, is not installed"),
    _word(r"(?i)for all looks together", "overall timeout"),
    _word(r"(?i)slice and data plane\b", "endpoint propagation"),
    _word(r"(?i)\bstop[ -]signal\b", "SIGTERM (or the image's STOPSIGNAL)"),
    _word(r"(?i)\borderly\b", "graceful"),
    _word(r"(?i)\bclock of one\b", "shutdown timeline"),
    _word(r"(?i)of no known kind", "unrecognized file"),
    _word(r"(?i)(?<!as[-_])as[-_]user\b|as_name\b", "--as (impersonation), --lookup"),
    _word(r"(?i)counter[- _]?world", "disproving fixture"),
    _word(r"(?i)\btwins?\b", "fixed variant"),
    _word(r"(?i)\bby lot\b", "random sample"),
    _word(r"(?i)\banew\b", "again, recreated"),
    _word(r"(?i)\b(un)?told\b", "reported"),
    _word(r"(?i)(?<!app=)\bnobody\b", "nothing, no one"),
    _word(r"(?i)\bfor ever\b", "forever"),
    _word(r"\b(widths|starved|unasked|cautious|weighed|doubted)\.py\b", "a name that says what the module is about"),
)
#: Names that say nothing of the thing they stand for.
SHAPELESS = frozenset({"one", "each", "held", "said", "told"})
_TEXT = {".py", ".md", ".yaml", ".toml", ".js", ".css", ".html", ".sh", ".svg"}
#: What is quoted from elsewhere keeps its own words.
_QUOTED = (
    "tests/words.py", "tests/test_words.py", "tests/data/", "tests/cases/public/", "CHANGELOG.md", "src/svcpath/reports/schemas/",
    "src/svcpath/evidence/formats/earlier.py", "tests/reports/test_old_results.py",
)  # fmt: skip


class Place(NamedTuple):
    path: str
    line: int
    text: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text.strip()[:120]}  (here: {self.instead})"


def files(*below: str) -> Iterator[Path]:
    """The project's own text below the given paths, by default all of it."""
    for start in below or ("src", "tests", "docs", "deploy", "lab", *(path.name for path in ROOT.glob("*.md"))):
        place = ROOT / start
        for path in sorted(place.rglob("*")) if place.is_dir() else [place] if place.is_file() else []:
            relative = path.relative_to(ROOT).as_posix()
            if path.suffix in _TEXT and "__pycache__" not in relative and not relative.startswith(_QUOTED):
                yield path


def old_words(path: Path) -> Iterator[Place]:
    """Places of words that are not used, the file's own name among them (line 0)."""
    relative = path.relative_to(ROOT).as_posix()
    for number, line in enumerate((path.name, *path.read_text(encoding="utf-8").splitlines())):
        for word in WORDS:
            if word.pattern.search(line):
                yield Place(relative, number, line, word.instead)


def shapeless(path: Path) -> Iterator[Place]:
    """Variables, parameters and fields whose name says nothing of what they hold."""
    relative = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
        name = node.arg if isinstance(node, ast.arg) else name
        if name in SHAPELESS:
            yield Place(relative, getattr(node, "lineno", 0), name, "the noun of what it is")


def places(*below: str) -> Iterator[Place]:
    for path in files(*below):
        yield from old_words(path)
        if path.suffix == ".py":
            yield from shapeless(path)


if __name__ == "__main__":
    for place in places(*sys.argv[1:]):
        sys.stdout.write(f"{place}\n")
