"""Lays evidence out as a world that the fake tools show."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.walk import fake_tools
from tests.walk.documents import documents


def install(folder: Path, files: Mapping[str, bytes]) -> dict[str, str]:
    """Lay ``files`` (evidence) out under ``folder`` with the tools in a bin folder; returns the environment to run in."""
    (folder / "node").mkdir(parents=True)
    (folder / "pods").mkdir()
    (folder / "bin").mkdir()
    found: list[dict[str, Any]] = []
    for path, raw in files.items():
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
        name = path.removesuffix(".gz")
        if re.search(r"(?m)^ *\"?(apiVersion|kind)\"?:", text) and not name.endswith((".txt", ".log")):
            for document in documents(name, text):
                found.extend(document.get("items", [document]))
        else:
            (folder / "node" / name.replace("/", "_")).write_text(text)
    if not any(one["kind"] == "Pod" for one in found):
        found.extend(_told_by_slices(found))
    names = [one["metadata"]["name"] for one in found if one["kind"] == "Pod"]
    names += [
        each["targetRef"]["name"]
        for one in found
        if one["kind"] == "EndpointSlice"
        for each in one.get("endpoints") or ()
        if each.get("targetRef")
    ]
    for pod in dict.fromkeys(names):
        if re.fullmatch(r"[\w.-]+", pod):
            _sockets(folder, pod, only=len(set(names)) == 1)
    (folder / "objects.json").write_text(json.dumps(found, default=str))
    for tool in fake_tools.TOOLS:
        script = folder / "bin" / tool
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(fake_tools.__file__).resolve()} {tool} "$@"\n')
        script.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "WORLD": str(folder), "LC_ALL": "C.UTF-8"}


def _told_by_slices(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Evidence without any Pod: the cluster had those that its slices name."""
    pods = {}
    for one in found:
        for each in (one.get("endpoints") or ()) if one["kind"] == "EndpointSlice" else ():
            name = (each.get("targetRef") or {}).get("name")
            if name:
                ready = each.get("conditions", {}).get("ready", True)
                pods[name] = {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": name, "namespace": one["metadata"].get("namespace", "default")},
                    "spec": {"containers": [{"name": "main"}], "nodeName": each.get("nodeName", "")},
                    "status": {
                        "phase": "Running",
                        "podIP": each["addresses"][0],
                        "containerStatuses": [{"name": "main", "ready": ready}],
                    },
                }
    return list(pods.values())


def _sockets(folder: Path, pod: str, *, only: bool) -> None:
    own = folder / "pods" / pod
    own.mkdir()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for path in (folder / "node").iterdir():
            if path.name in (f"{pod}.proc-net-{table}.txt", f"proc-net-{table}.txt" if only else ""):
                (own / f"proc-net-{table}").write_text(path.read_text())
        if not (own / f"proc-net-{table}").exists():
            (own / f"proc-net-{table}").write_text("  sl  local_address\n")
