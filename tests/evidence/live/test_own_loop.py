"""A connection that the server never says good-bye on is closed when the cluster is: none outlives its loop."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from svcpath.errors import SourceUnavailable
from svcpath.evidence.sources.kube import ClusterSource
from svcpath.evidence.sources.kube_client import Access
from svcpath_lab.netns.pki import Authority


@contextmanager
def silent_at_the_end(context: ssl.SSLContext | None, answer: bytes) -> Iterator[tuple[int, list[socket.socket]]]:
    """A server that answers every request and then neither reads nor closes: (port, the connections it holds)."""
    connections: list[socket.socket] = []
    with ExitStack() as end:
        listening = end.enter_context(socket.create_server(("127.0.0.1", 0)))
        stopping = threading.Event()
        listening.settimeout(0.1)

        def serve() -> None:
            while not stopping.is_set():
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                connection.settimeout(5)
                if context is not None:
                    connection = context.wrap_socket(connection, server_side=True)
                connections.append(end.enter_context(connection))
                connection.recv(65536)
                if answer:
                    connection.sendall(answer)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        end.callback(server.join, 5)
        end.callback(stopping.set)
        yield listening.getsockname()[1], connections


def kubeconfig(folder: Path, server: str) -> Access:
    path = folder / "kubeconfig"
    cluster = {"server": server, **({"insecure-skip-tls-verify": True} if server.startswith("https") else {})}
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "here",
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )
    return Access(kubeconfig=str(path), timeout=2)


BODY = b'{"gitVersion": "v1.35.4"}'
ANSWERS = {
    "closes after the answer": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
    % (len(BODY), BODY),
    "keeps the connection": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY),
    "breaks off": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + BODY,
    "never answers": b"",
}


def server_context(folder: Path) -> ssl.SSLContext:
    pair = Authority(folder).ensure().issue("server", "server", alternatives=["IP:127.0.0.1"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    return context


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_connection_outlives_the_cluster(scheme: str, answer: bytes, tmp_path: Path) -> None:
    if scheme == "https" and shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine to make a certificate with")
    context = server_context(tmp_path / "pki") if scheme == "https" else None
    with silent_at_the_end(context, answer) as (port, connections):
        try:
            ClusterSource(kubeconfig(tmp_path, f"{scheme}://127.0.0.1:{port}")).close()
        except SourceUnavailable:
            assert answer is ANSWERS["never answers"] or answer is ANSWERS["breaks off"]
        assert connections
        for connection in connections:
            connection.settimeout(5)
            assert _ended(connection), "the client's socket is still open"


def _ended(connection: socket.socket) -> bool:
    """Whether the other end closed; a TLS alert or what is left of a request may come first."""
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True
