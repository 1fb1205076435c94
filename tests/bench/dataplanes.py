"""Speed and memory of the data-plane models, as ratios to what the tools themselves take in the same run.

The tools run in a network namespace of their own, made and removed here. Without root or the tools only the figures
that need neither are measured, and the result says so.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import orjson

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats.kubernetes import read_json
from svcpath.models.dataplanes import NodeView, drift, parse
from svcpath.models.dataplanes.names import (
    iptables_endpoint_hash,
    iptables_service_hash,
    nftables_endpoint_name,
    nftables_service_name,
)
from tests.bench._machine import best, machine, version, write

LARGE = Path(__file__).parent.parent / "data" / "large"
NODE = NodeView(name="w1", addresses=frozenset({"172.30.0.12"}))
ENDPOINTS = 10
TO_ENDPOINT = "\tchain endpoint-"
#: Services whose chains are loaded in one transaction.
PORTION = 500
TOOLS = ("ip", "nft", "iptables-nft-restore", "iptables-legacy-restore")


def recorded(name: str) -> str:
    return gzip.decompress((LARGE / f"{name}.gz").read_bytes()).decode()


def cluster_ip(number: int) -> str:
    return f"10.{96 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def pod(number: int, place: int) -> str:
    whole = number * ENDPOINTS + place
    return f"10.{100 + (whole >> 16)}.{whole >> 8 & 255}.{whole & 255}"


def iptables_text(count: int) -> str:
    """kube-proxy's rules without comments, as above 1000 endpoints."""
    chains, rules, services = [], [], []
    for number in range(count):
        name = f"big/s{number}:http"
        svc = f"KUBE-SVC-{iptables_service_hash(name, 'tcp')}"
        chains.append(svc)
        address = cluster_ip(number)
        services.append(
            f'-A KUBE-SERVICES -d {address}/32 -p tcp -m comment --comment "{name} cluster IP" -m tcp --dport 80 -j {svc}'
        )
        rules.append(f"-A {svc} ! -s 10.244.0.0/16 -d {address}/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ")
        ends = []
        for place in range(ENDPOINTS):
            sep = f"KUBE-SEP-{iptables_endpoint_hash(name, 'tcp', f'{pod(number, place)}:8080')}"
            left = ENDPOINTS - place
            chance = f"-m statistic --mode random --probability {1 / left:.11f} " if left > 1 else ""
            rules.append(f"-A {svc} {chance}-j {sep}")
            ends.append((sep, pod(number, place)))
        for sep, backend in ends:
            chains.append(sep)
            rules.append(f"-A {sep} -s {backend}/32 -j KUBE-MARK-MASQ")
            rules.append(f"-A {sep} -p tcp -m tcp -j DNAT --to-destination {backend}:8080")
    text = recorded("iptables-save.2000x10.txt")
    head = re.sub(r"-m nfacct --nfacct-name \S* ?\S+ ", "", text[: text.index("*nat")])
    return "\n".join(
        [
            head + "*nat",
            *(f":{name} ACCEPT [0:0]" for name in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING")),
            *(f":{name} - [0:0]" for name in ("KUBE-MARK-MASQ", "KUBE-NODEPORTS", "KUBE-POSTROUTING", "KUBE-SERVICES")),
            *(f":{name} - [0:0]" for name in chains),
            "-A PREROUTING -j KUBE-SERVICES",
            "-A OUTPUT -j KUBE-SERVICES",
            "-A POSTROUTING -j KUBE-POSTROUTING",
            "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
            "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
            "-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
            "-A KUBE-POSTROUTING -j MASQUERADE --random-fully",
            *services,
            "-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS",
            *rules,
            "COMMIT",
            "",
        ]
    )


def nft_text(count: int) -> str:
    """kube-proxy's nftables table, as nft lists it."""
    text = recorded("nft-list.2000x10.txt")
    fixed = text[text.index("\tchain filter-prerouting-pre-dnat") : text.index("\tchain endpoint-")]
    addresses = ",\n\t\t\t     ".join(cluster_ip(number) for number in range(count))
    elements, chains = [], []
    for number in range(count):
        name = nftables_service_name("big", f"s{number}", "tcp", "http")
        elements.append(f"{cluster_ip(number)} . tcp . 80 : goto service-{name}")
        ends = []
        for place in range(ENDPOINTS):
            backend = pod(number, place)
            end = "endpoint-" + nftables_endpoint_name("big", f"s{number}", "tcp", "http", backend, 8080)
            ends.append(end)
            chains.append(
                f"\tchain {end} {{\n\t\tip saddr {backend} jump mark-for-masquerade\n"
                f"\t\tmeta l4proto tcp dnat to {backend}:8080\n\t}}\n"
            )
        spread = ", ".join(f"{place} : goto {end}" for place, end in enumerate(ends))
        chains.append(
            f"\tchain service-{name} {{\n\t\tip daddr {cluster_ip(number)} ip saddr != 10.244.0.0/16 jump "
            f"mark-for-masquerade\n\t\tnumgen random mod {ENDPOINTS} vmap {{ {spread} }}\n\t}}\n"
        )
    triple = "ipv4_addr . inet_proto . inet_service : verdict"
    body = ",\n\t\t\t     ".join(elements)
    return "\n".join(
        [
            "table ip kube-proxy {",
            '\tcomment "rules for kube-proxy"',
            f"\tset cluster-ips {{\n\t\ttype ipv4_addr\n\t\telements = {{ {addresses} }}\n\t}}\n",
            "\tset nodeport-ips {\n\t\ttype ipv4_addr\n\t\telements = { 172.30.0.12 }\n\t}\n",
            f"\tmap service-ips {{\n\t\ttype {triple}\n\t\telements = {{ {body} }}\n\t}}\n",
            *(f"\tmap {name} {{\n\t\ttype {triple}\n\t}}\n" for name in ("no-endpoint-services", "firewall-ips")),
            *(
                f"\tmap {name} {{\n\t\ttype inet_proto . inet_service : verdict\n\t}}\n"
                for name in ("service-nodeports", "no-endpoint-nodeports")
            ),
            fixed + "\n".join(chains) + "}",
            "",
        ]
    )


def in_portions(listed: str) -> Iterator[str]:
    """A listed table as several transactions, to load it.

    The kernel walks a transaction's whole list for each anonymous set that a rule of it uses (__nft_set_trans_bind,
    net/netfilter/nf_tables_api.c), and a processor does nothing else meanwhile: minutes for 10,000 Services at once. So all
    chains of endpoints, which use none, come first, then those of Services in portions, then the maps' elements.
    """
    first = listed.index("\tchain endpoint-")
    chains = re.findall(r"(?ms)^\tchain (?:endpoint|service)-.*?^\t\}\n", listed[first:])
    sets = re.compile(r"(?s)\t(?:map|set) (\S+) \{(?:(?!\n\t\}).)*?(\n\t\telements = \{.*?\n?[^\n]*\})(?=\n\t\})")
    elements = [(found[1], found[2].partition("=")[2]) for found in sets.finditer(listed[:first])]
    head = sets.sub(lambda found: found[0].replace(found[2], ""), listed[:first])
    yield f"{head}\n}}\n"
    yield f"table ip kube-proxy {{\n{''.join(chain for chain in chains if chain.startswith(TO_ENDPOINT))}}}\n"
    services = [chain for chain in chains if not chain.startswith(TO_ENDPOINT)]
    for start in range(0, len(services), PORTION):
        yield f"table ip kube-proxy {{\n{''.join(services[start : start + PORTION])}}}\n"
    yield "".join(f"add element ip kube-proxy {name} {values}\n" for name, values in elements)


def objects_json(count: int) -> bytes:
    items: list[dict[str, Any]] = []
    for number in range(count):
        address = cluster_ip(number)
        port = {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": f"s{number}", "namespace": "big", "uid": str(uuid.UUID(int=number))},
                "spec": {"clusterIP": address, "clusterIPs": [address], "ports": [port], "type": "ClusterIP"},
                "status": {"loadBalancer": {}},
            }
        )
    for number in range(count):
        endpoints = [
            {
                "addresses": [pod(number, place)],
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "nodeName": f"w{place % 3}",
            }
            for place in range(ENDPOINTS)
        ]
        items.append(
            {
                "addressType": "IPv4",
                "apiVersion": "discovery.k8s.io/v1",
                "endpoints": endpoints,
                "kind": "EndpointSlice",
                "metadata": {
                    "name": f"s{number}-abcde",
                    "namespace": "big",
                    "labels": {"kubernetes.io/service-name": f"s{number}"},
                },
                "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
            }
        )
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4).encode()


