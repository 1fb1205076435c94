"""The forwarder carries both directions over a socket that it was handed, and passes ends on."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading

from svcpath_lab.netns import forwarder


def _shout(listener: socket.socket) -> None:
    """Answer each connection with what it sent, in upper case, once it has sent all."""
    for _ in range(2):
        connection, _ = listener.accept()
        with connection:
            received = b""
            while data := connection.recv(1024):
                received += data
            connection.sendall(received.upper())


def test_what_is_sent_arrives_and_the_answer_comes_back() -> None:
    far = socket.create_server(("127.0.0.1", 0))
    near = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_shout, args=(far,), daemon=True)
    thread.start()
    port = near.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-I", forwarder.__file__, str(near.fileno()), "127.0.0.1", str(far.getsockname()[1])],
        pass_fds=[near.fileno()],
    )
    near.close()
    try:
        for text in (b"one", b"x" * 300_000):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                answer = b""
                while data := client.recv(65536):
                    answer += data
            assert answer == text.upper()
        thread.join(5)
        far.close()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            assert client.recv(1) == b"", "with nothing behind it the connection is closed"
    finally:
        process.kill()
        process.wait()
        far.close()
