"""A lab that is up, with the reference namespace and one client Pod. Without one every test here is skipped.

svcpath lab up --lab live && SVCPATH_TEST_LAB=live python -m pytest tests/live
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svcpath.errors import SvcpathError
from svcpath_lab import home as homes
from svcpath_lab import labs, resources
from svcpath_lab.kubectl import Kubectl

NAMESPACE = "service-ops"
CLIENT = """
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: service-ops, labels: {app: client}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: client, image: "lab.local/tools:1", imagePullPolicy: IfNotPresent, command: [sleep, infinity]}
"""


@dataclass(frozen=True)
class Lab:
    kubectl: Kubectl
    kubeconfig: str
    folder: Path
    audit_log: Path

    def apply(self, text: str) -> None:
        path = self.folder / "manifest.yaml"
        path.write_text(text)
        self.kubectl.run("apply", "-f", str(path))

    def get(self, *words: str) -> list[dict[str, Any]]:
        return self.kubectl.items(*words)

    def execs(self) -> float:
        """How many execs the API server has served, by its own count."""
        text = self.kubectl.run("get", "--raw", "/metrics").out
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith("apiserver_request_total{") and 'subresource="exec"' in line
        )


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """One file of tests at a time has the lab, in whatever process it runs: they switch modes and change objects."""
    with _locked():
        yield


@contextmanager
def _locked() -> Iterator[None]:
    name = os.environ.get("SVCPATH_TEST_LAB", "")
    with (Path(tempfile.gettempdir()) / f"svcpath-lab-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    name = os.environ.get("SVCPATH_TEST_LAB", "")
    if not name:
        why = os.environ.get("SVCPATH_NO_LAB", "no lab")
        pytest.skip(f"{why}: svcpath lab up --lab NAME, then SVCPATH_TEST_LAB=NAME")
    home = homes.home(name)
    if not home.exists():
        pytest.skip(f"lab {name} is not up")
    try:
        provider = labs.provider(home)
        kubectl = provider.kubectl()
        kubectl.run("get", "nodes")
    except SvcpathError as error:
        pytest.skip(f"lab {name} does not answer: {error}")
    found = Lab(kubectl, str(provider.kubeconfig()), tmp_path_factory.mktemp("lab"), home.audit_log)
    with _locked():
        prepare(found)
    return found


def prepare(lab: Lab) -> None:
    kubectl = lab.kubectl
    for attempt in range(10):
        # Until the controllers have made the new namespace's default ServiceAccount, Pods are refused.
        done = kubectl.run("apply", "-k", str(resources.folder() / "manifests" / NAMESPACE), check=attempt == 9)
        if not done.code and kubectl.run("-n", NAMESPACE, "get", "serviceaccount", "default", check=False).code == 0:
            break
        time.sleep(1)
    lab.apply(CLIENT)
    kubectl.run("-n", NAMESPACE, "rollout", "status", "deployment/echo-server", "--timeout=120s", timeout=150)
    kubectl.run("-n", NAMESPACE, "wait", "--for=condition=Ready", "pod/client", "--timeout=60s", timeout=90)
    # kube-proxy's tables follow readiness within its sync interval.
    time.sleep(3)
