"""Chain names: how kube-proxy derives them from a Service port, and how a Service is read back from them.

pkg/proxy/iptables/proxier.go (portProtoHash, servicePortEndpointChainName) and pkg/proxy/nftables/proxier.go
(hashAndTruncate): base32 of sha256, cut to 16 and 8 characters.
"""

from __future__ import annotations

import base64
import hashlib


def service_port_name(namespace: str, name: str, port_name: str) -> str:
    """``namespace/name:port``, or ``namespace/name`` for the unnamed port."""
    return f"{namespace}/{name}:{port_name}" if port_name else f"{namespace}/{name}"


def _hash(text: str, length: int) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()[:length]


def iptables_service_hash(service_port: str, protocol: str) -> str:
    """What follows KUBE-SVC-, KUBE-SVL-, KUBE-EXT-, KUBE-XLB- and KUBE-FW-."""
    return _hash(service_port + protocol.lower(), 16)


def iptables_endpoint_hash(service_port: str, protocol: str, endpoint: str) -> str:
    """What follows KUBE-SEP-; ``endpoint`` as "address:port"."""
    return _hash(service_port + protocol.lower() + endpoint, 16)


def nftables_service_name(namespace: str, name: str, protocol: str, port_name: str) -> str:
    """What follows "service-", "external-" and "firewall-"."""
    key = f"{namespace}/{name}/{protocol.lower()}/{port_name}"
    return f"{_hash(key, 8)}-{key}"


def nftables_endpoint_name(namespace: str, name: str, protocol: str, port_name: str, address: str, port: int) -> str:
    """What follows "endpoint-" and "affinity-"; an IPv6 address has its colons replaced by dots."""
    key = f"{namespace}/{name}/{protocol.lower()}/{port_name}__{address}/{port}"
    return f"{_hash(key, 8)}-{key}".replace(":", ".")


def service_of_chain(chain: str) -> str | None:
    """The Service port that a chain of the nftables mode names."""
    kind, _, rest = chain.partition("-")
    if kind not in ("service", "external", "firewall"):
        return None
    key = rest.partition("-")[2].split("/")
    if len(key) != 4:
        return None
    namespace, name, _, port_name = key
    return service_port_name(namespace, name, port_name)


def service_of_comment(comment: str) -> str | None:
    """The Service port that the comment of a rule or map element begins with."""
    first = comment.partition(" ")[0]
    namespace, slash, name = first.partition("/")
    return first if slash and namespace and name and "/" not in name else None
