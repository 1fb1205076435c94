"""Namespaces that the lab made: labelled when made, and never touched without that label."""

from __future__ import annotations

from svcpath_lab import command
from svcpath_lab.errors import LabError
from svcpath_lab.kubectl import Kubectl

#: Namespaces with this label, whose value is the lab's name, are the lab's own.
LABEL = "svcpath.lab/name"


def ensure(kubectl: Kubectl, lab: str, name: str) -> None:
    """Make and label a namespace; one that is there without the lab's label is somebody's and stays untouched."""
    escaped = LABEL.replace(".", "\\.")
    found = kubectl.run("get", "namespace", name, "-o", f"jsonpath={{.metadata.labels.{escaped}}}", check=False)
    if found.code == 0:
        if found.out.strip() != lab:
            raise LabError(f"namespace {name} is there and not this lab's: choose another, or delete it yourself")
        return
    if "not found" not in found.err.lower():
        raise command.CommandFailed(found)
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {LABEL: lab}}}
    kubectl.apply([made])


def remove(kubectl: Kubectl, lab: str, name: str = "") -> None:
    """Delete one namespace of the lab, or all of them, and wait until they are gone."""
    if name:
        ensure(kubectl, lab, name)
        kubectl.run("delete", "namespace", name, "--wait=true", timeout=300)
    else:
        kubectl.run("delete", "namespaces", "-l", f"{LABEL}={lab}", "--wait=true", timeout=300)
