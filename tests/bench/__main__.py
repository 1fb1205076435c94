"""`python -m tests.bench [NAME...]`: every measurement, each to results/bench-NAME.json with the machine's facts."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import tests.bench as package


def main(names: list[str]) -> None:
    found = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_"))
    unknown = sorted(set(names) - set(found))
    if unknown:
        raise SystemExit(f"no measurement is called {', '.join(unknown)}; there are: {', '.join(found)}")
    for name in names or found:
        importlib.import_module(f"tests.bench.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
