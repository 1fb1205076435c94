"""What every data plane is turned into: one ServiceTable, whatever the dialect.

The words are those of the Kubernetes API and the kernel. A *frontend* is what a client sends to (cluster IP, node port,
external IP, load balancer IP), a *backend* a Pod address and port. What a new connection meets depends on where it
comes from, so every answer is given per *origin*: a Pod of the cluster, the node itself, or outside.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec

from svcpath.models.dataplanes.ruleset import Ruleset

#: A frontend with one of these addresses is a node port: every address of the node takes it.
ANY_IPV4 = "0.0.0.0"
ANY_IPV6 = "::"
#: The kind of an entry that Cilium made for a CiliumLocalRedirectPolicy instead of the Service's own.
LOCAL_REDIRECT = "LocalRedirect"


class Dialect(enum.Enum):
    """How the table was written down; IPTABLES also when `nft list ruleset` showed the rules of iptables-nft."""

    IPTABLES = "iptables"
    NFTABLES = "nftables"
    IPVS = "ipvs"
    CILIUM = "cilium"
    CALICO = "calico"


class TrafficOrigin(enum.Enum):
    POD = "pod"
    NODE = "node"
    EXTERNAL = "external"


class PacketVerdict(enum.Enum):
    BACKENDS = "backends"
    REJECT = "reject"
    DROP = "drop"
    ACCEPT = "accept"  #: let through untranslated, by a rule made for it (health check node port)
    NONE = "none"  #: no rule of the data plane takes it


class Frontend(NamedTuple):
    """``address`` in canonical text, ANY_IPV4 or ANY_IPV6 for a node port; ``protocol`` TCP, UDP or SCTP."""

    address: str
    protocol: str
    port: int

    @property
    def is_node_port(self) -> bool:
        return self.address in (ANY_IPV4, ANY_IPV6)

    def __str__(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}/{self.protocol.lower()}"


class Backend(NamedTuple):
    """``port`` 0: the packet keeps the port it came with."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


class Share(msgspec.Struct, frozen=True):
    """One backend of an outcome: the part of new connections it gets, the rule that names it (line 0: unknown).

    ``hairpin``: the rules masquerade what the backend sends to itself through the Service (None: the dialect does not say).
    """

    backend: Backend
    share: Fraction
    line: int = 0
    masquerade: bool = False
    hairpin: bool | None = None


class RuleMet(msgspec.Struct, frozen=True):
    """A rule the packet matched, in the order met; ``text`` as it stands in the dump."""

    line: int
    chain: str
    text: str = ""


class NotUnderstood(msgspec.Struct, frozen=True):
    """A line that was not understood; ``chain`` "" when it stands in none."""

    line: int
    text: str
    chain: str = ""


class ForeignRule(msgspec.Struct, frozen=True):
    """A rule that is not the data plane's own and takes the packet before, or in spite of, it.

    ``effect`` is dnat, redirect, drop, reject, notrack, accept (the packet is not translated), let-through (an
    untranslated packet passes the filter), tproxy, unknown or policy-drop. ``certain`` is false
    when a match could not be decided (an interface, a counter): then it may take the packet. ``frontend`` is the one that
    it takes, where it is about one alone.
    """

    line: int
    chain: str
    effect: str
    text: str = ""
    certain: bool = True
    frontend: Frontend | None = None


class PacketOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Where a new connection goes.

    ``backends`` and ``other`` add up to 1: ``other`` holds what does not reach a backend when some does. ``affinity``
    is the ClientIP timeout in seconds, 0 if the dump does not tell it, -1 forever, None without affinity;
    ``affinity_complete`` is false when only some backends remember or recall the client. ``undecided`` are lines that
    were not understood and that could have changed the answer.
    """

    verdict: PacketVerdict
    backends: tuple[Share, ...] = ()
    other: tuple[tuple[PacketVerdict, Fraction], ...] = ()
    affinity: int | None = None
    affinity_complete: bool = True
    rules: tuple[RuleMet, ...] = ()
    foreign: tuple[ForeignRule, ...] = ()
    undecided: tuple[NotUnderstood, ...] = ()

    @property
    def masquerade(self) -> bool:
        return any(share.masquerade for share in self.backends)

    @property
    def addresses(self) -> tuple[Backend, ...]:
        return tuple(share.backend for share in self.backends)

    @property
    def uneven(self) -> bool:
        """True when backends do not share alike; iptables rounds its probabilities to 31 bits, hence the tolerance."""
        if len(self.backends) < 2:
            return False
        shares = [share.share for share in self.backends]
        return float(max(shares) - min(shares)) > 1e-6


class TableEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What the table holds for one frontend before any packet is traced.

    ``service`` is "namespace/name:port" or "namespace/name" where the dump tells it, else None. ``target`` is the chain
    or map value (dialects of netfilter). ``outcome`` is set where origin makes no difference to the dialect
    (IPVS, Cilium, Calico), ``by_origin`` where it does. ``by_source`` are the entries for the sources of a prefix;
    the entry itself is for all others.
    """

    service: str | None = None
    target: str = ""
    lines: tuple[int, ...] = ()
    outcome: PacketOutcome | None = None
    by_origin: dict[str, PacketOutcome] | None = None
    by_source: tuple[tuple[str, TableEntry], ...] = ()
    kind: str = ""
    facts: dict[str, Any] = {}


class ServiceTable(msgspec.Struct, frozen=True):
    """One node's data plane as one dump shows it.

    ``ruleset`` is there for the dialects of netfilter, whose answers depend on every rule of the node. ``variant`` says
    more about an iptables dump: "legacy", "nf_tables" or "". ``damaged`` holds what showed that the dump is not whole.
    """

    dialect: Dialect
    frontends: Mapping[Frontend, TableEntry]
    node: str = ""
    variant: str = ""
    node_addresses: frozenset[str] = frozenset()
    ruleset: Ruleset | None = None
    not_understood: tuple[NotUnderstood, ...] = ()
    damaged: tuple[NotUnderstood, ...] = ()
    source: str = "files"
    families: frozenset[int] = msgspec.field(default_factory=lambda: frozenset({4}))
