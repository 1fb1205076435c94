"""The echo server of the lab, in the standard library alone.

GET  /hostname            the Pod's host name
GET  /slow?seconds=S      the host name after S seconds
GET  /healthz             200 or 503, as the switch stands
POST /healthz?ok=false    turns the switch (ok=true turns it back)
GET  /stats               requests under way, connections accepted

Environment:
PORT       where it listens (8080)
BIND       the address it binds: "::" takes both families, "0.0.0.0" IPv4 alone, "127.0.0.1" the Pod alone ("::")
ON_STOP    what SIGTERM does: "exit" at once, "finish" what it has accepted, then exit, "ignore" (finish)
SERVICE    "answer", "silent" (accepts and never answers), "full" (a backlog of one that nothing takes from) (answer)
EXTRA_PORT also serves HTTP there (off)
UDP_PORT   also echoes datagrams there, prefixed with the host name (off)
"""

import http.server
import os
import signal
import socket
import sys
import threading
import time
import urllib.parse

HOST = socket.gethostname()
STATE = {"healthy": True, "under_way": 0, "accepted": 0, "stopping": False}
LOCK = threading.Lock()


def say(text: str) -> None:
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
    sys.stdout.write(f"{stamp} {text}\n")
    sys.stdout.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, text: str) -> None:
        body = text.encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        if STATE["stopping"]:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        with LOCK:
            STATE["under_way"] += 1
        try:
            if url.path == "/slow":
                asked = urllib.parse.parse_qs(url.query).get("seconds", ["1"])[0]
                say(f"slow {asked} from {self.client_address[0]}")
                time.sleep(float(asked))
                self.reply(200, HOST)
                say(f"slow {asked} done")
            elif url.path == "/healthz":
                self.reply(200 if STATE["healthy"] else 503, "ok" if STATE["healthy"] else "switched off")
            elif url.path == "/stats":
                self.reply(200, f"under_way={STATE['under_way'] - 1} accepted={STATE['accepted']}")
            elif url.path in ("/", "/hostname"):
                self.reply(200, HOST)
            else:
                self.reply(404, "no such path")
        finally:
            with LOCK:
                STATE["under_way"] -= 1

    def do_POST(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        if url.path != "/healthz":
            self.reply(404, "no such path")
            return
        STATE["healthy"] = urllib.parse.parse_qs(url.query).get("ok", ["true"])[0] == "true"
        say(f"healthz switched to {STATE['healthy']}")
        self.reply(200, str(STATE["healthy"]))

    def log_message(self, form: str, *values: object) -> None:
        if "/healthz" not in str(values[:1]):
            say(f"{self.client_address[0]} {form % values}")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, bind: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        super().__init__((bind, port), Handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object) -> None:
        with LOCK:
            STATE["accepted"] += 1
        super().process_request(request, client_address)


def hold(bind: str, port: int, accepting: bool) -> None:
    """Listen without ever answering; without accepting, the kernel's queue of one fills and SYNs are dropped."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind((bind, port))
    listener.listen(128 if accepting else 0)
    connections = []
    while accepting:
        connections.append(listener.accept())
    filler = [socket.socket(family, socket.SOCK_STREAM) for _ in range(4)]
    for sock in filler:
        sock.setblocking(False)
        sock.connect_ex(("::1" if family == socket.AF_INET6 else "127.0.0.1", port))
    signal.pause()


def echo_datagrams(bind: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.bind((bind, port))
    while True:
        data, peer = sock.recvfrom(65535)
        sock.sendto(HOST.encode() + b" " + data, peer)


def main() -> None:
    bind = os.environ.get("BIND", "::")
    port = int(os.environ.get("PORT", "8080"))
    on_stop = os.environ.get("ON_STOP", "finish")
    service = os.environ.get("SERVICE", "answer")
    if os.environ.get("UDP_PORT"):
        threading.Thread(target=echo_datagrams, args=(bind, int(os.environ["UDP_PORT"])), daemon=True).start()
    if bind == "::" and not os.path.exists("/proc/net/if_inet6"):
        bind = "0.0.0.0"
    if service != "answer":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        say(f"listening on {bind} {port}, {service}")
        hold(bind, port, accepting=service == "silent")
        return
    server = Server(bind, port)
    if os.environ.get("EXTRA_PORT"):
        extra = Server(bind, int(os.environ["EXTRA_PORT"]))
        threading.Thread(target=extra.serve_forever, daemon=True).start()

    def stop(signal_number: int, _frame: object) -> None:
        say(f"signal {signal.Signals(signal_number).name}: {on_stop}")
        if on_stop == "exit":
            os._exit(0)
        if on_stop == "finish" and not STATE["stopping"]:
            STATE["stopping"] = True
            threading.Thread(target=finish, args=(server,), daemon=True).start()

    signal.signal(signal.SIGTERM, stop)
    say(f"listening on {bind} {port}")
    server.serve_forever(poll_interval=0.05)
    while STATE["under_way"]:
        time.sleep(0.02)
    say("finished")


def finish(server: Server) -> None:
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
