"""`ipvsadm -Sn`, `ipvsadm-save -n`: the same table as the commands that make it.

ipvsadm.c (print_service_entry with FMT_RULE): ``-A -t ADDRESS:PORT -s SCHEDULER [-p SECONDS] [-M MASK] [-o]`` makes a
virtual server, ``-a -t ADDRESS:PORT -r SERVER -m -w WEIGHT`` gives it a real one.
"""

from __future__ import annotations

from itertools import pairwise

_PROTOCOLS = {"-t": "TCP", "-u": "UDP", "--sctp-service": "SCTP", "-f": "FWM"}
_FORWARDS = {"-m": "Masq", "-g": "Route", "-i": "Tunnel"}


def as_listed(line: str) -> list[str] | None:
    """The words that `ipvsadm -Ln` prints for the same: None for a line that is no such command."""
    words = line.split()
    if len(words) < 3 or words[0] not in ("-A", "-a") or words[1] not in _PROTOCOLS:
        return None
    rest = words[3:]
    named = dict(pairwise(rest))
    if words[0] == "-A":
        persistence = ["persistent", named["-p"]] if "-p" in named else []
        return [_PROTOCOLS[words[1]], words[2], named.get("-s", "wlc"), *persistence]
    forward = next((name for option, name in _FORWARDS.items() if option in rest), "Route")
    return ["->", named.get("-r", ""), forward, named.get("-w", "1"), "0", "0"]
