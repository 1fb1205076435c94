"""/proc/net/{tcp,tcp6,udp,udp6} as a kernel prints them: net/ipv4/tcp_ipv4.c, net/ipv6/tcp_ipv6.c, net/ipv4/udp.c."""

from __future__ import annotations

import ipaddress

_NARROW = "sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
_WIDE = (
    "sl  local_address                         remote_address                        "
    "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)
#: The kernel's own header lines: an empty table is told by nothing else.
HEADERS = {
    "tcp": f"  {_NARROW}",
    "tcp6": f"  {_WIDE}",
    "udp": f"   {_NARROW} ref pointer drops",
    "udp6": f"  {_WIDE} ref pointer drops",
}


def proc_net(table: str, sockets: list[tuple[str, str, int]]) -> str:
    """/proc/net/TABLE with those of ``sockets`` (protocol, address, port) that it would hold."""
    lines = [HEADERS[table]]
    for protocol, address, number in sockets:
        wide = ":" in address
        if table != protocol + ("6" if wide else ""):
            continue
        packed = ipaddress.ip_address(address).packed
        local = "".join(packed[i : i + 4][::-1].hex().upper() for i in range(0, len(packed), 4))
        state = "0A" if protocol == "tcp" else "07"
        lines.append(
            f"{len(lines) - 1:4}: {local}:{number:04X} {'0' * len(local)}:0000 {state} 00000000:00000000 00:00000000 "
            f"00000000     0        0 {40000 + number} 1 0000000000000000 100 0 0 10 0"
        )
    return "\n".join(lines) + "\n"
