"""Make a fault on a lab and undo it: the scene's objects, the steps, and the way back."""

from __future__ import annotations

from pathlib import Path

import msgspec

from svcpath_lab import namespaces
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.experiment.manifests import with_images
from svcpath_lab.faults import scene as scenes
from svcpath_lab.faults import sound, steps
from svcpath_lab.faults.fault import Fault, named
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.home import Home
from svcpath_lab.providers.base import Provider


def stand(ground: Ground, fault: Fault, lab: str) -> None:
    """Put the scene up: namespace, objects, ready Pods unless the fault says otherwise, and names and tables that have it."""
    kubectl, scene = ground.kubectl, ground.scene
    sound.wait_for_nodes(ground)
    namespaces.ensure(kubectl, lab, scene.namespace)
    made = scenes.objects(scene, fault.scene, ground.provider.images)
    filled = [with_images(ground.fill(manifest), ground.provider.images) for manifest in made]
    kubectl.apply(filled, namespace=scene.namespace)
    where = ("-n", scene.namespace)
    kubectl.run(*where, "wait", "--for=condition=Ready", f"pod/{scene.client}", "--timeout=90s")
    if fault.scene.ready:
        kubectl.wait_rollout(scene.namespace, f"deployment/{scene.deployment}")
    sound.wait(ground)


def undo(ground: Ground, fault: Fault, *, wait: bool = False) -> list[str]:
    """Undo what the fault did outside its namespace, then delete that; returns what went wrong."""
    troubles = steps.undo_all(ground, fault.undo)
    words = ["delete", "namespace", ground.scene.namespace, "--ignore-not-found", f"--wait={str(wait).lower()}"]
    ended = ground.kubectl.run(*words, check=False, timeout=300)
    if ended.code != 0:
        troubles.append(ended.err.strip())
    return troubles


class Injected(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that stands on a lab, as `lab inject` noted it for `lab clear`."""

    fault: str
    scene: dict[str, str | int]
    saved: dict[str, dict[str, object]] = {}
    chosen: dict[str, str | int] = {}


def _note(home: Home) -> Path:
    return home.folder / "injected.json"


def injected(home: Home) -> Injected | None:
    """The fault that stands on a lab, if any."""
    if not _note(home).is_file():
        return None
    return msgspec.json.decode(_note(home).read_bytes(), type=Injected)


def inject(home: Home, provider: Provider, fault: Fault, scene: FaultScene, say: Say) -> Ground:
    """Make a fault and leave it in place; noted before anything is done, so that an interrupted one can be cleared."""
    if injected(home) is not None:
        raise LabError(f"a fault stands on lab {home.name} already; first: svcpath lab clear --lab {home.name}")
    ground = Ground(provider, provider.kubectl(), scene)

    def note() -> None:
        noted = Injected(fault=fault.name, scene=scene.values(), saved=ground.saved, chosen=ground.chosen)
        _note(home).write_bytes(msgspec.json.format(msgspec.json.encode(noted)))

    note()
    say(f"scene in namespace {scene.namespace}")
    stand(ground, fault, home.name)
    say(fault.about)
    for step in fault.steps:
        try:
            steps.run(ground, step)
        finally:
            note()
    return ground


def clear(home: Home, provider: Provider, say: Say) -> None:
    """Undo the fault that stands on a lab; the note goes when nothing went wrong."""
    noted = injected(home)
    if noted is None:
        say("no fault stands on this lab")
        return
    fault = named(noted.fault)
    ground = Ground(provider, provider.kubectl(), FaultScene(**noted.scene))  # type: ignore[arg-type]
    ground.saved.update(noted.saved)
    ground.chosen.update(noted.chosen)
    say(f"undoing {fault.name}")
    troubles = undo(ground, fault, wait=True)
    if troubles:
        raise LabError("; ".join(troubles))
    _note(home).unlink()
