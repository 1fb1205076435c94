"""All kinds of input, from every file that registers some, in the order of the path: of kinds with the same code a test may
take the first."""

from tests.walk import kinds_ports

# isort: split
from tests.walk import kinds_endpoints

# isort: split
from tests.walk import kinds_service

# isort: split
from tests.walk import (
    kinds_aliases,
    kinds_clients,
    kinds_evidence,
    kinds_mistakes,
    kinds_names,
    kinds_paths,
    kinds_tables,
)
from tests.walk.kinds import BROKEN, SOUND, Broken, Sound

__all__ = [
    "BROKEN",
    "SOUND",
    "Broken",
    "Sound",
    "kinds_aliases",
    "kinds_clients",
    "kinds_endpoints",
    "kinds_evidence",
    "kinds_mistakes",
    "kinds_names",
    "kinds_paths",
    "kinds_ports",
    "kinds_service",
    "kinds_tables",
]
