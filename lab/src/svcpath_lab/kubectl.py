"""Drive a cluster with kubectl(1): what the lab does to a cluster is what a person could type."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from svcpath_lab import command
from svcpath_lab.errors import LabError

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl with a kubeconfig (and context); every call names both, so that no other cluster is ever meant."""

    program: Path
    kubeconfig: Path
    context: str = ""

    def argv(self, arguments: Sequence[str]) -> list[str]:
        chosen = ["--context", self.context] if self.context else []
        return [str(self.program), "--kubeconfig", str(self.kubeconfig), *chosen, *arguments]

    def run(
        self, *arguments: str, stdin: str | bytes | None = None, check: bool = True, timeout: float = 120.0
    ) -> command.Completed:
        environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        return command.run(self.argv(arguments), stdin=stdin, check=check, timeout=timeout, environment=environment)

    def get(self, *arguments: str) -> dict[str, Any]:
        """``kubectl get ... -o json``; a list when several are asked for."""
        done = self.run("get", *arguments, "-o", "json")
        try:
            found: dict[str, Any] = json.loads(done.out)
        except ValueError as broken:
            raise LabError(f"`{done.line}` did not answer in JSON: {broken}") from broken
        return found

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(*arguments).get("items", [])
        return found

    def apply(self, manifests: Iterable[Manifest] | str, *, namespace: str = "") -> None:
        text = manifests if isinstance(manifests, str) else yaml.safe_dump_all(manifests, sort_keys=False)
        where = ["-n", namespace] if namespace else []
        self.run("apply", *where, "-f", "-", stdin=text)

    def exec(
        self,
        namespace: str,
        pod: str,
        argv: Sequence[str],
        *,
        container: str = "",
        check: bool = False,
        timeout: float = 60,
    ) -> command.Completed:
        """Run a command in a container; its own exit code is the result's."""
        chosen = ["-c", container] if container else []
        return self.run("-n", namespace, "exec", pod, *chosen, "--", *argv, check=check, timeout=timeout)

    def wait_rollout(self, namespace: str, workload: str, seconds: float = 120) -> None:
        self.run("-n", namespace, "rollout", "status", workload, f"--timeout={seconds:g}s", timeout=seconds + 10)