def decoded(data: bytes) -> tuple[list[Service], list[EndpointSlice]]:
    items = msgspec.json.decode(data)["items"]
    return (
        [msgspec.convert(item, Service) for item in items if item["kind"] == "Service"],
        [msgspec.convert(item, EndpointSlice) for item in items if item["kind"] == "EndpointSlice"],
    )


@contextmanager
def namespace() -> Iterator[Callable[..., bytes]]:
    """A network namespace of its own for the tools."""
    name = f"svcpath-bench-{uuid.uuid4().hex[:6]}"
    subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)

    def run(*command: str, text: str | None = None) -> bytes:
        # Bytes and no decoding: what the tool takes, not what Python makes of its output.
        done = subprocess.run(
            ["ip", "netns", "exec", name, *command],
            input=None if text is None else text.encode(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode()[:500]}")
        return done.stdout

    try:
        yield run
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


class Bench:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.ratios: dict[str, dict[str, float]] = {}
        self.left_out: list[str] = []

    def ratio(self, what: str, ours: float, theirs: float, limit: float) -> None:
        self.ratios[what] = {"ratio": round(ours / theirs, 3), "limit": limit, "ours": ours, "theirs": theirs}

    def run(self) -> None:
        for label, count in (("2,000 x 10", 2000), ("10,000 x 10", 10000)):
            self._size(label, count)
        self._growth()
        self._decoding()

    def _size(self, label: str, count: int) -> None:
        real = count == 2000
        rules = recorded("iptables-save.2000x10.txt") if real else iptables_text(count)
        table = recorded("nft-list.2000x10.txt") if real else nft_text(count)
        data = gzip.decompress((LARGE / "objects.2000x10.json.gz").read_bytes()) if real else objects_json(count)
        services, slices = decoded(data)

        def read(kind: Kind, text: str) -> Callable[[], object]:
            return lambda: parse(kind, text, node="w1", node_addresses=NODE.addresses)

        def compared(kind: Kind, text: str) -> Callable[[], object]:
            def run() -> object:
                (found,) = parse(kind, text, node="w1", node_addresses=NODE.addresses)
                report = drift(found, services, slices, NODE, complete=False)
                if not report.clean:
                    raise RuntimeError(f"drift in {label}: {report.rows[:3]} {report.undecided[:3]}")
                return report

            return run

        parsing = best(read(Kind.IPTABLES_SAVE, rules), 5)
        drifting = best(compared(Kind.IPTABLES_SAVE, rules), 5)
        self.seconds |= {f"iptables {label}: text to table": parsing, f"iptables {label}: text to drift": drifting}
        tracemalloc.start()
        kept = read(Kind.IPTABLES_SAVE, rules)()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del kept
        self.ratio(f"iptables {label}: peak memory to text", peak, len(rules), 12.0)
        nft_drifting = best(compared(Kind.NFT_LIST, table), 5)
        self.seconds[f"nftables {label}: text to drift"] = nft_drifting
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if os.geteuid() or missing:
            why = f"not installed: {', '.join(missing)}" if missing else "needs root for a network namespace"
            self.left_out.append(f"{label}: tools ({why})")
            return
        loadable = re.sub(r"-m nfacct --nfacct-name \S* ?\S+ ", "", rules)
        with namespace() as run:
            for flavour in ("nft", "legacy"):
                tool = f"iptables-{flavour}"
                sys.stderr.write(f"{label}: {tool}\n")
                testing = best(functools.partial(run, f"{tool}-restore", "--test", text=loadable), 3)
                self.ratio(f"iptables {label}: text to table / {tool}-restore --test", parsing, testing, 0.5)
                run(f"{tool}-restore", text=loadable)
                printing = best(functools.partial(run, f"{tool}-save"), 3 if real else 1)
                self.ratio(f"iptables {label}: text and objects to drift / {tool}-save", drifting, printing, 1.0)
                for name in ("nat", "filter", "mangle"):
                    run(tool, "-t", name, "-F")
                    run(tool, "-t", name, "-X")
            run("nft", "flush", "ruleset")
            for part in in_portions(table):
                run("nft", "-f", "-", text=part)
            listing = best(lambda: run("nft", "list", "table", "ip", "kube-proxy"), 3 if real else 1)
            self.ratio(f"nftables {label}: text and objects to drift / nft list table", nft_drifting, listing, 0.5)
            printed = run("nft", "-j", "list", "table", "ip", "kube-proxy")
        loading = best(lambda: orjson.loads(printed), 5)
        from_json = best(compared(Kind.NFT_JSON, printed.decode()), 5)
        self.ratio(f"nftables {label}: nft -j and objects to drift / orjson.loads", from_json, loading, 2.0)

    def _growth(self) -> None:
        small, big = iptables_text(2500), iptables_text(10000)
        ours = best(lambda: parse(Kind.IPTABLES_SAVE, big), 5)
        self.ratio("iptables: four times the size", ours, best(lambda: parse(Kind.IPTABLES_SAVE, small), 5), 4.5)
        small, big = nft_text(2500), nft_text(10000)
        ours = best(lambda: parse(Kind.NFT_LIST, big), 5)
        self.ratio("nftables: four times the size", ours, best(lambda: parse(Kind.NFT_LIST, small), 5), 4.5)

    def _decoding(self) -> None:
        data = objects_json(10000)
        loading = best(lambda: orjson.loads(data), 5)
        self.ratio(
            "10,000 Services, 100,000 endpoints: decode / orjson.loads", best(lambda: read_json(data), 5), loading, 1.5
        )


def main() -> None:
    facts = machine()
    bench = Bench()
    bench.run()
    write(
        "dataplanes",
        {
            "machine": facts,
            "tools": {"iptables": version("iptables", "--version"), "nft": version("nft", "--version")},
            "ratios": bench.ratios,
            "seconds": {key: round(value, 4) for key, value in bench.seconds.items()},
            "left_out": bench.left_out,
        },
    )
