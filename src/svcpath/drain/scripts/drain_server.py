"""A server whose way of stopping is chosen: what the grid and the scenarios drain.

GET /hostname, GET /slow?seconds=S, GET /stream?seconds=S (chunked, a line each 0.2 s), GET /healthz, POST /healthz?ok=false,
GET /websocket (RFC 6455: every message is answered with the host's name).
Environment: PORT, ON_STOP exit | finish | ignore | none (no handler at all: as PID 1 the kernel drops the signal),
SHUTDOWN seconds between the last request and the end, UPSTREAM host:port (then it is a TCP proxy), MAX_AGE seconds after
which a kept connection is closed (0: never; a WebSocket with Close 1001). Every line of its log begins with the time in seconds since the epoch.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse

HOST = socket.gethostname()
STATE = {"healthy": True, "stopping": False}
ACTIVE: set[int] = set()
LOCK = threading.Lock()
MAX_AGE = float(os.environ.get("MAX_AGE", "0"))


def say(text: str) -> None:
    sys.stdout.write(f"{time.time():.6f} {text}\n")
    sys.stdout.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.since = time.monotonic()

    def answer(self, status: int, text: str) -> None:
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if STATE["stopping"] or (MAX_AGE and time.monotonic() - self.since > MAX_AGE):
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        seconds = float(urllib.parse.parse_qs(url.query).get("seconds", ["1"])[0])
        with LOCK:
            ACTIVE.add(id(self))
        if url.path != "/healthz":
            say(f"accepted {self.client_address[0]} {self.client_address[1]} {url.path}")
        try:
            if url.path == "/healthz":
                self.answer(200 if STATE["healthy"] else 503, HOST)
            elif url.path == "/slow":
                time.sleep(seconds)
                self.answer(200, HOST)
                say(f"done slow {seconds:g} {self.client_address[1]}")
            elif url.path == "/stream":
                self.stream(seconds)
            elif url.path == "/websocket":
                self.websocket()
            else:
                self.answer(200, HOST)
        finally:
            with LOCK:
                ACTIVE.discard(id(self))

    def stream(self, seconds: float) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        until = time.monotonic() + seconds
        line = f"{HOST}\n".encode()
        while time.monotonic() < until and not STATE["stopping"]:
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
            time.sleep(0.2)
        self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def websocket(self) -> None:
        """Answers each message. When the connection is too old or the server stops it says Close 1001 (going away), right
        behind an answer, so that it crosses no message; without messages for a second it says so anyway."""
        key = self.headers.get("Sec-WebSocket-Key", "").encode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        self.send_header("Sec-WebSocket-Accept", accept.decode())
        self.end_headers()
        self.close_connection = True
        closing, answered, heard = False, False, time.monotonic()
        while True:
            over = STATE["stopping"] or (MAX_AGE and time.monotonic() - self.since > MAX_AGE)
            if over and not closing and (answered or time.monotonic() - heard > 1):
                self.frame(8, struct.pack("!H", 1001))
                closing = True
            answered = False
            if not select.select([self.connection], [], [], 2.0 if closing else 0.1)[0]:
                if closing:
                    return
                continue
            head = self.rfile.read(2)
            if len(head) < 2:
                return
            length = head[1] & 127
            if length == 126:
                (length,) = struct.unpack("!H", self.rfile.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.rfile.read(8))
            mask = self.rfile.read(4) if head[1] & 128 else bytes(4)
            data = bytes(byte ^ mask[place % 4] for place, byte in enumerate(self.rfile.read(length)))
            kind = head[0] & 15
            if kind == 8:
                if not closing:
                    self.frame(8, data)
                return
            if kind == 9:
                self.frame(10, data)
            elif kind in (1, 2) and not closing:
                self.frame(1, f"{HOST}\n".encode())
                answered, heard = True, time.monotonic()

    def frame(self, kind: int, data: bytes) -> None:
        """One unmasked frame of fewer than 126 bytes, whole."""
        self.wfile.write(bytes((0x80 | kind, len(data))) + data)
        self.wfile.flush()

    def do_POST(self) -> None:
        STATE["healthy"] = "ok=false" not in self.path
        self.answer(200, str(STATE["healthy"]))

    def log_message(self, form: str, *values: object) -> None:
        """Requests are logged when they begin: what is cut never reaches its end."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    address_family = socket.AF_INET6 if os.path.exists("/proc/net/if_inet6") else socket.AF_INET

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = HOST, self.server_address[1]


def end(after: float) -> None:
    if after:
        time.sleep(after)
    say("end")
    os._exit(0)


def finish(server: Server, after: float) -> None:
    server.shutdown()
    server.socket.close()
    while True:
        with LOCK:
            if not ACTIVE:
                break
        time.sleep(0.02)
    end(after)


def pipe(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()


def proxy(port: int, upstream: str) -> None:
    """A TCP proxy that accepts and connects onward; it holds nothing back."""
    host, _, number = upstream.rpartition(":")
    listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    say("ready")
    while True:
        inner, _ = listener.accept()
        try:
            outer = socket.create_connection((host, int(number)), 5)
        except OSError:
            inner.close()
            continue
        threading.Thread(target=pipe, args=(inner, outer), daemon=True).start()
        threading.Thread(target=pipe, args=(outer, inner), daemon=True).start()


def main() -> None:
    port, on_stop = int(os.environ.get("PORT", "8080")), os.environ.get("ON_STOP", "finish")
    after = float(os.environ.get("SHUTDOWN", "0"))
    server = (
        Server(("::" if Server.address_family == socket.AF_INET6 else "0.0.0.0", port), Handler)
        if not os.environ.get("UPSTREAM")
        else None
    )

    def stop(number: int, _: object) -> None:
        say(f"signal {signal.Signals(number).name}")
        if on_stop == "ignore":
            return
        STATE["stopping"] = True
        if on_stop == "exit" or server is None:
            if server is not None:
                server.socket.close()
            threading.Thread(target=end, args=(after,)).start()
        else:
            threading.Thread(target=finish, args=(server, after)).start()

    if on_stop != "none":
        signal.signal(signal.SIGTERM, stop)
    if server is None:
        threading.Thread(target=proxy, args=(port, os.environ["UPSTREAM"]), daemon=True).start()
        while True:
            time.sleep(0.05)  # a pause() that another thread's signal does not wake would never run the handler
    say("ready")
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    while True:
        time.sleep(0.05)


if __name__ == "__main__":
    main()
