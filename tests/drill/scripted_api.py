"""An API server that plays a script: objects change all the time, watches are cut, old versions expire."""

from __future__ import annotations

import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Script:
    """The history of one collection. ``history`` holds (version, type, object) of every change ever made."""

    def __init__(self, seed: int, *, cuts: float = 0.0, keep: int = 10**9) -> None:
        self.random = random.Random(seed)
        self.cuts = cuts
        self.keep = keep
        self.condition = threading.Condition()
        self.version = 1
        self.alive: dict[str, dict[str, Any]] = {}
        self.history: list[tuple[int, str, dict[str, Any]]] = []
        self.expired = 0
        self.lists: set[int] = set()
        self.finished = False
        #: Nothing changes while it is set.
        self.resting = False

    def change(self) -> None:
        with self.condition:
            self.version += 1
            action = self.random.random()
            if not self.alive or action < 0.3:
                uid = f"u{self.version}"
                kind, obj = "ADDED", {"metadata": {"name": f"pod-{self.version}", "namespace": "shop", "uid": uid}}
            else:
                uid = self.random.choice(sorted(self.alive))
                kind = "DELETED" if action > 0.8 else "MODIFIED"
                obj = {"metadata": dict(self.alive[uid]["metadata"])}
            obj["metadata"]["resourceVersion"] = str(self.version)
            obj["status"] = {"phase": "Running"}
            if kind == "DELETED":
                del self.alive[uid]
            else:
                self.alive[uid] = obj
            self.history.append((self.version, kind, {"kind": "Pod", "apiVersion": "v1", **obj}))
            self.condition.notify_all()

    @property
    def oldest(self) -> int:
        return self.history[-self.keep][0] if len(self.history) > self.keep else 0

    def end(self) -> None:
        with self.condition:
            self.finished = True
            self.condition.notify_all()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        self.script = script
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parsed = urlsplit(self.path)
        query = parse_qs(parsed.query)
        if parsed.path == "/version":
            self._whole({"major": "1"})
        elif "watch" in query:
            self._watch(int(query["resourceVersion"][0]))
        else:
            script = self.server.script
            with script.condition:
                items = [{**one, "apiVersion": "v1", "kind": "Pod"} for one in script.alive.values()]
                script.lists.add(script.version)
                self._whole({"kind": "PodList", "metadata": {"resourceVersion": str(script.version)}, "items": items})

    def _whole(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, version: int) -> None:
        script = self.server.script
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if version < script.oldest:
            script.expired += 1
            self._line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
            return
        try:
            while not script.finished:
                with script.condition:
                    waiting = [one for one in script.history if one[0] > version]
                    if not waiting:
                        script.condition.wait(0.2)
                        continue
                for number, kind, obj in waiting:
                    self._line(kind, obj)
                    version = number
                    if script.random.random() < script.cuts:
                        # Half a line, then nothing: what a broken connection leaves.
                        self.wfile.write(b'{"type":"MODIFIED","object":{"meta')
                        return
            self._line("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version)}})
        except OSError:
            return

    def _line(self, kind: str, obj: Any) -> None:
        self.wfile.write(json.dumps({"type": kind, "object": obj}).encode() + b"\n")
        self.wfile.flush()


def play(script: Script, changes: int, every: float) -> threading.Thread:
    """Make changes beside; the thread ends after ``changes`` of them, or with the script."""

    def run() -> None:
        for _ in range(changes):
            if script.finished:
                return
            if not script.resting:
                script.change()
            time.sleep(0.2 if script.resting else every)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
