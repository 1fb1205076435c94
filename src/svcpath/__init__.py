"""svcpath: proves, layer by layer, why a Kubernetes Service does not work, and whether a rollout drains.

The public names are those in ``__all__``; they are imported when first used, so that ``import svcpath`` costs little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svcpath.api import (
        DriftContract,
        Report,
        Request,
        ResolveReport,
        Source,
        TraceContract,
        bundle,
        cluster,
        diagnose,
        drift,
        files,
        frontends,
        recording,
        resolve,
        trace,
    )
    from svcpath.errors import EvidenceError, FormatError, SourceUnavailable, SvcpathError, UnknownTarget, UsageError

__all__ = [
    "DriftContract",
    "EvidenceError",
    "FormatError",
    "Report",
    "Request",
    "ResolveReport",
    "Source",
    "SourceUnavailable",
    "SvcpathError",
    "TraceContract",
    "UnknownTarget",
    "UsageError",
    "bundle",
    "cluster",
    "diagnose",
    "drift",
    "files",
    "frontends",
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
