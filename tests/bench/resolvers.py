"""How many lookups a second the resolver models do on one core, so that an audit can ask every name of a cluster.

A cluster of 1,000 Services behind a plain kubeadm Corefile; a Pod's default resolv.conf; names as applications write them
(short, with the namespace, the four-dot form, with its final dot, and names that do not exist).
"""

from __future__ import annotations

import time

from svcpath.evidence.facts.kubernetes import Namespace, ObjectMeta, Service, ServicePort, ServiceSpec
from svcpath.models.resolvers import Environment, build
from svcpath.models.resolvers import run as lookup
from svcpath.models.resolvers.servers.coredns import CoreDns, CoreDnsWorld
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects
from svcpath.models.resolvers.servers.corefile import parse
from tests.bench._machine import machine, write

COREFILE = ".:53 {\n  kubernetes cluster.local in-addr.arpa {\n    fallthrough in-addr.arpa\n  }\n}\n"
CONF = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
RESOLVERS = (
    "musl",
    "musl-1.2.3",
    "glibc",
    "go",
    "c-ares",
    "node-resolve4",
    "hickory",
    "hickory-0.26",
    "dnspython-search",
    "nginx",
)
SERVICES, SECONDS, WANTED = 1000, 1.0, 20_000


def _cluster() -> WatchedObjects:
    return WatchedObjects(
        services=tuple(
            Service(
                metadata=ObjectMeta(name=f"svc-{number}", namespace="shop"),
                spec=ServiceSpec(cluster_ip=f"10.96.{number // 250}.{number % 250 + 1}", ports=(ServicePort(port=80),)),
            )
            for number in range(SERVICES)
        ),
        namespaces=(Namespace(metadata=ObjectMeta(name="shop")),),
    )


def _names() -> list[str]:
    names = []
    for number in range(0, SERVICES, 5):
        base = f"svc-{number}"
        full = f"{base}.shop.svc.cluster.local"
        names += [base, f"{base}.shop", full, f"{full}.", f"nope-{number}"]
    return names


def rate(resolver: str, world: CoreDnsWorld, names: list[str]) -> float:
    """Lookups a second."""
    model = build(resolver, Environment(resolv_conf=CONF, nsswitch="hosts: files dns\n"))
    for name in names:
        lookup(model, name, world)
    done = 0
    started = time.process_time()
    while time.process_time() - started < SECONDS:
        for name in names:
            lookup(model, name, world)
        done += len(names)
    return done / (time.process_time() - started)


def main() -> None:
    """Lookups a second by resolver, and whether the slowest reaches what an audit needs."""
    world = CoreDnsWorld(CoreDns(parse(COREFILE), _cluster()))
    names = _names()
    rates = {resolver: round(rate(resolver, world, names)) for resolver in RESOLVERS}
    slowest = {"ratio": round(WANTED / min(rates.values()), 3), "limit": 1.0}
    ratios = {f"{WANTED} lookups to what the slowest model does in a second of one core": slowest}
    write("resolvers", {"machine": machine(), "lookups_per_second": rates, "ratios": ratios})


if __name__ == "__main__":
    main()
