"""Options of rules that others write: what they do with a packet is read, though when they do it is not always known."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    Packet,
    PacketOutcome,
    PacketVerdict,
    TrafficOrigin,
    own_not_understood,
    parse,
    trace,
)

#: What nodes carry beside kube-proxy's rules: firewalld, ufw, kube-router, Calico, Docker, VPC and mesh plugins.
UNDECIDABLE = (
    "-m set --match-set PEERS src",
    "-m set ! --match-set cali40all-ipam-pools dst",
    "-m set --match-set A src,dst --return-nomatch",
    "-m connmark --mark 0x1/0x1",
    "-m conntrack --ctorigdst 10.96.0.10/32 --ctorigdstport 53",
    "-m conntrack --ctstate NEW --ctproto 6",
    "-m rpfilter --loose --validmark --invert",
    "-m socket --transparent --nowildcard",
    "-m ipvs --ipvs",
    "-m physdev ! --physdev-is-in",
    "-m time --timestart 08:00:00 --timestop 18:00:00 --weekdays Mon,Tue",
    '-m string --hex-string "|0d0a|" --algo bm --to 65535',
    '-m u32 --u32 "0x0>>0x16&0x3c@0xc&0x8=0x8"',
    '-m bpf --bytecode "4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0"',
    "-m hashlimit --hashlimit-above 10/sec --hashlimit-mode srcip --hashlimit-name x --hashlimit-htable-expire 10000",
    "-m connlimit --connlimit-above 10 --connlimit-mask 32 --connlimit-saddr",
    "-m owner ! --socket-exists",
    "-m ttl --ttl-lt 5",
    "-m dscp --dscp-class EF",
    "-m connbytes --connbytes 10:100 --connbytes-dir both --connbytes-mode bytes",
    "-m multiport --ports 80,443",
    "-f",
)


def _asked(*rules: str) -> tuple[PacketOutcome, int]:
    text = "\n".join(["*filter", ":FORWARD ACCEPT [0:0]", ":KUBE-SERVICES - [0:0]", *rules, "COMMIT", ""])
    (table,) = parse(Kind.IPTABLES_SAVE, text)
    packet = Packet("192.0.2.7", TrafficOrigin.EXTERNAL, "TCP", "10.244.1.9", 8080)
    return trace(table, packet), len(table.not_understood)


@pytest.mark.parametrize("match", UNDECIDABLE)
def test_a_match_that_addresses_do_not_decide_leaves_the_target_known(match: str) -> None:
    outcome, unread = _asked(f"-A FORWARD {match} -j DROP")
    assert unread == 0
    assert outcome.verdict is PacketVerdict.NONE
    assert [(rule.effect, rule.certain) for rule in outcome.foreign] == [("drop", False)]


def test_a_module_that_is_not_known_is_recorded_and_its_target_read() -> None:
    outcome, unread = _asked("-A FORWARD -m geoip --source-country CN -j DROP")
    assert unread == 1
    assert [(rule.effect, rule.certain) for rule in outcome.foreign] == [("drop", False)]


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ("--tcp-flags SYN,RST SYN", PacketVerdict.DROP),
        ("! --tcp-flags FIN,SYN,RST,ACK SYN", PacketVerdict.NONE),
        ("--tcp-flags ALL NONE", PacketVerdict.NONE),
        ("--tcp-flags ALL SYN", PacketVerdict.DROP),
    ],
)
def test_the_flags_of_a_first_packet_are_syn_alone(flags: str, verdict: PacketVerdict) -> None:
    assert _asked(f"-A FORWARD -p tcp -m tcp {flags} -j DROP")[0].verdict is verdict


def test_a_target_that_only_changes_the_packet_lets_it_go_on() -> None:
    clamp = "-A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"
    noted = "-A FORWARD -j SET --add-set SEEN src --exist --timeout 60"
    outcome, unread = _asked(clamp, noted, "-A FORWARD -d 10.244.0.0/16 -j DROP")
    assert unread == 0
    assert [(rule.line, rule.certain) for rule in outcome.foreign] == [(6, True)]


def test_a_target_that_is_not_known_leaves_the_answer_open_only_where_it_is_met() -> None:
    met, unread = _asked("-A FORWARD -d 10.244.0.0/16 -j NFQUEUE --queue-num 0 --queue-bypass")
    assert unread == 1
    assert met.undecided
    beside, _ = _asked("-A FORWARD -d 10.99.0.0/16 -j NFQUEUE --queue-num 0 --queue-bypass")
    assert not beside.undecided
    assert not beside.foreign


def test_kube_proxys_own_rule_with_an_unknown_option_is_not_read_in_part() -> None:
    text = "*nat\n:PREROUTING ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -m balancer --mode rc -j DROP\nCOMMIT\n"
    (table,) = parse(Kind.IPTABLES_SAVE, text)
    assert [line.line for line in own_not_understood(table)] == [4]


@pytest.mark.parametrize(("ports", "certain"), [("1:65535", True), ("0:65535", True), ("1024:65535", False)])
def test_a_clients_port_is_known_only_to_be_a_port(ports: str, certain: bool) -> None:
    outcome, _ = _asked(f"-A FORWARD -p tcp -m tcp --sport {ports} -j DROP")
    assert [(rule.effect, rule.certain) for rule in outcome.foreign] == [("drop", certain)]
