"""A Kubernetes API server that lists and watches the few kinds CoreDNS asks for. Its objects never change."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KINDS = {
    "/api/v1/services": ("ServiceList", "v1", "Service"),
    "/api/v1/namespaces": ("NamespaceList", "v1", "Namespace"),
    "/api/v1/pods": ("PodList", "v1", "Pod"),
    "/apis/discovery.k8s.io/v1/endpointslices": ("EndpointSliceList", "discovery.k8s.io/v1", "EndpointSlice"),
}
END_OF_LIST = {"k8s.io/initial-events-end": "true"}


class FakeApi:
    """Serves until it is closed; ``objects`` by path of :data:`KINDS`."""

    def __init__(self, objects: dict[str, list[dict[str, Any]]]) -> None:
        self.closing = threading.Event()
        outer = self

        class Handler(_Handler):
            api = outer

        self.objects = objects
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: FakeApi

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        if parts.path == "/version":
            self._json({"major": "1", "minor": "35", "gitVersion": "v1.35.0"})
        elif parts.path not in KINDS:
            self._json({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}, 404)
        elif "watch" in query:
            self._watch(parts.path, initial=query.get("sendInitialEvents") == ["true"])
        else:
            kind, version, _ = KINDS[parts.path]
            items = self._selected(parts.path, query)
            self._json({"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "7"}, "items": items})

    def _selected(self, path: str, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        """The API server selects by labels; CoreDNS relies on that."""
        return [item for item in self.api.objects[path] if _selects(query.get("labelSelector", [""])[0], item)]

    def _json(self, document: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, path: str, *, initial: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            if initial:
                for item in self._selected(path, parse_qs(urlsplit(self.path).query)):
                    self._event("ADDED", item)
                _, version, kind = KINDS[path]
                metadata = {"resourceVersion": "7", "annotations": END_OF_LIST}
                self._event("BOOKMARK", {"kind": kind, "apiVersion": version, "metadata": metadata})
            self.api.closing.wait(300)
        except OSError:
            return

    def _event(self, kind: str, item: dict[str, Any]) -> None:
        body = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        self.wfile.flush()


def _selects(selector: str, item: dict[str, Any]) -> bool:
    labels = item["metadata"].get("labels", {})
    for term in filter(None, selector.split(",")):
        if "!=" in term:
            key, _, value = term.partition("!=")
            if labels.get(key) == value:
                return False
        elif "=" in term:
            key, _, value = term.partition("=")
            if labels.get(key) != value.lstrip("="):
                return False
        elif term.startswith("!"):
            if term[1:] in labels:
                return False
        elif term not in labels:
            return False
    return True
