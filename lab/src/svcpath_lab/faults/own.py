"""A user's own faults for the score: a folder each, whole fault files or plain manifests with an expected verdict.

Plain manifests go into the scene's namespace, whatever namespace they name: its names are drawn by lot. Where they hold
one Service, that is the target; a Pod named "client" or labelled app=client is where the connection comes from, else the
scene's own client.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from svcpath.errors import UsageError
from svcpath_lab.faults.fault import Fault, read

_EXPECTED = ("expected.yaml", "expected.yml", "expected.json")
_MANIFESTS = ("*.yaml", "*.yml", "*.json")
#: Other words for the status of a verdict.
_STATUS = {"ok": "healthy", "pass": "healthy", "warn": "warning", "fail": "fault", "undecided": "inconclusive"}
#: Seconds for the Pods of plain manifests to become ready, or plainly not.
_PATIENCE = 90


def in_folder(folder: Path) -> tuple[Fault, ...]:
    """FOLDER/NAME/fault.yaml in the form of fault.py, or FOLDER/NAME/ with manifests and an expected.yaml or .json.

    That holds ``status``, ``layer`` and ``codes`` (or ``code``), also inside ``expect`` or ``verdict``, and where needed
    ``target`` (``service``, ``from``, ``port``, ``as``, ``resolver``, or "svc/NAME"). Raises UsageError.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    found = []
    for each in sorted(path for path in folder.iterdir() if path.is_dir()):
        whole = each / "fault.yaml"
        fault = read(whole) if whole.is_file() else _of_manifests(each)
        found.append(msgspec.structs.replace(fault, name=each.name))
    if not found:
        raise UsageError(f"{folder}: no fault folders")
    return tuple(found)


def _of_manifests(folder: Path) -> Fault:
    expected = next((folder / name for name in _EXPECTED if (folder / name).is_file()), None)
    if expected is None:
        raise UsageError(f"{folder}: neither fault.yaml nor {' or '.join(_EXPECTED)}")
    told = _read(expected)[0] if _read(expected) else {}
    manifests = [
        _placed(item)
        for path in sorted(path for pattern in _MANIFESTS for path in folder.glob(pattern))
        if path != expected
        for document in _read(path)
        for item in (document.get("items") or [] if document.get("kind") == "List" else [document])
        if item.get("kind") != "Namespace"
    ]
    plain = {
        "about": str(told.get("about") or told.get("why") or folder.name),
        "expect": _expect(told),
        "target": _target(told.get("target"), manifests),
        "steps": [{"apply": manifests}, {"settled": _PATIENCE}],
    }
    try:
        return msgspec.convert(plain, Fault)
    except msgspec.ValidationError as wrong:
        raise UsageError(f"{expected}: {wrong}") from wrong


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        documents = [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]
    except (yaml.YAMLError, UnicodeDecodeError) as wrong:
        raise UsageError(f"{path}: {wrong}") from wrong
    if not all(isinstance(each, dict) for each in documents):
        raise UsageError(f"{path}: a mapping is wanted")
    return documents


def _placed(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in (item.get("metadata") or {}).items() if name != "namespace"}
    return {**item, "metadata": metadata}


def _expect(told: Mapping[str, Any]) -> dict[str, Any]:
    inner = next((told[name] for name in ("expect", "verdict") if isinstance(told.get(name), Mapping)), told)
    expect = {name: inner[name] for name in ("layer", "codes") if inner.get(name)}
    if inner.get("code") and "codes" not in expect:
        expect["codes"] = [inner["code"]]
    if "status" in inner:
        given = inner["status"]
        expect["status"] = _status(given) if isinstance(given, str) else [_status(each) for each in given]
    if isinstance(expect.get("layer"), str) and inner.get("cause_layer"):
        expect["layer"] = [expect["layer"], inner["cause_layer"]]
    return expect


def _status(word: Any) -> str:
    return _STATUS.get(str(word).lower(), str(word).lower())


def _target(told: Any, manifests: list[dict[str, Any]]) -> dict[str, Any]:
    target = {"service": told.rpartition("/")[2]} if isinstance(told, str) else dict(told or {})
    services = [each["metadata"]["name"] for each in manifests if each.get("kind") == "Service"]
    clients = [
        each["metadata"]["name"]
        for each in manifests
        if each.get("kind") == "Pod"
        and "client" in (each["metadata"]["name"], (each["metadata"].get("labels") or {}).get("app"))
    ]
    if len(services) == 1:
        target.setdefault("service", services[0])
    if len(clients) == 1:
        target.setdefault("from", clients[0])
    return target
