"""Selectors in words."""

from __future__ import annotations

from collections.abc import Mapping


def as_text(selector: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in selector.items())
