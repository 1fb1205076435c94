"""Addresses as the formats read them: each in its one text form."""

from __future__ import annotations

import functools
import ipaddress
import re

_NUMBER = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#: Four numbers up to 255 without a leading zero: such an address is in its one form already.
_PLAIN = re.compile(rf"(?:{_NUMBER}\.){{3}}{_NUMBER}")


@functools.lru_cache(maxsize=65536)
def address_of(text: str) -> str:
    """An address in its one form; "" for what is none."""
    if _PLAIN.fullmatch(text):
        return text
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""
