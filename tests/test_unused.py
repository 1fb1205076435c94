"""Nothing is kept that nothing uses: every function, method, class, constant and enum member of both packages is named elsewhere in them.

By names alone: what shares its name with something in use is not found. A string that is a name counts as a use, since a few things
are looked up by theirs; ``__all__`` does not count.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted((*ROOT.glob("src/svcpath/**/*.py"), *ROOT.glob("lab/src/svcpath_lab/**/*.py")))
#: Decorators of things that their own name alone calls; any other hands a function to somebody who calls it.
PLAIN = {
    "property",
    "cached_property",
    "cache",
    "lru_cache",
    "staticmethod",
    "classmethod",
    "contextmanager",
    "dataclass",
}
#: What has a reason to be there without: called by its name from outside, made of its value, or what tests and tools alone call.
KEPT = {
    **dict.fromkeys(("do_GET", "do_POST", "log_message", "server_bind"), "http.server"),
    "RESTART": "made of its value",
    "json_schema": "tests/reports/write_schemas.py",
    "iptables_service_hash": "made inputs of tests/bench",
    "nftables_service_name": "made inputs of tests/bench",
    "semantics": "the table of docs/draining.md as data",
    "ipsets": "ipset's output as kube-proxy's IPVS mode fills it",
    "ipset_frontends": "ipset's output as kube-proxy's IPVS mode fills it",
    "recall": "InetAddress's cache",
    **dict.fromkeys(("make_metavar", "format_arguments"), "click"),
}


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name):
                yield name.rpartition(".")[2]
            case ast.keyword(arg=str(name)):
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from names
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text


def _exported(tree: ast.Module) -> Iterator[str]:
    """What ``__all__`` lists, and what the imports of a package's ``__init__`` pass on."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            yield from (str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))
            for passed in (part for part in tree.body if isinstance(part, ast.ImportFrom)):
                yield from (alias.name for alias in passed.names)


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _defined(body: list[ast.stmt], *, enum: bool = False, inside: bool = False) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if all(_decorator(decorator) in PLAIN for decorator in node.decorator_list):
                    yield name
            case ast.ClassDef(name=name):
                yield name
                members = any("Enum" in _decorator(base) or "Flag" in _decorator(base) for base in node.bases)
                yield from _defined(node.body, enum=members, inside=True)
            case ast.Assign(targets=[ast.Name(id=name)]) if enum or not inside:
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) if not inside:
                yield name


@functools.cache
def unused() -> dict[str, str]:
    """Each name that nothing uses, and the file that defines it."""
    used: Counter[str] = Counter()
    defined: dict[str, Path] = {}
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used.update(_names(tree))
        used.subtract(_exported(tree))
        defined.update((name, path) for name in _defined(tree.body) if not name.startswith("__"))
    return {name: str(path.relative_to(ROOT)) for name, path in defined.items() if used[name] <= 0}


def test_nothing_is_defined_that_nothing_uses() -> None:
    assert {name: path for name, path in unused().items() if name not in KEPT} == {}


def test_what_is_kept_without_a_use_is_there_and_has_none() -> None:
    assert KEPT.keys() <= unused().keys()
