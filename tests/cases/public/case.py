"""Cases from public reports: how their words map to ours, what a right answer must say, and renaming."""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.records import Report

FOLDER = Path(__file__).parent

STATUS = {"OK": "healthy", "WARN": "warning", "FAIL": "fault"}

#: Their layer words -> the layers of ours that a right verdict may name.
LAYERS: dict[str, tuple[str, ...]] = {
    "resolver": ("resolution",),
    "resolver/coredns": ("resolution",),
    "resolver/jvm": ("resolution",),
    "resolver/conntrack": ("resolution",),
    "nodelocal-dns": ("resolution",),
    "coredns": ("resolution",),
    "dns-records/headless": ("resolution",),
    "service/externalname": ("service",),
    "service/headless": ("service",),
    "service/appprotocol": ("service",),
    "service/selector": ("endpoints",),
    "slices": ("endpoints",),
    "slices/mirroring": ("endpoints",),
    "slices/ports": ("ports",),
    "ports": ("ports",),
    "ports/slices": ("ports",),
    "listen-socket": ("ports",),
    "dual-stack/listen-socket": ("ports",),
    "dual-stack": ("endpoints",),
    "pod/dead-node": ("pod",),
    "dataplane/iptables": ("dataplane",),
    "dataplane/hairpin": ("dataplane",),
    "dataplane/ipvs": ("dataplane",),
    "dataplane/mode-mix": ("dataplane",),
    "dataplane/cilium": ("dataplane",),
    "dataplane/sync-lag": ("dataplane",),
    "conntrack/udp": ("dataplane",),
    "conntrack/tcp": ("dataplane", "lifecycle"),
    "traffic-policy/external": ("dataplane",),
    "traffic-policy/terminating": ("dataplane",),
    "traffic-policy/health-check": ("dataplane",),
    "draining": ("lifecycle",),
    "rollout": ("lifecycle",),
    "l4-balancing": ("lifecycle",),
}


@dataclass(frozen=True)
class Case:
    name: str
    files: dict[str, bytes]
    status: str
    layer: str
    verdict: str
    must_say: tuple[str, ...]
    must_not_say: tuple[str, ...]

    @functools.cached_property
    def report(self) -> Report:
        """What is said of its files; worked out once in a process."""
        return diagnose(BytesSource(self.files))


@functools.cache
def case(name: str) -> Case:
    folder = FOLDER / name
    expected = json.loads((folder / "expected.json").read_text())
    files = {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in ("README.md", "expected.json")
    }
    return Case(
        name=name,
        files=files,
        status=expected["status"],
        layer=expected["layer"],
        verdict=expected["verdict"],
        must_say=tuple(expected["must_say"]),
        must_not_say=tuple(expected["must_not_say"]),
    )


def names(first: int, last: int) -> list[str]:
    """Case folders whose number lies in [first, last]."""
    return sorted(
        path.name for path in FOLDER.iterdir() if path.name[:2].isdigit() and first <= int(path.name[:2]) <= last
    )


_ADDRESS = re.compile(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w.])")
_NUMBER = re.compile(r"(?<![\w.#/-])\d{2,5}(?![\w.%-])")
_QUOTED = re.compile(r'"([^"]+)"')
_CODE = re.compile(r"\bEAI_[A-Z]+\b|\bNXDOMAIN\b|\bNODATA\b|\bREJECT\b|\bDROP\b")
_LABEL = re.compile(r"[\w./-]+=[\w.-]+")


