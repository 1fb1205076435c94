"""request URL [COUNT [SECONDS]]: that many GET requests, each on a connection of its own
and none longer than SECONDS (60), one line per request:

TIME URL BODY code=STATUS exit=0 remote=ADDRESS:PORT connect=SECONDS total=SECONDS
TIME URL ERROR code=000 exit=NUMBER remote=:0 connect=0 total=SECONDS

Exit numbers are curl's: 6 no address, 7 no connection, 28 timeout, 56 broken reply.
"""

import http.client
import socket
import sys
import threading
import time
import urllib.parse

LIMIT = float(sys.argv[3]) if len(sys.argv) > 3 else 60.0


def resolved(host: str, port: int) -> list[tuple[str, int]]:
    """The addresses that this libc gives, in its order, in LIMIT seconds or never."""

    outcome: list[object] = []

    def look_up() -> None:
        try:
            outcome.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(LIMIT)
    found = outcome[0] if outcome else socket.gaierror(socket.EAI_AGAIN, f"no answer within {LIMIT:g} s")
    if isinstance(found, OSError):
        raise found
    assert isinstance(found, list)
    return [(str(entry[4][0]), port) for entry in found]


def connected_to(addresses: list[tuple[str, int]]) -> socket.socket:
    """A connection to the first of them that takes one."""
    last: OSError | None = None
    for address in addresses:
        try:
            return socket.create_connection(address, timeout=min(3.0, LIMIT))
        except OSError as error:
            last = error
    raise last or OSError("no address")


def one_line(body: bytes) -> str:
    """The first words of an answer: a page or a list of files must not break the line."""
    return " ".join(body.decode("utf-8", "replace").split())[:200]


def once(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    began = time.time()
    connected = 0.0
    remote, text, status, code = ":0", "", "000", 0
    try:
        addresses = resolved(parts.hostname or "", parts.port or 80)
        began_connecting = time.time()
        sock = connected_to(addresses)
        connected = time.time() - began_connecting
        host, port = sock.getpeername()[:2]
        remote = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        sock.settimeout(LIMIT)
        client = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
        client.sock = sock
        client.request("GET", parts.path + ("?" + parts.query if parts.query else ""), headers={"Connection": "close"})
        reply = client.getresponse()
        text, status = one_line(reply.read()), f"{reply.status:03d}"
        client.close()
    except socket.gaierror as error:
        text, code = f"error {error.errno} {error.strerror}", 6
    except TimeoutError:
        text, code = "timed out", 28
    except (http.client.HTTPException, ConnectionResetError) as error:
        text, code = f"{type(error).__name__} {error}", 56
    except OSError as error:
        text, code = f"{error.strerror or error}", 56 if connected else 7
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(began)) + f".{int(began * 1000) % 1000:03d}Z"
    total = time.time() - began
    line = f"{stamp} {url} {text} code={status} exit={code} remote={remote} connect={connected:.6f} total={total:.6f}"
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    once(sys.argv[1])
