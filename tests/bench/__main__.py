"""Runs every benchmark of this folder (a module with ``run() -> dict``) and writes results/NAME.json.

``python -m tests.bench [NAME...]``
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path

import tests.bench

RESULTS = Path(__file__).parents[2] / "results"


def main(wanted: list[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    names = [module.name for module in pkgutil.iter_modules(tests.bench.__path__) if not module.name.startswith("_")]
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise SystemExit(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(names)}")
    for name in wanted or names:
        module = importlib.import_module(f"tests.bench.{name}")
        if not hasattr(module, "run"):
            continue
        text = json.dumps(module.run(), indent=1, sort_keys=True)
        (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
