"""Every world in which a finding is wrong, from each file that registers some."""

from tests.walk.disproved import clients, objects, tables
from tests.walk.disproved.worlds import WHERE_WRONG, where_wrong

__all__ = ["WHERE_WRONG", "clients", "objects", "tables", "where_wrong"]
