"""Services of many backends: a cut or damaged table stays a question of a moment, and a whole one keeps its shares."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import Backend, Packet, PacketVerdict, ServiceTable, TrafficOrigin, parse, trace

ADDRESS = "10.96.0.5"
CLIENT = Packet("10.244.9.9", TrafficOrigin.POD, "TCP", ADDRESS, 80)


def backend(number: int) -> Backend:
    return Backend(f"10.244.{number // 200}.{number % 200 + 1}", 8080)


def iptables(count: int, chains: int) -> ServiceTable:
    """kube-proxy's table of one Service; only so many of its backends' chains are in the dump."""
    lines = [
        "*nat",
        ":PREROUTING ACCEPT [0:0]",
        ":KUBE-SERVICES - [0:0]",
        ":KUBE-SVC-A - [0:0]",
        ":KUBE-MARK-MASQ - [0:0]",
    ]
    lines += [f":KUBE-SEP-{number} - [0:0]" for number in range(chains)]
    lines += ["-A PREROUTING -j KUBE-SERVICES"]
    lines += [
        f'-A KUBE-SERVICES -d {ADDRESS}/32 -p tcp -m comment --comment "shop/web" -m tcp --dport 80 -j KUBE-SVC-A'
    ]
    for number in range(count):
        left = count - number
        dice = f"-m statistic --mode random --probability {1 / left:.11f} " if left > 1 else ""
        lines.append(f'-A KUBE-SVC-A -m comment --comment "shop/web" {dice}-j KUBE-SEP-{number}')
    for number in range(chains):
        address, port = backend(number)
        lines.append(f"-A KUBE-SEP-{number} -s {address}/32 -j KUBE-MARK-MASQ")
        lines.append(f"-A KUBE-SEP-{number} -p tcp -m tcp -j DNAT --to-destination {address}:{port}")
    lines += ["-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000", "COMMIT", ""]
    (table,) = parse(Kind.IPTABLES_SAVE, "\n".join(lines))
    return table


def nftables(count: int, chains: int) -> ServiceTable:
    choices = ", ".join(f"{number} : goto endpoint-{number}" for number in range(count))
    lines = ["table ip kube-proxy {"]
    for number in range(chains):
        address, port = backend(number)
        lines += [f"\tchain endpoint-{number} {{", f"\t\tmeta l4proto tcp dnat to {address}:{port}", "\t}", ""]
    lines += ["\tchain service-A-shop/web/tcp/ {", f"\t\tnumgen random mod {count} vmap {{ {choices} }}", "\t}", ""]
    lines += ["\tmap service-ips {", "\t\ttype ipv4_addr . inet_proto . inet_service : verdict"]
    lines += [f"\t\telements = {{ {ADDRESS} . tcp . 80 : goto service-A-shop/web/tcp/ }}", "\t}", ""]
    lines += ["\tchain services {", "\t\tip daddr . meta l4proto . th dport vmap @service-ips", "\t}", ""]
    lines += ["\tchain nat-prerouting {", "\t\ttype nat hook prerouting priority dstnat; policy accept;"]
    lines += ["\t\tjump services", "\t}", "}", ""]
    (table,) = parse(Kind.NFT_LIST, "\n".join(lines))
    return table


@pytest.mark.parametrize("made", [iptables, nftables])
def test_every_backend_of_a_thousand_has_its_share(made: Callable[[int, int], ServiceTable]) -> None:
    outcome = trace(made(1000, 1000), CLIENT)
    assert outcome.verdict is PacketVerdict.BACKENDS
    assert [share.backend for share in outcome.backends] == [backend(number) for number in range(1000)]
    assert {share.share for share in outcome.backends} == {Fraction(1, 1000)}
    assert not outcome.undecided


@pytest.mark.parametrize(("made", "lines"), [(iptables, 900), (nftables, 1)])
def test_a_chain_that_a_cut_dump_lacks_is_a_doubt_and_the_others_keep_their_shares(
    made: Callable[[int, int], ServiceTable], lines: int
) -> None:
    """Every branch that meets a missing chain may go on to the next rule: two to the power of 900 ways, if distinguished."""
    outcome = trace(made(1000, 100), CLIENT)
    assert len(outcome.undecided) == lines
    reached = {share.backend: share.share for share in outcome.backends}
    assert set(reached) == {backend(number) for number in range(100)}
    assert set(reached.values()) == {Fraction(1, 1000)}
    assert sum(part for _, part in outcome.other) == Fraction(9, 10)
