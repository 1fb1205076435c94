"""Run by the interpreter with one commit's sources on its path: diagnoses inputs of a folder, a JSON line each.

    python runner.py FOLDER NAME... >OUT

Only what every commit has is used: ``svcpath.diagnose`` and the sources. An input is a folder with ``ask.json`` (the keyword
arguments of diagnose) and ``evidence/``; where ``ask.json`` says ``"bundle": true`` the walk's log is written to a bundle by
this very commit, and the bundle is diagnosed. What lies in evidence/ as a bundle's lines is read beside the files.
What an older commit calls by another name is in ``earlier_names.json``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

import svcpath
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.formats import bundles as lines
from svcpath.evidence.sources import bundle as bundles
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recording import RecordingSource

#: Files of a bundle that a case may hold beside plain files.
BUNDLE_LINES = ("observations.jsonl", "needs.jsonl")
#: Names of options, fields and statuses -> what they are called in a commit that does not have them.
EARLIER = json.loads(Path(__file__).with_name("earlier_names.json").read_text())
#: Seconds for one input; one that takes longer ends in an error, on both sides or as a difference.
LIMIT = 60


def _source(files: dict[str, bytes]) -> Any:
    plain = BytesSource({path: data for path, data in files.items() if path not in BUNDLE_LINES})
    bundle_lines = {name: _in_words_of_this_commit(files[name]) for name in BUNDLE_LINES if name in files}
    if not bundle_lines:
        return plain
    members = {name: lines.Member(len(data), hashlib.sha256(data).hexdigest()) for name, data in bundle_lines.items()}
    manifest = lines.Manifest(svcpath="0", kubernetes="", created="", members=members)
    packed = {lines.MANIFEST: msgspec.json.encode(manifest), **bundle_lines}
    return bundles.JoinedSource([bundles.BundleSource(lines.unpack(packed)), plain])


def _in_words_of_this_commit(data: bytes) -> bytes:
    """An Observation that was not made once had its reason as a text alone."""
    if "why" in {field.name for field in dataclasses.fields(Observation)}:
        return data
    rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    for row in rows:
        if "why" in row:
            row["reason"] = row.pop("why")
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _field(record: Any, name: str) -> Any:
    return getattr(record, name if hasattr(record, name) else EARLIER[name])


def _status(status: str) -> str:
    return next((name for name, earlier in EARLIER.items() if earlier == status), status)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of this commit's diagnose."""
    known = svcpath.Request.__struct_fields__
    return {name if name in known else EARLIER.get(name, name): value for name, value in options.items()}


def _bundled(source: Any, target: str, words: dict[str, Any], folder: Path) -> Any:
    recorder = RecordingSource(source)
    svcpath.diagnose(recorder, target, **words)
    path = folder / "walk.tar.zst"
    bundles.write(path, lines.of_log(recorder.log, lines.Manifest(svcpath="0", kubernetes="", created="")))
    return svcpath.bundle(path)


def judged(path: Path) -> dict[str, Any]:
    """What diagnose gives for one input, its sentences apart from the rest."""
    words = json.loads((path / "ask.json").read_text())
    target, bundled = words.pop("target", ""), words.pop("bundle", False)
    words = _options(words)
    root = path / "evidence"
    files = {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}
    try:
        source = _source(files)
        if bundled:
            with tempfile.TemporaryDirectory() as folder:
                source = _bundled(source, target, words, Path(folder))
        report = svcpath.diagnose(source, target, **words)
    except Exception as error:  # noqa: BLE001 - how it ends is what is compared
        return {"error": type(error).__name__}
    verdict = report.verdict
    return {
        "verdict": [verdict.status, verdict.layer, verdict.cause_layer, verdict.code, _field(verdict, "confidence")],
        "layers": [[layer.name, _status(layer.status), layer.decisive] for layer in report.layers],
        "findings": sorted(
            [
                finding.code,
                finding.layer,
                finding.status,
                *(_field(cause, "confidence") for cause in finding.hypotheses),
            ]
            for finding in report.findings
        ),
        "not_looked_at": sorted([gap.layer, gap.what, gap.command] for gap in _field(report, "not_looked_at")),
        "sentences": {layer.name: layer.sentence for layer in report.layers} | {"verdict": verdict.summary},
    }


def _over(*_: object) -> None:
    raise TimeoutError


def main(folder: str, *names: str) -> None:
    signal.signal(signal.SIGALRM, _over)
    for name in names:
        signal.alarm(LIMIT)
        sys.stdout.write(json.dumps({"name": name, **judged(Path(folder) / name)}, sort_keys=True) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
