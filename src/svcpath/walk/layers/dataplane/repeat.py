"""Commands that look at one frontend or one backend of a node's table again, so that a finding can be proven wrong.

A backend's address alone is no proof: other Services may send to the same Pod. kube-proxy's chain of an endpoint hashes
Service port and endpoint together (pkg/proxy/iptables/proxier.go, pkg/proxy/nftables/proxier.go), so its name says whose
it is; the listings of IPVS, Cilium and Calico give a frontend one line and its backends the lines below.
"""

from __future__ import annotations

import re

from svcpath.findings.shell import shell
from svcpath.models.dataplanes import Backend, Dialect, Frontend
from svcpath.models.dataplanes.names import iptables_endpoint_hash, nftables_endpoint_name


def listing(dialect: Dialect, frontend: Frontend | None) -> str:
    """The command that prints the table that ``frontend`` stands in."""
    if dialect is Dialect.NFTABLES:
        return "nft list ruleset"
    if dialect is Dialect.IPVS:
        return "ipvsadm -Ln"
    if dialect is Dialect.CILIUM:
        return "cilium-dbg service list"
    if dialect is Dialect.CALICO:
        return "calico-node -bpf nat dump"
    return "ip6tables-save" if frontend is not None and ":" in frontend.address else "iptables-save"


def of_frontend(dialect: Dialect, frontend: Frontend) -> str:
    """Prints what the table holds for ``frontend``: its lines, not those of other ports of the address."""
    show = listing(dialect, frontend)
    address, port, protocol = frontend.address, str(frontend.port), frontend.protocol.lower()
    anywhere = frontend.is_node_port
    if dialect is Dialect.IPTABLES:
        mine = "" if anywhere else shell(" | grep -wF -- {address}", address=address)
        return f"{show}{mine} | " + shell("grep -E -- '-p {protocol} .*--dport {port} '", protocol=protocol, port=port)
    if dialect is Dialect.NFTABLES:
        key = f"{protocol} . {port}" if anywhere else f"{address} . {protocol} . {port}"
    elif dialect is Dialect.CALICO:
        key = f"port {port}" if anywhere else f"{address} port {port}"
    else:
        key = f":{port}" if anywhere else _place(address, frontend.port)
    return f"{show} | " + shell("grep -wF -- {key}", key=key)


def of_backend(dialect: Dialect, service: str, frontend: Frontend, backend: Backend) -> str:
    """Prints a line if ``frontend`` of ``service`` ("namespace/name:port") sends to ``backend``, else nothing."""
    show = listing(dialect, frontend)
    place = _place(backend.address, backend.port)
    if dialect is Dialect.IPTABLES:
        chain = f"KUBE-SEP-{iptables_endpoint_hash(service, frontend.protocol, place)}"
        return f"{show} | grep -wF -- '-j {chain}'"
    if dialect is Dialect.NFTABLES:
        namespace, _, name = service.partition("/")
        name, _, port_name = name.partition(":")
        chain = nftables_endpoint_name(namespace, name, frontend.protocol, port_name, backend.address, backend.port)
        return f"{show} | " + shell("grep -wF -- {jump}", jump=f"goto endpoint-{chain}")
    begins, mine = _section(dialect, frontend)
    under = f"{show} | awk '{begins} {{on = {mine}}} on' | "
    if dialect is Dialect.CALICO:
        return under + shell("grep -wE -- {place}", place=f"{re.escape(backend.address)} ?: ?{backend.port}")
    return under + shell("grep -wF -- {place}", place=place)


def _section(dialect: Dialect, frontend: Frontend) -> tuple[str, str]:
    """Two awk patterns: a line that begins a frontend's part of the listing, and whether that is ``frontend``."""
    anywhere, port = frontend.is_node_port, frontend.port
    place = _place(frontend.address, port)
    if dialect is Dialect.IPVS:
        protocol = frontend.protocol.upper()
        mine = f"$2 ~ /:{port}$/" if anywhere else f'$2 == "{place}"'
        return "/^[A-Z]+ /", f'$1 == "{protocol}" && {mine}'
    if dialect is Dialect.CALICO:
        return "/ port /", f"$3 == {port}" if anywhere else f'$1 == "{frontend.address}" && $3 == {port}'
    mine = f"$2 ~ /:{port}(\\/|$)/" if anywhere else f'($2 == "{place}" || $2 == "{place}/{frontend.protocol.upper()}")'
    return "/^[0-9]/", mine


def _place(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
