"""What a cluster is to expect is what the walk asks it, and it is given before the walk is loaded."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import svcpath
from svcpath.errors import UsageError
from svcpath.evidence.facts.need import Cost, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Then
from svcpath.evidence.sources.kube import ClusterSource
from svcpath.evidence.sources.recording import RecordingSource
from svcpath.walk import layers
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api

NAMESPACE = "service-ops"
EXTERNAL = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "outside", "namespace": NAMESPACE},
    "spec": {"type": "ExternalName", "externalName": "db.example.com"},
}
REQUESTS = {
    "with a client": Request.of("svc/echo-server", namespace=NAMESPACE, client="pod/client"),
    "without a client": Request.of("svc/echo-server", namespace=NAMESPACE),
    "from a node": Request.of("svc/echo-server", namespace=NAMESPACE, client="node/w1"),
    "on every node": Request.of("svc/echo-server", namespace=NAMESPACE, client="pod/client", all_nodes=True),
    "one port of it": Request.of("svc/echo-server", namespace=NAMESPACE, client="pod/client", port="80"),
    "as it is written": Request.of(
        "svc/echo-server",
        namespace=NAMESPACE,
        client="pod/client",
        lookup="echo-server.service-ops.svc.cluster.local.",
    ),
    "with a fault": Request.of("svc/wrong-port", namespace=NAMESPACE, client="pod/client"),
    "without endpoints": Request.of("svc/empty-service", namespace=NAMESPACE, client="pod/client"),
    "headless": Request.of("svc/echo-headless", namespace=NAMESPACE, client="pod/client"),
    "headless without a client": Request.of("svc/echo-headless", namespace=NAMESPACE),
    "external": Request.of("svc/outside", namespace=NAMESPACE, client="pod/client"),
    "external without a client": Request.of("svc/outside", namespace=NAMESPACE),
    "a Service that is not there": Request.of("svc/nope", namespace=NAMESPACE, client="pod/client"),
}


class Noting:
    """A cluster that keeps apart what it is to expect and what it is asked."""

    def __init__(self, cluster: ClusterSource) -> None:
        self._cluster = cluster
        self.expected: list[Need] = []
        self.asked: list[Need] = []

    def settled(self, request: Request) -> Request:
        return self._cluster.settled(request)

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        self.asked += needs
        return self._cluster.observe(needs)

    def expect(self, needs: Sequence[Need], then: Then | None = None) -> None:
        self.expected += needs
        if then is not None:
            self.expected += then(self._cluster.observe(needs))


def _subject(need: Need) -> Need:
    """The same question, whatever it costs and whatever right it takes."""
    return msgspec.structs.replace(need, cost=Cost.READ, permission="")


@pytest.fixture
def with_external(scripted: Api) -> Api:
    scripted.objects.append(EXTERNAL)
    return scripted


@pytest.mark.parametrize("name", REQUESTS)
def test_a_cluster_is_told_to_expect_nothing_but_what_it_is_asked(
    with_external: Api, source: Source, name: str
) -> None:
    with source(with_external) as cluster:
        noting = Noting(cluster)
        svcpath.diagnose(noting, REQUESTS[name])
    assert noting.expected
    asked = {_subject(need) for need in noting.asked}
    assert [need for need in noting.expected if _subject(need) not in asked] == []
    assert all(need.cost is not Cost.PROBE for need in noting.expected)


def test_without_a_service_nothing_is_expected(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        noting = Noting(cluster)
        with pytest.raises(UsageError, match="several Services could be meant"):
            svcpath.diagnose(noting, Request(namespace=NAMESPACE))
    assert noting.expected == []


def test_a_second_walk_over_a_log_expects_nothing_that_is_in_it(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        noting = Noting(cluster)
        recorder = RecordingSource(noting)
        first = svcpath.diagnose(recorder, REQUESTS["with a client"])
        expected = [need for need in noting.expected if need not in recorder.log]
        noting.expected.clear()
        assert svcpath.diagnose(recorder, REQUESTS["with a client"]) == first
    assert noting.expected == expected


FOLDER = Path(layers.__path__[0])


@pytest.mark.parametrize("name", sorted(path.parent.name for path in FOLDER.glob("*/needs.py")))
def test_a_layer_asks_by_the_functions_that_declare_what_it_asks_first(name: str) -> None:
    """Each function of a layer's needs.py but the declarations themselves is called by the layer, and each that the
    declarations call elsewhere is called by the walk."""
    declaring = ast.parse((FOLDER / name / "needs.py").read_text())
    own = {node.name for node in declaring.body if isinstance(node, ast.FunctionDef)} - {"first", "then"}
    assert own <= _called(path for path in (FOLDER / name).glob("*.py") if path.name != "needs.py")
    shared = _called([FOLDER / name / "needs.py"]) & _functions("svcpath.walk.names.needs", "svcpath.walk.nodes.needs")
    walk = FOLDER.parent
    assert shared <= _called(path for path in walk.rglob("*.py") if path.name != "needs.py")


def _functions(*modules: str) -> set[str]:
    return {name for module in modules for name in vars(importlib.import_module(module)) if not name.startswith("_")}


def _called(paths: Any) -> set[str]:
    """Names of the functions that these files call, by whatever name they import them."""
    found: set[str] = set()
    for path in paths:
        tree = ast.parse(path.read_text())
        renamed = {
            alias.asname: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname
        }
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        for call in calls:
            called = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
            found.add(renamed.get(called, called))
    return found


HEAVY = ("svcpath.models", "svcpath.findings", "svcpath.judge", "svcpath.reports.report", "yaml")
FIRST = f"""
import sys
import svcpath.cli.diagnose
from svcpath.diagnosis import diagnose

class Source:
    def expect(self, needs, then=None):
        heavy = [name for name in sys.modules if name.startswith({HEAVY!r})]
        print(needs[0].kind.name, *sorted(heavy))
        sys.exit(0)

    def observe(self, needs):
        raise AssertionError("asked before it was given what to expect")

diagnose(Source(), "svc/x", namespace="n", client="pod/c")
"""


def test_a_cluster_is_asked_before_the_layers_and_the_models_are_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["DNS_ANSWERS"], done.stdout + done.stderr
