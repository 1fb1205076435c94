"""Envoy's c-ares resolver for STRICT_DNS and LOGICAL_DNS clusters.

Rules from source/extensions/network/dns_resolver/cares/dns_impl.cc (read, not run): one ares_getaddrinfo for each
family, one after the other, each walking the whole search list unless no_default_search_domain is set;
use_tcp_for_dns_lookups.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Asking, LookupOutcome
from svcpath.models.resolvers.environment import INET, INET6, Environment
from svcpath.models.resolvers.libraries.cares import Cares

FAMILIES = {
    "AUTO": (INET6, INET),
    "V6_ONLY": (INET6,),
    "V4_ONLY": (INET,),
    "V4_PREFERRED": (INET, INET6),
    "ALL": (INET6, INET),
}
DNS = "Envoy dns_impl.cc AddrInfoPendingResolution (read only)"


class Envoy:
    """``lookup_family`` is the cluster's dns_lookup_family."""

    key = "envoy"
    title = "Envoy"

    def __init__(
        self, environment: Environment, lookup_family: str = "AUTO", *, search: bool = True, use_tcp: bool = False
    ) -> None:
        self.both = lookup_family == "ALL"
        self.walks = tuple(
            Cares(msgspec.structs.replace(environment, family=family), search=search, use_tcp=use_tcp, key="envoy")
            for family in FAMILIES[lookup_family]
        )

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        addresses: tuple[str, ...] = ()
        seconds = 0.0
        outcome: LookupOutcome | None = None
        for walk in self.walks:
            outcome = yield from walk.lookup(name, memory)
            seconds += outcome.seconds
            addresses += outcome.addresses
            if outcome.ok and not self.both:
                return msgspec.structs.replace(outcome, seconds=seconds)
        if addresses and outcome is not None:
            return LookupOutcome(ok=True, addresses=addresses, rule=outcome.rule, seconds=seconds)
        assert outcome is not None
        return msgspec.structs.replace(outcome, seconds=seconds)
