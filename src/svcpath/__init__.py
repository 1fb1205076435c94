"""svcpath: proves, layer by layer, why a Kubernetes Service does not work, and whether a rollout drains.

The public names are those in ``__all__``; they are imported when first used, so that ``import svcpath`` costs little.
"""

from __future__ import annotations

#: Type checkers know this name and read the block below; importing it from typing would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from svcpath.api import (
        BudgetContract,
        DriftContract,
        LayerResult,
        Report,
        Request,
        ResolveReport,
        Source,
        TraceContract,
        budget,
        bundle,
        cluster,
        diagnose,
        drift,
        files,
        frontends,
        manifests,
        recording,
        resolve,
        trace,
    )
    from svcpath.errors import EvidenceError, FormatError, SourceUnavailable, SvcpathError, UnknownTarget, UsageError

#: Kept here, beside the one in pyproject.toml, because reading it from the installed metadata takes longer than Python's
#: own start. A test holds the two equal.
__version__ = "0.1.0"

__all__ = [
    "BudgetContract",
    "DriftContract",
    "EvidenceError",
    "FormatError",
    "LayerResult",
    "Report",
    "Request",
    "ResolveReport",
    "Source",
    "SourceUnavailable",
    "SvcpathError",
    "TraceContract",
    "UnknownTarget",
    "UsageError",
    "budget",
    "bundle",
    "cluster",
    "diagnose",
    "drift",
    "files",
    "frontends",
    "manifests",
    "recording",
    "resolve",
    "trace",
]

_ERRORS = ("EvidenceError", "FormatError", "SourceUnavailable", "SvcpathError", "UnknownTarget", "UsageError")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'svcpath' has no attribute {name!r}")
    import importlib

    home = importlib.import_module("svcpath.errors" if name in _ERRORS else "svcpath.api")
    return getattr(home, name)


def __dir__() -> list[str]:
    return __all__
