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


def written(share: str) -> Fraction | None:
    """A share as contracts write it, ``1/3``; None for any other text."""
    above, _, below = share.partition("/")
    if not (above.isdecimal() and below.isdecimal() and int(below)):
        return None
    return Fraction(int(above), int(below))


def percent_of(share: str) -> str:
    """``33.3 %`` of a contract's ``1/3``; other text stays as it is."""
    value = written(share)
    return share if value is None else percent(value)
