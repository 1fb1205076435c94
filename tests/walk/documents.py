"""The API objects of a file: YAML documents, JSON, or the lines of a watch with each object as it was last seen."""

from __future__ import annotations

import json
from typing import Any

import yaml


def documents(name: str, text: str) -> list[dict[str, Any]]:
    if not name.endswith(".json"):
        return [one for one in yaml.safe_load_all(text) if one]
    found: list[dict[str, Any]] = []
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        one, at = decoder.raw_decode(text, at)
        found.append(one)
        at += len(text[at:]) - len(text[at:].lstrip())
    if all("object" in one and "type" in one for one in found):
        return _last_seen(found)
    return found


def _last_seen(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    alive: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in changes:
        of = one["object"]
        key = (of["kind"], of["metadata"].get("namespace", ""), of["metadata"]["name"])
        if one["type"] == "DELETED":
            alive.pop(key, None)
        else:
            alive[key] = of
    return list(alive.values())
