"""What `svcpath drain watch` and `svcpath drain run --target` record alike: the target's namespace, its frontends, a sampler."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svcpath.errors import UsageError

if TYPE_CHECKING:
    from svcpath.drain.cluster import ClusterTransport
    from svcpath.drain.watch import Recording


def check_sampling(sample_from: str, sample: Sequence[str], api_url: str) -> None:
    """Raises UsageError."""
    if bool(sample_from) != bool(sample):
        raise UsageError("--sample-from and --sample belong together")
    if sample and api_url:
        raise UsageError("--sample runs a command in a Pod: give a kubeconfig instead of --api-url")


@contextlib.contextmanager
def target_recording(
    cluster: ClusterTransport,
    db: Path,
    namespace: str,
    target: str,
    *,
    commands: bool,
    interval: float = 0.2,
    sample_from: str,
    container: str,
    sample: Sequence[str],
    say: Callable[[str], None],
) -> Iterator[Recording]:
    """Record into ``db`` while the block runs. ``target`` is KIND/NAME; ``commands``: Pods can be reached, so that node tables
    are followed. Raises UnknownTarget, SourceUnavailable."""
    from svcpath.drain import kube
    from svcpath.drain.sampler import whole
    from svcpath.drain.watch import Sampling, recording
    from svcpath.drain.watch import sample as begin

    kind, _, name = target.partition("/")
    addresses = kube.frontends(cluster, namespace, kind, name) if commands else frozenset[str]()
    with recording(db, cluster, namespace, addresses=addresses, interval=interval, say=say) as under_way:
        under_way.store.set_meta("target", f"{namespace}/{target}")
        if sample:
            chosen = Sampling(namespace, sample_from.removeprefix("pod/"), container, tuple(sample))
            under_way.samplers.append(begin(cluster, under_way.store, chosen, whole.text()))
        yield under_way
