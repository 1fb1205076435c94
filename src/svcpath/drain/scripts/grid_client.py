"""The client's side of the grid: it plays the load balancer that goes on sending for D seconds after each delete.

Reads one JSON object a line from standard input, {"cell", "host", "port", "held", "at", "drained", "longest", "until"}, and
for each tries new connections every 0.2 s and starts a long request every 0.5 s, from 1 s before ``at`` until ``drained``
seconds after, the last of them just before. To the port ``held`` it has one connection that asks for nothing: the server
leaves it alone, so the kernel closes it when the process ends, and that is seen to the millisecond (``until`` at most).
Writes one JSON line for each with its times and outcome. Standard library alone.
"""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time
from typing import Any

LOCK = threading.Lock()
BEFORE = 0.1  # seconds before its end that the last attempt begins


def tell(row: dict[str, Any]) -> None:
    with LOCK:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def outcome(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "timeout"
    return "reset" if isinstance(error, ConnectionError) else "error"


def attempt(task: dict[str, Any], kind: str, path: str, patience: float) -> None:
    row: dict[str, Any] = {"cell": task["cell"], "kind": kind, "start": time.time(), "connected": None, "outcome": "ok"}
    connection = http.client.HTTPConnection(task["host"], task["port"], timeout=patience)
    try:
        connection.connect()
        row["connected"], row["port"] = time.time(), connection.sock.getsockname()[1]
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        response.read()
        row["outcome"] = "ok" if response.status == 200 else "http-error"
    except (OSError, http.client.HTTPException) as error:
        row["outcome"], row["detail"] = outcome(error), repr(error)[:120]
    finally:
        connection.close()
    row["end"] = time.time()
    tell(row)


def steady(task: dict[str, Any], kind: str, path: str, patience: float, every: float) -> None:
    last = task["at"] + task["drained"]
    due = last - BEFORE - every * int((task["drained"] + 1.0 - BEFORE) / every)
    threads = []
    while due < last:
        wait = due - time.time()
        if wait > 0:
            time.sleep(wait)
        if time.time() < last:
            threads.append(threading.Thread(target=attempt, args=(task, kind, path, patience)))
            threads[-1].start()
        due += every
    for thread in threads:
        thread.join()


def hold(task: dict[str, Any]) -> None:
    """One connection from before the delete until the process at its other end is gone."""
    row: dict[str, Any] = {"cell": task["cell"], "kind": "held", "start": time.time(), "end": None, "outcome": "ok"}
    try:
        with socket.create_connection((task["host"], task["held"]), 3.0) as sock:
            sock.settimeout(max(0.1, task["until"] - time.time()))
            if sock.recv(1):
                raise OSError("bytes that were not asked for")
            row["end"] = time.time()
    except ConnectionResetError:
        row["end"] = time.time()
    except OSError as error:
        row["outcome"], row["detail"] = outcome(error), repr(error)[:120]
    tell(row)


def main() -> None:
    threads = []
    for line in sys.stdin:
        task = json.loads(line)
        long = f"/slow?seconds={task['longest']:g}"
        threads.append(threading.Thread(target=steady, args=(task, "new", "/hostname", 3.0, 0.2)))
        threads.append(threading.Thread(target=steady, args=(task, "request", long, task["longest"] + 10, 0.5)))
        threads.append(threading.Thread(target=hold, args=(task,)))
        for thread in threads[-3:]:
            thread.start()
    for thread in threads:
        thread.join()
    tell({"kind": "end"})


if __name__ == "__main__":
    main()
