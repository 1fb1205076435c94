"""kube-proxy's iptables chain names, computed anew after a dump was renamed (pkg/proxy/iptables/proxier.go, v1.35)."""

from __future__ import annotations

import base64
import hashlib
import re


def _hash(text: str) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()[:16]


def service_chain(service_port: str, protocol: str, prefix: str = "KUBE-SVC-") -> str:
    return prefix + _hash(service_port + protocol)


def endpoint_chain(service_port: str, protocol: str, endpoint: str) -> str:
    return "KUBE-SEP-" + _hash(service_port + protocol + endpoint)


def rechain(text: str) -> str:
    """Replace each Service and endpoint chain's name by the one its comment and backend now hash to."""
    mapping: dict[str, str] = {}
    for line in text.splitlines():
        comment = re.search(r'--comment "?([\w./:-]+) cluster IP"', line) or re.search(
            r'--comment "([\w./:-]+) -> ', line
        )
        chain = re.search(r"-j (KUBE-(?:SVC|EXT|FW|SVL|XLB)-[A-Z2-7]{16})", line)
        if comment and chain and " cluster IP" in line:
            prefix = chain[1].rpartition("-")[0] + "-"
            mapping[chain[1]] = service_chain(comment[1], "udp" if "-p udp" in line else "tcp", prefix)
        backend = re.search(r'--comment "([\w./:-]+) -> ([\d.:\[\]a-f]+)".* -j (KUBE-SEP-[A-Z2-7]{16})', line)
        if backend:
            mapping[backend[3]] = endpoint_chain(backend[1], "tcp", backend[2])
    for old, new in mapping.items():
        text = text.replace(old, new)
    return text
