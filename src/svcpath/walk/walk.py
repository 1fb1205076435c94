"""The ordered walk: six questions and what is under way, each answered from evidence.

| layer      | question                                                                    |
|------------|-----------------------------------------------------------------------------|
| resolution | does the name resolve, with the application's own resolver?                 |
| service    | does the answer fit the Service's type?                                     |
| endpoints  | is there a usable endpoint: ready, else serving and terminating?            |
| ports      | do port and protocol agree, down to a listening socket?                     |
| pod        | does a direct connection to the Pod's address work?                         |
| dataplane  | does the client's node carry the packet to a usable endpoint and back?      |
| lifecycle  | what is under way: terminating Pods, rollouts?                              |

Nothing is judged here: the layers say what they found and what they could not look at (``walked.Walked``).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from svcpath.evidence.facts.source import Source
from svcpath.walk import failed, probes, quality, targets
from svcpath.walk.changes import changes
from svcpath.walk.driver import Driver
from svcpath.walk.findings.finding import LayerName
from svcpath.walk.layers import dataplane, endpoints, lifecycle, pod, ports, resolution, service
from svcpath.walk.layers.dataplane.tables import forget
from svcpath.walk.path import path
from svcpath.walk.request import Request
from svcpath.walk.scene import scene
from svcpath.walk.walked import Asked, Walked

#: Each layer's package has ``layer(scene)``, a generator that ends in its Answer.
LAYERS: tuple[tuple[LayerName, ModuleType], ...] = (
    ("resolution", resolution),
    ("service", service),
    ("endpoints", endpoints),
    ("ports", ports),
    ("pod", pod),
    ("dataplane", dataplane),
    ("lifecycle", lifecycle),
)


def walk(source: Source, request: Request, progress: Callable[[Asked], None] | None = None) -> Walked:
    """Ask the layers in order over ``source``; ``progress`` is called with each answer as it is there.

    Raises UsageError when the target is not clear.
    """
    try:
        return _walk(source, request, progress)
    finally:
        forget()


def _walk(source: Source, request: Request, progress: Callable[[Asked], None] | None) -> Walked:
    driver = Driver(source)
    named = bool(request.service)
    request = driver.run(targets.settle(request))
    begun = driver.asked
    seen = driver.run(scene(request))
    asked: list[Asked] = []
    for name, layer in LAYERS:
        if layer is pod and (request.thorough or not any(before.fails for before in asked)):
            driver.run(probes.ask(seen))
        answer = driver.run(layer.layer(seen))
        asked.append(Asked(name, answer, driver.since(begun)))
        begun = driver.asked
        if progress is not None:
            progress(asked[-1])
    worth = driver.run(quality.gather(driver.replies, seen))
    unexplained = driver.run(failed.gather(seen))
    unread = {id(observation): observation for reply in driver.replies for observation in reply.not_read}
    return Walked(
        request=request,
        named=named,
        asked=tuple(asked),
        quality=worth,
        failed=unexplained,
        changes=driver.run(changes(seen)),
        path=driver.run(path(seen)),
        unread=tuple(unread.values()),
    )
