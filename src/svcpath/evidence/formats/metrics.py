"""Prometheus text exposition (version 0.0.4), as :10249/metrics of kube-proxy or :9153/metrics of CoreDNS serve it."""

from __future__ import annotations

import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import Metrics, MetricSample
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

_SAMPLE = re.compile(
    r"([A-Za-z_:][A-Za-z0-9_:]*)\s*(?:\{(.*)\})?\s+([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[Ii]nf|NaN))(?:\s+-?\d+)?\s*"
)
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


def is_metrics(text: Text) -> bool:
    if any(line.startswith(("# HELP ", "# TYPE ")) for line in text.lines[:20]):
        return True
    good = [match for line in text.sample if (match := _SAMPLE.fullmatch(line))]
    named = any("_" in match.group(1) for match in good)
    return bool(good) and named and len(good) * 10 >= 8 * len(text.sample)


def read_metrics(text: Text) -> list[Item]:
    samples: list[MetricSample] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _SAMPLE.fullmatch(line)
        if match is None:
            bad.append(number)
            continue
        name, labels, value = match.groups()
        pairs = {key: _unescape(word) for key, word in _LABEL.findall(labels or "")}
        samples.append(MetricSample(name=name, value=float(value), labels=pairs))
    return [Item(Kind.METRICS, Metrics(tuple(samples))), *not_understood("metrics", bad, len(samples))]


def _unescape(word: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(0)), word)
