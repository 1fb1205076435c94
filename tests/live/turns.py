"""Which of many things a run tries where there is no time for all: the part turns with the date, so that some days try each.

SVCPATH_FAULT_SEED=YYYYMMDD repeats a day's.
"""

from __future__ import annotations

import datetime
import os
import random

SEED = int(os.environ.get("SVCPATH_FAULT_SEED") or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d"))


def turn(names: list[str], count: int, share: float = 0.0) -> list[str]:
    """``count`` of the names from where the day's turn begins, in an order that mixes the layers. ``share`` of all lies
    between the turns of two runs of the same day."""
    mixed = sorted(names)
    random.Random("faults").shuffle(mixed)
    day = datetime.datetime.strptime(str(SEED), "%Y%m%d").date().toordinal()
    first = (day * count + int(share * len(mixed))) % len(mixed)
    return [mixed[(first + step) % len(mixed)] for step in range(min(count, len(mixed)))]
