"""Every counter-world, from each file that registers some."""

from tests.walk.disproved import clients, tables
from tests.walk.disproved.objects import COUNTER, counter

__all__ = ["COUNTER", "clients", "counter", "tables"]
