"""Run by the interpreter with one commit's sources on its path: diagnoses every input of a folder, a JSON line each.

    python runner.py FOLDER >OUT

Only what every commit has is used: ``svcpath.diagnose`` and the sources. An input is a folder with ``ask.json`` (the keyword
arguments of diagnose) and ``evidence/``; where ``ask.json`` says ``"bundle": true`` the walk's log is written to a bundle by
this very commit, and the bundle is diagnosed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import svcpath
from svcpath.evidence.formats.bundles import Manifest, of_log
from svcpath.evidence.sources import bundle as bundles
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recording import RecordingSource


def _bundled(source: BytesSource, target: str, words: dict[str, Any], folder: Path) -> Any:
    recorder = RecordingSource(source)
    svcpath.diagnose(recorder, target, **words)
    path = folder / "walk.tar.zst"
    bundles.write(path, of_log(recorder.log, Manifest(svcpath="0", kubernetes="", created="")))
    return svcpath.bundle(path)


def judged(path: Path) -> dict[str, Any]:
    """What diagnose gives for one input, without any sentence."""
    words = json.loads((path / "ask.json").read_text())
    target, bundled = words.pop("target", ""), words.pop("bundle", False)
    root = path / "evidence"
    files = {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}
    try:
        source: Any = BytesSource(files)
        if bundled:
            with tempfile.TemporaryDirectory() as folder:
                source = _bundled(source, target, words, Path(folder))
        report = svcpath.diagnose(source, target, **words)
    except Exception as error:  # noqa: BLE001 - how it ends is what is compared
        return {"error": type(error).__name__}
    verdict = report.verdict
    return {
        "verdict": [verdict.status, verdict.layer, verdict.cause_layer, verdict.code, verdict.standing],
        "layers": [[layer.name, layer.status, layer.decisive] for layer in report.layers],
        "findings": sorted(
            [finding.code, finding.layer, finding.status, *(cause.standing for cause in finding.hypotheses)]
            for finding in report.findings
        ),
        "not_tested": sorted([gap.layer, gap.what, gap.command] for gap in report.not_tested),
        "sentences": {layer.name: layer.sentence for layer in report.layers} | {"verdict": verdict.summary},
    }


def main(folder: str) -> None:
    for path in sorted(Path(folder).iterdir()):
        sys.stdout.write(json.dumps({"name": path.name, **judged(path)}, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
