"""All kinds of input, from every file that registers some."""

from tests.walk import (
    kinds_endpoints,
    kinds_evidence,
    kinds_names,
    kinds_paths,
    kinds_ports,
    kinds_service,
    kinds_tables,
)
from tests.walk.kinds import BROKEN, SOUND, Broken, Sound

__all__ = [
    "BROKEN",
    "SOUND",
    "Broken",
    "Sound",
    "kinds_endpoints",
    "kinds_evidence",
    "kinds_names",
    "kinds_paths",
    "kinds_ports",
    "kinds_service",
    "kinds_tables",
]
