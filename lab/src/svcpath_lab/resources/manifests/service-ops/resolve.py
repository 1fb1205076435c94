"""resolve NAME...: what the libc under this Python (glibc in the tools image) gives for each name, one line each."""

import socket
import sys

failed = 0
for name in sys.argv[1:]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        failed = 1
        sys.stdout.write(f"{name} -> {error.errno} {error.strerror}\n")
    else:
        sys.stdout.write(f"{name} -> {' '.join(str(entry[4][0]) for entry in found)}\n")
sys.exit(failed)
