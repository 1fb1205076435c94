"""Every counter-world, from each file that registers some."""

from tests.walk import counter_clients, counter_tables
from tests.walk.counter import COUNTER, counter

__all__ = ["COUNTER", "counter", "counter_clients", "counter_tables"]
