"""A user's own faults for the score: a folder each, whole fault files or plain manifests with an expected verdict.

Plain manifests go into the scene's namespace, whatever namespace they name: its names are drawn at random. Where they hold
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
    ``target`` (``service``, ``from``, ``port``, ``lookup``, ``resolver``, or "svc/NAME"). Raises UsageError.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    found = []
    for subfolder in sorted(path for path in folder.iterdir() if path.is_dir()):
        whole = subfolder / "fault.yaml"
        fault = read(whole) if whole.is_file() else _of_manifests(subfolder)
        found.append(msgspec.structs.replace(fault, name=subfolder.name))
    if not found:
        raise UsageError(f"{folder}: no fault folders")
    return tuple(found)


def _of_manifests(folder: Path) -> Fault:
    expected = next((folder / name for name in _EXPECTED if (folder / name).is_file()), None)
    if expected is None:
        raise UsageError(f"{folder}: neither fault.yaml nor {' or '.join(_EXPECTED)}")
    stated = _read(expected)[0] if _read(expected) else {}
    manifests = [
        _placed(item)
        for path in sorted(path for pattern in _MANIFESTS for path in folder.glob(pattern))
        if path != expected
        for document in _read(path)
        for item in (document.get("items") or [] if document.get("kind") == "List" else [document])
        if item.get("kind") != "Namespace"
    ]
    plain = {
        "about": str(stated.get("about") or stated.get("why") or folder.name),
        "expect": _expect(stated),
        "target": _target(stated.get("target"), manifests),
        "steps": [{"apply": manifests}, {"settled": _PATIENCE}],
    }
    try:
        return msgspec.convert(plain, Fault)
    except msgspec.ValidationError as wrong:
        raise UsageError(f"{expected}: {wrong}") from wrong


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        documents = [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]
    except (yaml.YAMLError, UnicodeDecodeError) as wrong:
        raise UsageError(f"{path}: {wrong}") from wrong
    if not all(isinstance(document, dict) for document in documents):
        raise UsageError(f"{path}: a mapping is wanted")
    return documents


def _placed(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in (item.get("metadata") or {}).items() if name != "namespace"}
    return {**item, "metadata": metadata}


def _expect(expected: Mapping[str, Any]) -> dict[str, Any]:
    inner = next(
        (expected[name] for name in ("expect", "verdict") if isinstance(expected.get(name), Mapping)), expected
    )
    expect = {name: inner[name] for name in ("layer", "codes") if inner.get(name)}
    if inner.get("code") and "codes" not in expect:
        expect["codes"] = [inner["code"]]
    if "status" in inner:
        given = inner["status"]
        expect["status"] = _status(given) if isinstance(given, str) else [_status(status) for status in given]
    if isinstance(expect.get("layer"), str) and inner.get("cause_layer"):
        expect["layer"] = [expect["layer"], inner["cause_layer"]]
    return expect


def _status(word: Any) -> str:
    return _STATUS.get(str(word).lower(), str(word).lower())


def _target(given: Any, manifests: list[dict[str, Any]]) -> dict[str, Any]:
    target = {"service": given.rpartition("/")[2]} if isinstance(given, str) else dict(given or {})
    services = [manifest["metadata"]["name"] for manifest in manifests if manifest.get("kind") == "Service"]
    clients = [
        manifest["metadata"]["name"]
        for manifest in manifests
        if manifest.get("kind") == "Pod"
        and "client" in (manifest["metadata"]["name"], (manifest["metadata"].get("labels") or {}).get("app"))
    ]
    if len(services) == 1:
        target.setdefault("service", services[0])
    if len(clients) == 1:
        target.setdefault("from", clients[0])
    return target