def tokens(case: Case) -> set[str]:
    """What the expected verdict and must_say name: addresses, ports, quoted words, labels, error codes, object names."""
    text = " ".join((case.verdict, *case.must_say))
    found = set(_QUOTED.findall(text)) | set(_CODE.findall(text)) | set(_LABEL.findall(text))
    for address in _ADDRESS.findall(text):
        try:
            found.add(str(ipaddress.ip_address(address)))
        except ValueError:
            continue
    bare = _LABEL.sub(" ", _QUOTED.sub(" ", _ADDRESS.sub(" ", text)))
    found |= set(_NUMBER.findall(bare))
    known = object_names(case)
    found |= {word for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", bare) if word in known}
    return {token for token in found if token}


def object_names(case: Case) -> set[str]:
    """Names of objects in the case's YAML files."""
    names: set[str] = set()
    for path, raw in case.files.items():
        if path.endswith(".yaml"):
            names |= set(re.findall(r"(?m)^\s+(?:name|nodeName): ([a-z0-9.-]+)$", raw.decode()))
    return names


def decisive_text(report: Report) -> str:
    """All that the findings of the verdict's layer say; of every layer for a healthy verdict."""
    layer = report.verdict.layer
    parts = [report.verdict.summary]
    for result in report.layers:
        if layer is None or result.name == layer:
            parts.append(result.sentence)
    for finding in report.findings:
        if layer is not None and finding.layer != layer:
            continue
        parts += [finding.sentence, finding.share, finding.remedy, *finding.details]
        parts += [observation.sentence for observation in finding.evidence]
        parts += [hypothesis.cause for hypothesis in finding.hypotheses]
    return "\n".join(parts)


def everything(report: Report) -> str:
    parts = [report.verdict.summary, *(layer.sentence for layer in report.layers)]
    for finding in report.findings:
        parts += [finding.sentence, finding.share, finding.remedy, *finding.details]
        parts += [observation.sentence for observation in finding.evidence]
        parts += [hypothesis.cause for hypothesis in finding.hypotheses if hypothesis.confidence != "refuted"]
    return "\n".join(parts)


def contains(text: str, token: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(token)}(?![\w])", text) is not None


# --- renaming -----------------------------------------------------------------------------------------------------


def renamed(case: Case) -> Case:
    """The same case under other names and addresses, in the inputs and in what is expected alike."""
    mapping = {name: _other(name) for name in sorted(_own_names(case), key=len, reverse=True)}
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w/-])" for name in mapping)) if mapping else None

    def change(text: str) -> str:
        if pattern is not None:
            text = pattern.sub(lambda match: mapping[match[0]], text)
        return re.sub(
            r"\b10\.(96|244)\.(\d{1,3})\.(\d{1,3})\b",
            lambda m: f"10.{int(m[1]) + 1}.{m[2]}.{(int(m[3]) + 3) % 250}",
            text,
        )

    return Case(
        name=f"{case.name} renamed",
        files={path: _chains(change(raw.decode())).encode() for path, raw in case.files.items()},
        status=case.status,
        layer=case.layer,
        verdict=change(case.verdict),
        must_say=tuple(change(phrase) for phrase in case.must_say),
        must_not_say=case.must_not_say,
    )


def _own_names(case: Case) -> set[str]:
    """Names that may be changed: of Services, Pods, slices and the namespace, not of ports, labels or containers."""
    found: set[str] = set()
    for path, raw in case.files.items():
        if path.endswith(".yaml"):
            text = raw.decode()
            found |= set(re.findall(r"(?m)^metadata:\n  name: ([a-z0-9.-]+)$", text))
            found |= set(re.findall(r"(?m)^  namespace: ([a-z0-9.-]+)$", text))
            found |= set(re.findall(r"(?m)^    name: ([a-z0-9.-]+)\n    namespace: ", text))
            found |= set(re.findall(r"(?m)^    kubernetes.io/service-name: ([a-z0-9.-]+)$", text))
    return found - {"kube-system", "kube-dns", "kube-dns-upstream", "http", "app"}


def _other(name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"x{digest[:6]}"


def _chains(text: str) -> str:
    """kube-proxy's chain names hash namespace, name and port, so a renamed dump needs other chains."""
    from tests.fixtures.chain_names import rechain

    return rechain(text)


def as_dict(report: Report) -> dict[str, Any]:
    import msgspec

    made: dict[str, Any] = msgspec.to_builtins(report)
    return made


def check(public_case: Case) -> None:
    """The status, layer and words that the case asks for, and none that it forbids."""
    report = public_case.report
    verdict_line = f"{report.verdict.status} at {report.verdict.layer}: {report.verdict.summary}"
    assert report.verdict.status == STATUS[public_case.status], verdict_line
    if public_case.status != "OK":
        assert report.verdict.layer in LAYERS[public_case.layer], verdict_line
    text = decisive_text(report)
    missing = sorted(token for token in tokens(public_case) if not contains(text, token))
    assert not missing, f"{missing} not in:\n{text}"
    forbidden = [phrase for phrase in public_case.must_not_say if phrase.lower() in everything(report).lower()]
    assert not forbidden, f"{forbidden} in:\n{everything(report)}"
