"""Which columns does a listing of ipvsadm have? Its switches change them, and not all of them tell a server's weight.

ipvsadm.c (print_title, print_service_entry) of ipvsadm 1.27 to 1.31: plain, --stats, --rate, --thresholds and
--persistent-conn. A listing that leaves out the weights cannot tell a server that takes new connections from one that
only keeps its old ones.
"""

from __future__ import annotations

import enum


class Columns(enum.Enum):
    """The title of a listing, by the words that no other has."""

    PLAIN = "Forward Weight"
    PERSISTENT = "Weight PersistConn"
    THRESHOLDS = "Uthreshold Lthreshold"
    STATS = "Conns InPkts"
    RATE = "CPS InPPS"

    @property
    def switch(self) -> str:
        return _SWITCHES[self]

    @property
    def weighs(self) -> bool:
        """Does it say how many of the new connections a server gets?"""
        return self in (Columns.PLAIN, Columns.PERSISTENT)

    @property
    def schedules(self) -> bool:
        """Do the lines of virtual servers name the scheduler and the persistence?"""
        return self not in (Columns.STATS, Columns.RATE)


_SWITCHES = {
    Columns.PLAIN: "",
    Columns.PERSISTENT: "--persistent-conn",
    Columns.THRESHOLDS: "--thresholds",
    Columns.STATS: "--stats",
    Columns.RATE: "--rate",
}


def columns_of(title: str) -> Columns | None:
    """Of a line of the title; None for the version line and for the half of a title that names no columns."""
    words = " ".join(title.split())
    return next((kind for kind in Columns if kind.value in words), None)
