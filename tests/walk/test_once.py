"""What a walk works out, it works out once: one scene in a walk, each dump parsed once for a Source."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from svcpath.diagnosis import diagnose
from svcpath.evidence.facts.need import DATA_PLANE_DUMPS
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.models import dataplanes
from svcpath.walk import scene as scenes
from tests.fixtures.cluster import cluster

ASK: dict[str, Any] = {"target": "svc/echo-server", "namespace": "service-ops", "client": "pod/client"}


def _count(monkeypatch: pytest.MonkeyPatch, real: Callable[..., Any], key: Callable[..., Any]) -> Counter[Any]:
    """Calls of a function by ``key`` of its arguments, wherever a module of the package holds it by whatever name."""
    calls: Counter[Any] = Counter()

    def counted(*args: Any, **words: Any) -> Any:
        calls[key(*args, **words)] += 1
        return real(*args, **words)

    for module in [module for name, module in sys.modules.items() if name.startswith("svcpath.")]:
        for name, value in tuple(vars(module).items()):
            if value is real:
                monkeypatch.setattr(module, name, counted)
    return calls


@pytest.fixture
def recording() -> BytesSource:
    """A recording that no other test has read: its dumps are texts of their own."""
    return BytesSource(dict(recording_files("nftables")))


@pytest.fixture
def loaded() -> None:
    """Layers are loaded by the first walk; what they hold can be counted from then on."""
    cluster().settle().diagnose()


@pytest.mark.usefixtures("loaded")
def test_one_walk_builds_one_scene(recording: BytesSource, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _count(monkeypatch, scenes.scene, lambda request: request.service)
    diagnose(recording, **ASK)
    assert calls == {"echo-server": 1}
    diagnose(recording, **ASK)
    assert calls == {"echo-server": 2}


@pytest.mark.usefixtures("loaded")
def test_each_dump_is_parsed_once_however_many_walks_a_source_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    made = cluster(3).settle()
    made.dumps = True
    # A comment of its own: no other test has read this text.
    source = BytesSource(
        {path: raw + b"\n# once\n" if "iptables" in path else raw for path, raw in made.evidence().items()}
    )
    calls = _count(monkeypatch, dataplanes.parse, lambda kind, text, **words: (kind, words["node"], text))
    diagnose(source, "svc/web", namespace="shop")
    assert {kind for kind, _, _ in calls} <= set(DATA_PLANE_DUMPS)
    assert {node for _, node, _ in calls} == {"w1", "w2"}
    first = dict(calls)
    assert set(first.values()) == {1}
    diagnose(source, "svc/web", namespace="shop", client="pod/web-1", port="80")
    assert dict(calls) == first
