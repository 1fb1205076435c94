"""request URL [COUNT [SECONDS]]: that many GET requests, each on a connection of its own
and none longer than SECONDS (60), one line per request:

TIME URL BODY code=STATUS exit=0 remote=ADDRESS:PORT connect=SECONDS total=SECONDS
TIME URL ERROR code=000 exit=NUMBER remote=:0 connect=0 total=SECONDS

Exit numbers are curl's: 6 no address, 7 no connection, 28 timeout, 56 broken reply.
"""

import http.client
import socket
import sys
import time
import urllib.parse

LIMIT = float(sys.argv[3]) if len(sys.argv) > 3 else 60.0


def once(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    began = time.time()
    connected = 0.0
    remote, text, status, code = ":0", "", "000", 0
    try:
        sock = socket.create_connection((parts.hostname, parts.port or 80), timeout=min(3.0, LIMIT))
        connected = time.time() - began
        host, port = sock.getpeername()[:2]
        remote = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        sock.settimeout(LIMIT)
        client = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
        client.sock = sock
        client.request("GET", parts.path + ("?" + parts.query if parts.query else ""), headers={"Connection": "close"})
        reply = client.getresponse()
        text, status = reply.read().decode("utf-8", "replace").strip(), f"{reply.status:03d}"
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
