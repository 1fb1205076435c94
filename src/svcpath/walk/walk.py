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
from typing import TYPE_CHECKING

from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Source, confirm, settled
from svcpath.walk import ahead, targets
from svcpath.walk.driver import Driver
from svcpath.walk.scene import put_together, scene

if TYPE_CHECKING:
    from svcpath.walk.walked import LayerWalk, Walked


def walk(source: Source, request: Request, progress: Callable[[LayerWalk], None] | None = None) -> Walked:
    """Ask the layers in order over ``source``; ``progress`` is called with each answer as it is there.

    Raises UsageError when the target is not clear.
    """
    driver = Driver(source)
    request = settled(source, request)
    named = bool(request.service)
    driver.expect(ahead.first(request))
    if named:
        driver.expect(request.first_needs(), lambda replies: ahead.then(put_together(request, replies)))
    confirm(source, request)
    # Loaded only now, while a cluster answers: it takes as long.
    from svcpath.walk import failed, probes, quality
    from svcpath.walk.checks import with_checks
    from svcpath.walk.layers.order import LAYERS
    from svcpath.walk.layers.pod import layer as pod
    from svcpath.walk.picture.changes import changes
    from svcpath.walk.picture.path import path
    from svcpath.walk.walked import LayerWalk, Walked

    request = driver.run(targets.settle(request))
    begun = driver.asked
    seen = driver.run(scene(request))
    # Before a layer asks for one alone of several looks that come together.
    driver.expect(ahead.then(seen))
    asked: list[LayerWalk] = []
    for name, layer in LAYERS:
        if layer is pod and (request.thorough or not any(before.fails for before in asked)):
            driver.run(probes.ask(seen))
        own = driver.run(layer.layer(seen))
        answer = driver.run(with_checks(own, str(layer.__package__), seen))
        asked.append(LayerWalk(name, answer, driver.since(begun)))
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
