"""Worlds in which a finding is wrong: the same names and addresses, and what its disproof looks for is there.

Each entry edits objects and files in the one way that makes the hypothesis of its code false. Such a world is not always the
fixed one (a Service's selector may be corrected, or the Pods labelled), since a disproof speaks of the names it was printed
with.
"""

from __future__ import annotations

import copy
import gzip
from collections.abc import Callable, Mapping

from svcpath.reports import records
from svcpath.reports.records import Report
from tests.fixtures.cluster import Cluster
from tests.fixtures.documents import documents

World = Cluster


def world(files: Mapping[str, bytes]) -> World:
    """Evidence as a Cluster: every API object in one list, everything else as text."""
    made = Cluster()
    for path, raw in files.items():
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
        name = path.removesuffix(".gz")
        if name.endswith((".yaml", ".json")) and "kind" in text and '"nftables"' not in text:
            for document in documents(name, text):
                made.objects.extend(document.get("items", [document]))
        else:
            made.files[name] = text
    return made


Edit = Callable[[World, records.Finding, dict[str, str]], None]
WHERE_WRONG: dict[str, Edit] = {}


def edit(*codes: str) -> Callable[[Edit], Edit]:
    def register(change: Edit) -> Edit:
        WHERE_WRONG.update(dict.fromkeys(codes, change))
        return change

    return register


def where_wrong(files: Mapping[str, bytes], finding: records.Finding, report: Report) -> World:
    made = copy.deepcopy(world(files))
    command = finding.hypotheses[0].disproof
    words = {"service": report.target.service, "namespace": report.target.namespace, "command": command}
    WHERE_WRONG[finding.code](made, finding, words)
    return made
