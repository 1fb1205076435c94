"""The shutdown timeline of one Pod: when each container of a Pod is signalled and killed, and the three margins of a drain.

0 is the moment the API server accepts the delete. Every container starts terminating at once with its own preStop; the
signal (SIGTERM, or the image's STOPSIGNAL) comes when that hook ends or the grace period is used up, and the kill no earlier than 2 s after the signal.
Sidecars (init containers with restartPolicy Always) run their hook at 0 too and are signalled after every ordinary
container ended, in reverse order, or when the grace period is used up.

Source: kubelet v1.35 pkg/kubelet/kuberuntime/kuberuntime_container.go (killContainer, minimumGracePeriodInSeconds) and
kuberuntime_termination_order.go (KEP-753); measured with grace 5, hook 30: signal 5.1 s, kill 7.1 s.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import msgspec

#: Seconds the kubelet leaves between the signal and the kill, however little of the grace period is left.
MINIMUM_WINDOW = 2.0

#: What terminationGracePeriodSeconds is when a manifest does not set it.
DEFAULT_GRACE = 30


class OnSignal(enum.Enum):
    """What an application does on SIGTERM (or the image's STOPSIGNAL).

    EXIT: it ends at once, requests included. FINISH: it stops accepting, finishes what it has, and ends. IGNORE: it goes
    on as before until the kill, as a process without a handler does that is PID 1 (kernel, SIGNAL_UNKILLABLE).
    """

    EXIT = "exit"
    FINISH = "finish"
    IGNORE = "ignore"


class ContainerStop(msgspec.Struct, frozen=True):
    """When one container's hook would end and when it is signalled and killed, seconds after the delete."""

    container: str
    hook: float
    signal: float
    kill: float


def stop(container: str, hook: float, grace: float, asked: float = math.inf) -> ContainerStop:
    """The stop of an ordinary container whose preStop would take ``hook`` seconds; at ``asked`` the hook itself tells the
    application to stop, which is as good as the signal."""
    signal = min(hook, grace)
    return ContainerStop(container, hook, min(signal, asked), max(grace, signal + MINIMUM_WINDOW))


def sidecar_stop(container: str, hook: float, grace: float, others_end: float) -> ContainerStop:
    """The stop of a sidecar: signalled once its own hook and all that it waits for have ended."""
    end = max(hook, others_end)
    signal = min(end, grace)
    return ContainerStop(container, end, signal, max(grace, signal + MINIMUM_WINDOW))


class DrainDemand(msgspec.Struct, frozen=True):
    """What has to fit into the shutdown, in seconds.

    ``drained``: when the last node or load balancer stops sending new connections (D). ``longest``: the longest request
    (L). ``shutdown``: closing down once idle (S).
    """

    drained: float = 0.0
    longest: float = 0.0
    shutdown: float = 0.0


class Margins(msgspec.Struct, frozen=True):
    """Seconds to spare; the drain holds when all three are positive.

    ``graceful_exit`` is None for a container that never ends by itself: it ignores the signal, or its hook has no end.
    """

    new_connections: float
    requests: float
    graceful_exit: float | None

    @property
    def negative(self) -> bool:
        """Some margin is missed for certain."""
        return self.new_connections < 0 or self.requests < 0 or self.graceful_exit is None or self.graceful_exit < 0

    @property
    def holds(self) -> bool:
        return self.smallest > 0

    @property
    def smallest(self) -> float:
        end = float("-inf") if self.graceful_exit is None else self.graceful_exit
        return min(self.new_connections, self.requests, end)


def ended(container: ContainerStop, load: DrainDemand, on_signal: OnSignal) -> float:
    """When a container has ended, seconds after the delete: by itself, else at its kill."""
    if on_signal is OnSignal.IGNORE:
        return container.kill
    # A listener that is closed on the signal accepts nothing after it, whatever is still sent.
    last_request = min(load.drained, container.signal) + load.longest
    idle = container.signal if on_signal is OnSignal.EXIT else max(container.signal, last_request)
    return min(idle + load.shutdown, container.kill)


def margins(
    on_path: Sequence[ContainerStop],
    off_path: Sequence[ContainerStop],
    grace: float,
    load: DrainDemand,
    on_signal: OnSignal,
) -> Margins:
    """The three margins of a Pod.

    ``on_path`` are the ordinary containers that traffic goes through (proxy and application): the earliest signal among
    them counts. ``off_path`` are the others, whose hooks have to end inside the grace period as well.
    """
    signal = min(container.signal for container in on_path)
    kill = min(container.kill for container in on_path)
    accepts_until = kill if on_signal is OnSignal.IGNORE else signal
    served_until = signal if on_signal is OnSignal.EXIT else kill
    last_request = load.drained + load.longest
    return Margins(
        new_connections=accepts_until - load.drained,
        requests=served_until - last_request,
        graceful_exit=_graceful_exit(on_path, off_path, grace, load, on_signal),
    )


def _graceful_exit(
    on_path: Sequence[ContainerStop],
    off_path: Sequence[ContainerStop],
    grace: float,
    load: DrainDemand,
    on_signal: OnSignal,
) -> float | None:
    if on_signal is OnSignal.IGNORE:
        return None
    last_request = load.drained + load.longest
    ends = [
        (container.hook if on_signal is OnSignal.EXIT else max(container.hook, last_request)) + load.shutdown
        for container in on_path
    ]
    ends.extend(container.hook for container in off_path)
    return None if math.isinf(max(ends)) else grace - max(ends)
