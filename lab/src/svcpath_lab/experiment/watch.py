"""Follow objects and logs while something happens: long-running kubectl processes whose output goes to the raw log."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from svcpath_lab.experiment.log import RawLog
from svcpath_lab.kubectl import Kubectl


def documents(stream: IO[str]) -> Iterator[dict[str, object]]:
    """The JSON objects that a stream carries one after the other, one a line or indented, as kubectl prints them."""
    decoder = json.JSONDecoder()
    pending = ""
    for line in stream:
        pending += line
        if not (line.rstrip() == "}" or (line.startswith("{") and line.rstrip().endswith("}"))):
            continue  # neither the end of an indented document nor a whole one on a line
        with contextlib.suppress(json.JSONDecodeError):
            found, end = decoder.raw_decode(pending.lstrip())
            pending = pending.lstrip()[end:]
            if isinstance(found, dict):
                yield found


@contextlib.contextmanager
def following(argv: Sequence[str], reader: Callable[[IO[str]], None]) -> Iterator[None]:
    """Run a command beside; ``reader`` reads its output in a thread until the block ends."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
    assert process.stdout is not None
    thread = threading.Thread(target=reader, args=(process.stdout,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)
        thread.join(5)
        process.stdout.close()


def watching(kubectl: Kubectl, log: RawLog, namespace: str, resource: str) -> contextlib.AbstractContextManager[None]:
    """Every change of a resource in a namespace, as "watch" entries with the event's type and object."""

    def read(stream: IO[str]) -> None:
        for event in documents(stream):
            log.add("watch", resource=resource, type=event.get("type"), object=event.get("object"))

    arguments = ["-n", namespace, "get", resource, "--watch", "-o", "json", "--output-watch-events"]
    return following(kubectl.argv(arguments), read)


#: What a kubelet sends in place of a followed log where the machine's inotify instances are used up.
_NO_WATCHER = "failed to create fsnotify watcher"
#: Seconds between two readings of a log that can't be followed.
_AGAIN = 0.2


@contextlib.contextmanager
def logging(kubectl: Kubectl, log: RawLog, namespace: str, pod: str) -> Iterator[None]:
    """A Pod's log, line by line as "pod-log" entries; read again and again where the kubelet can't follow it."""
    over = threading.Event()

    def read(stream: IO[str]) -> None:
        known = 0
        for line in stream:
            if line.startswith(_NO_WATCHER):
                break
            log.add("pod-log", pod=pod, line=line.rstrip("\n"))
            known += 1
        else:
            return
        while not over.wait(_AGAIN):
            lines = kubectl.run("-n", namespace, "logs", pod, check=False).out.splitlines()
            for line in lines[known:]:
                log.add("pod-log", pod=pod, line=line)
            known = max(known, len(lines))

    with following(kubectl.argv(["-n", namespace, "logs", "-f", pod]), read):
        try:
            yield
        finally:
            over.set()
