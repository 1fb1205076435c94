"""Follow objects and logs while something happens: long-running kubectl processes whose output goes to the raw log."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from svcpath.lab.experiment.log import RawLog
from svcpath.lab.kubectl import Kubectl


def documents(stream: IO[str]) -> Iterator[dict[str, object]]:
    """The JSON objects that a stream carries one after the other, one a line or indented, as kubectl prints them."""
    decoder = json.JSONDecoder()
    held = ""
    for line in stream:
        held += line
        if not (line.rstrip() == "}" or (line.startswith("{") and line.rstrip().endswith("}"))):
            continue  # neither the end of an indented document nor a whole one on a line
        with contextlib.suppress(json.JSONDecodeError):
            found, end = decoder.raw_decode(held.lstrip())
            held = held.lstrip()[end:]
            if isinstance(found, dict):
                yield found


@contextlib.contextmanager
def following(argv: Sequence[str], each: Callable[[IO[str]], None]) -> Iterator[None]:
    """Run a command beside; ``each`` reads its output in a thread until the block ends."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
    assert process.stdout is not None
    thread = threading.Thread(target=each, args=(process.stdout,), daemon=True)
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


def logging(kubectl: Kubectl, log: RawLog, namespace: str, pod: str) -> contextlib.AbstractContextManager[None]:
    """A Pod's log, line by line as "pod-log" entries."""

    def read(stream: IO[str]) -> None:
        for line in stream:
            log.add("pod-log", pod=pod, line=line.rstrip("\n"))

    return following(kubectl.argv(["-n", namespace, "logs", "-f", pod]), read)
