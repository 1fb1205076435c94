"""The client's side of the grid: it plays the load balancer that goes on sending for D seconds after each delete.

Reads one JSON object a line from standard input, {"cell", "host", "port", "at", "drained", "longest"}, and for each tries
new connections every 0.2 s and starts a long request every 0.5 s, from 1 s before ``at`` until ``drained`` seconds after.
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
    due = task["at"] - 1.0
    threads = []
    while due < task["at"] + task["drained"]:
        wait = due - time.time()
        if wait > 0:
            time.sleep(wait)
        if time.time() < task["at"] + task["drained"]:
            threads.append(threading.Thread(target=attempt, args=(task, kind, path, patience)))
            threads[-1].start()
        due += every
    for thread in threads:
        thread.join()


def main() -> None:
    threads = []
    for line in sys.stdin:
        task = json.loads(line)
        long = f"/slow?seconds={task['longest']:g}"
        threads.append(threading.Thread(target=steady, args=(task, "new", "/hostname", 3.0, 0.2)))
        threads.append(threading.Thread(target=steady, args=(task, "request", long, task["longest"] + 10, 0.5)))
        for thread in threads[-2:]:
            thread.start()
    for thread in threads:
        thread.join()
    tell({"kind": "end"})


if __name__ == "__main__":
    main()
