"""Shares as people read them."""

from __future__ import annotations

from fractions import Fraction


def percent(share: Fraction | float) -> str:
    """A share of 1: ``50 %``, ``33.3 %``, ``0.4 %``. One decimal, and more where only those tell a small share from none,
    or a large one from all."""
    value = float(share) * 100
    digits = 1
    while 0 < value < 100 and round(value, digits) in (0, 100):
        digits += 1
    return f"{f'{value:.{digits}f}'.rstrip('0').rstrip('.')} %"
