"""Requests one after the other: on a connection that is kept (HTTP, WebSocket, gRPC), and datagrams."""

from __future__ import annotations

import base64
import http.client
import os
import select
import socket
import struct
import time

from svcpath.drain.sampler.rows import To, blank, outcome_of, peer


def keepalive(rate: float, to: To, path: str) -> None:
    """One connection, a request at every due time; a broken one is opened again by the next request."""
    kept: http.client.HTTPConnection | None = None
    for due in to.due(rate):
        row, notes = blank("keepalive", due), []
        closing = False
        try:
            if kept is None:
                kept = http.client.HTTPConnection(to.host, to.port, timeout=to.timeout)
                row["opened"] = True
                notes.append("opened")
                kept.connect()
                kept.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            row["connected"] = time.time()
            kept.request("GET", path)
            response = kept.getresponse()
            row["status"], body = response.status, response.read(1)
            row["first"] = time.time()
            body += response.read()
            row["outcome"], row["peer"] = "http-error" if response.status >= 400 else "ok", peer(body, to.host)
            if response.will_close:
                closing = True
                notes.insert(0, "server closes")
        except (OSError, http.client.HTTPException) as error:
            row["outcome"] = outcome_of(error, row["connected"] is not None)
            notes.insert(0, str(error)[:120])
        row["end"], row["detail"] = time.time(), " ".join(notes)
        if kept is not None and (row["outcome"] not in ("ok", "http-error") or closing):
            kept.close()
            kept = None
        to.out.write(row)
    if kept is not None:
        kept.close()


class WebSocket:
    """A client's end of RFC 6455: text messages, one frame each."""

    def __init__(self, host: str, port: int, path: str, timeout: float) -> None:
        self.sock = socket.create_connection((host, port), timeout)
        self.file = self.sock.makefile("rb")
        try:
            self.upgrade(host, port, path)
        except BaseException:
            self.close()
            raise

    def upgrade(self, host: str, port: int, path: str) -> None:
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {path} HTTP/1.1\r\nHost: {'[' + host + ']' if ':' in host else host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.sock.sendall(f"{head}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        status = self.file.readline().split()
        while self.file.readline() not in (b"\r\n", b"\n", b""):
            pass
        if len(status) < 2 or status[1] != b"101":
            raise http.client.HTTPException(f"no upgrade to a WebSocket: {b' '.join(status)[:80]!r}")

    def send(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        body = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.sock.sendall(bytes((0x80 | kind, 0x80 | len(data))) + mask + body)

    def receive(self) -> tuple[int, bytes]:
        """The next frame that is no ping. Raises ConnectionResetError when the peer is gone."""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                raise ConnectionResetError("the connection ended without a Close")
            length = head[1] & 127
            if length >= 126:
                form = "!H" if length == 126 else "!Q"
                (length,) = struct.unpack(form, self.file.read(struct.calcsize(form)))
            data = self.file.read(length)
            if head[0] & 15 != 9:
                return head[0] & 15, data
            self.send(10, data)

    def going(self) -> bool:
        """Whether the server said Close (then it is answered) since the last message."""
        if not select.select([self.sock], [], [], 0)[0]:
            return False
        kind, data = self.receive()
        if kind == 8:
            self.send(8, data[:2])
        return kind == 8

    def close(self) -> None:
        self.file.close()
        self.sock.close()


def websocket(rate: float, to: To, path: str) -> None:
    """A message at every due time on one connection. One that the server closed in order is opened again; a message that
    crossed its Close (RFC 6455, 5.5.1) has no answer and is sent again, once."""
    kept: WebSocket | None = None
    for due in to.due(rate):
        row, notes = blank("websocket", due), []
        again = False
        try:
            if kept is not None and kept.going():
                kept.close()
                kept = None
                notes.append("server closed")
            while not row["first"]:
                if kept is None:
                    kept = WebSocket(to.host, to.port, path, to.timeout)
                    row["opened"] = True
                    notes.append("opened")
                row["connected"] = time.time()
                kept.send(1, b"sample")
                kind, data = kept.receive()
                if kind != 8:
                    row["first"] = time.time()
                    row["peer"] = peer(data, to.host)
                elif again:
                    raise ConnectionResetError("closed twice instead of an answer")
                else:
                    kept.close()
                    kept = None
                    again = True
                    notes.append("sent again")
        except (OSError, http.client.HTTPException) as error:
            row["outcome"] = outcome_of(error, row["connected"] is not None)
            notes = [str(error)[:120]]
            if kept is not None:
                kept.close()
            kept = None
        row["end"], row["detail"] = time.time(), ", ".join(notes)
        to.out.write(row)
    if kept is not None:
        kept.close()


def grpc_calls(rate: float, to: To, method: str) -> None:
    """An empty unary call at every due time on one channel, which reconnects by itself as every gRPC client does."""
    os.environ.setdefault("GRPC_DNS_RESOLVER", "native")
    import grpc

    with grpc.insecure_channel(f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}") as channel:
        call = channel.unary_unary(method)
        for due in to.due(rate):
            row = blank("grpc", due)
            try:
                data = call(b"", timeout=to.timeout)
                row["connected"] = row["first"] = time.time()
                word = data.split()[0].decode("ascii", "replace") if data.split() else ""
                row["peer"] = word[:80] if word.isprintable() and "\ufffd" not in word and word else to.host
            except grpc.RpcError as error:
                code = error.code().name if isinstance(error, grpc.Call) else "UNKNOWN"
                row["outcome"] = {"DEADLINE_EXCEEDED": "timeout", "UNAVAILABLE": "cut"}.get(code, "error")
                row["detail"] = f"{code} {error.details() if isinstance(error, grpc.Call) else error}"[:120]
                if "refused" in row["detail"]:
                    row["outcome"] = "refused"
            row["end"] = time.time()
            to.out.write(row)


def udp(rate: float, to: To, port: int) -> None:
    """One datagram a time from a new source port each, and its echo."""
    for due in to.due(rate):
        row = blank("udp", due)
        try:
            family, kind, proto, _, address = socket.getaddrinfo(to.host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, proto) as sock:
                sock.settimeout(to.timeout)
                sock.connect(address)
                sock.send(b"sample")
                data = sock.recv(2048)
                row["first"] = time.time()
                row["peer"] = peer(data, "")
        except OSError as error:
            row["outcome"], row["detail"] = outcome_of(error, False), str(error)[:120]
        row["end"] = time.time()
        to.out.write(row)
