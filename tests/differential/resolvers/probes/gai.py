"""One socket.getaddrinfo call, its result as one line of JSON."""

import json
import socket
import sys

try:
    found = socket.getaddrinfo(sys.argv[1], None, type=socket.SOCK_STREAM)
    result = {"ok": True, "addrs": [entry[4][0] for entry in found]}
except OSError as error:
    result = {"ok": False, "code": error.errno, "err": f"{type(error).__name__}: {error}"}
except UnicodeError as error:
    result = {"ok": False, "err": f"UnicodeError: {error}"}
sys.stdout.write(json.dumps(result) + "\n")
