"""Runs inside a network namespace: serves on backend addresses, or sends probes. Spoken to by lines of JSON.

As a server it answers every connection and datagram with the address it was reached at and the address it saw. As a
client it reports for each probe what came back: that answer, "refused", or "silence".
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def serve(addresses: list[str], ports: list[int]) -> None:
    selector = selectors.DefaultSelector()
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        for port in ports:
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(512)
            listener.setblocking(False)
            selector.register(listener, selectors.EVENT_READ, ("tcp", address, port))
            datagrams = socket.socket(family, socket.SOCK_DGRAM)
            datagrams.bind((address, port))
            datagrams.setblocking(False)
            selector.register(datagrams, selectors.EVENT_READ, ("udp", address, port))
    say("ready")
    while True:
        for key, _ in selector.select():
            protocol, address, port = key.data
            sock = key.fileobj
            assert isinstance(sock, socket.socket)
            try:
                if protocol == "tcp":
                    connection, peer = sock.accept()
                    connection.sendall(json.dumps([address, port, peer[0]]).encode())
                    connection.close()
                else:
                    _, peer = sock.recvfrom(512)
                    sock.sendto(json.dumps([address, port, peer[0]]).encode(), peer)
            except OSError:
                continue


def probe(requests: list[dict[str, object]], patience: float) -> list[object]:
    """All at once; whatever has not answered when ``patience`` is over is silence."""
    selector = selectors.DefaultSelector()
    answers: list[object] = ["silence"] * len(requests)
    for number, request in enumerate(requests):
        source, address, port = str(request["source"]), str(request["address"]), int(str(request["port"]))
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        tcp = request["protocol"] == "TCP"
        sock = socket.socket(family, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
        sock.setblocking(False)
        try:
            sock.bind((source, 0))
            sock.connect((address, port))
            if not tcp:
                sock.send(b"?")
        except (BlockingIOError, PermissionError):
            pass  # EPERM: a rule on the way out took the datagram; whether it rejected shows below
        except ConnectionRefusedError:
            answers[number] = "refused"
            continue
        except OSError as error:
            answers[number] = f"error {error.errno}"
            continue
        selector.register(sock, selectors.EVENT_READ, number)
    deadline = time.monotonic() + patience
    while selector.get_map() and (left := deadline - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            ready = key.fileobj
            assert isinstance(ready, socket.socket)
            try:
                data = ready.recv(512)
                answers[key.data] = json.loads(data) if data else "closed"
            except ConnectionRefusedError:
                answers[key.data] = "refused"
            except BlockingIOError:
                continue
            except OSError as error:
                answers[key.data] = f"error {error.errno}"
            selector.unregister(ready)
            ready.close()
    for key in list(selector.get_map().values()):
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.close()
    return answers


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "serve" in order:
            serve(order["serve"], order["ports"])
        else:
            say(json.dumps(probe(order["probe"], order["patience"])))


if __name__ == "__main__":
    main()
