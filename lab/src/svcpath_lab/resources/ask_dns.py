"""ask_dns NAME ADDRESS:PORT...: what each of these DNS servers answers for the name's addresses, one line each:

ADDRESS:PORT RCODE ADDRESS...

RCODE is DNS's number (RFC 1035 section 4.1.1), or "silent" where nothing came. One question of a type to a server, no
search list, no second try: this is no resolver.
"""

import ipaddress
import os
import socket
import struct
import sys

SECONDS = 2.0


def question(name: str, kind: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split("."))
    return os.urandom(2) + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def past_name(reply: bytes, at: int) -> int:
    """Where the name that begins at ``at`` ends: at its zero, or behind a pointer (RFC 1035 section 4.1.4)."""
    while reply[at]:
        if reply[at] >= 0xC0:
            return at + 2
        at += 1 + reply[at]
    return at + 1


def addresses(reply: bytes) -> list[str]:
    questions, answers = struct.unpack(">HH", reply[4:8])
    at = 12
    for _ in range(questions):
        at = past_name(reply, at) + 4
    found = []
    for _ in range(answers):
        at = past_name(reply, at)
        kind, _, _, length = struct.unpack(">HHIH", reply[at : at + 10])
        at += 10
        if kind in (1, 28):
            found.append(str(ipaddress.ip_address(reply[at : at + length])))
        at += length
    return found


def ask(name: str, host: str, port: int) -> str:
    found: list[str] = []
    code = 0
    for kind in (1, 28):
        asked = question(name, kind)
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(SECONDS)
            sock.connect((host, port))
            sock.send(asked)
            reply = sock.recv(4096)
            while reply[:2] != asked[:2]:
                reply = sock.recv(4096)
        code = code or reply[3] & 15
        found += addresses(reply)
    return " ".join((str(code), *found))


for server in sys.argv[2:]:
    host, _, port = server.rpartition(":")
    try:
        answer = ask(sys.argv[1], host, int(port))
    except OSError:
        answer = "silent"
    sys.stdout.write(f"{server} {answer}\n")
