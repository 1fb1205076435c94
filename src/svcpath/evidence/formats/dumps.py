"""Tells data-plane dumps apart. They stay raw text: the model that owns a dialect parses it.

Layouts: iptables-save(8) 1.8 (legacy and nf_tables), nft(8) 1.0, net/netfilter/ipvs/ip_vs_ctl.c, ipvsadm 1.31, ipset 7,
cilium-dbg of 1.14-1.17 (cilium-dbg/cmd/{service_list,bpf_lb_list,bpf_ct_list}.go, pkg/monitor/format), calico-node
(felix/cmd/calico-bpf/commands/nat.go).
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.item import Item, damaged
from svcpath.evidence.formats.text import Text

_IPTABLES_TABLE = re.compile(r"\*(?:nat|filter|mangle|raw|security)\s*$")
_IPTABLES_LINE = re.compile(
    r"\*(?:nat|filter|mangle|raw|security)\s*$|:[\w@.-]+ (?:-|[A-Z]+)(?: \[\d+:\d+\])?|"
    r"(?:\[\d+:\d+\] )?-[AIN] \S|COMMIT\s*$"
)
_NFT_TABLE = re.compile(r"\s*table (?:ip6?|inet|arp|bridge|netdev) \S+ \{")
_IP_VS = re.compile(r"IP Virtual Server version")
_VS_ROW = re.compile(r"(?:TCP|UDP|SCTP|FWM|  ->)\s+(\S+)")
_IPVS_COMMAND = re.compile(r"-[Aa] (?:-[tuf]|--sctp-service) \S")
_LCN_ROW = re.compile(r"(?:TCP|UDP|SCTP|IP|ICMP)\s+(?:\d+:\d\d|-1)\s+[A-Z_]+\s+\S+\s+\S+\s+\S+")
_IPSET_SAVE = re.compile(r"(?:create|add) \S+ \S+")
_IPSET_LIST = re.compile(r"Name: \S+")
_CT_ROW = re.compile(r"(?:TCP|UDP|SCTP|ICMP|ICMPv6) (?:IN|OUT|SVC|service)\b.*->.*\bexpires=")
_CT_SIGN = re.compile(r"\b(?:expires|RxPackets|RevNAT|SourceSecurityID|BackendID)=")
_MONITOR = re.compile(
    r"(?:\S+\s+)?(?:xx drop|-> (?:endpoint|stack|overlay|network|proxy|host)|"
    r"<- (?:endpoint|stack|host|network|overlay)|"
    r"(?:Policy verdict log|CPU \d+:|==> |level=|Listening for events|>> |xlate:))|.*\bflow 0x[0-9a-f]+ "
)
_CALICO_FRONTEND = re.compile(
    r"\s*\S+ port \d+ proto \d+(?: (?:src|from) \S+)? id \d+ count -?\d+ local -?\d+|"
    r"\s*\S+ port \d+ proto \d+ .*\bid \d+"
)
#: calico-node's own log, which stood in the same output up to 3.20.
_CALICO_LOG = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \[[A-Z]+\]\[\d+\] ")
_CALICO_BACKEND = re.compile(r"\s*\d+:-?\d+\s+(?:\S+\s?:\s?\d+|is missing)")


def _first(text: Text) -> str:
    return text.sample[0] if text.sample else ""


def is_iptables(text: Text) -> bool:
    if any(_IPTABLES_TABLE.match(line) for line in text.lines[:50]):
        return True
    lines = text.sample[:50]
    rules = sum(1 for line in lines if _IPTABLES_LINE.match(line) and not _IPVS_COMMAND.match(line))
    return (
        len(lines) >= 2
        and rules * 10 >= 9 * len(lines)
        and any(re.match(r"(?:\[.*\] )?-[AN] ", line) for line in lines)
    )


def read_iptables(text: Text) -> list[Item]:
    items = [Item(Kind.IPTABLES_SAVE, RawText(text.text))]
    tables = sum(1 for line in text.lines if _IPTABLES_TABLE.match(line))
    commits = sum(1 for line in text.lines if line.strip() == "COMMIT")
    if tables > commits:
        last = max(number for number, line in enumerate(text.lines, 1) if line.strip())
        items.append(
            damaged("iptables-save", "no COMMIT after the last table: cut off", line=last, read=f"{last} lines")
        )
    return items


def is_nft_list(text: Text) -> bool:
    lines = [line for line in text.sample[:3] if line.strip()]
    return bool(lines) and bool(_NFT_TABLE.match(lines[0]))


def read_nft_list(text: Text) -> list[Item]:
    items = [Item(Kind.NFT_LIST, RawText(text.text))]
    bare = re.sub(r'"[^"\n]*"|#[^\n]*', "", text.text)
    if bare.count("{") > bare.count("}"):
        items.append(
            damaged("nft list", "the last block is not closed: cut off", line=len(text.lines), read="the rest")
        )
    return items


def is_proc_ip_vs(text: Text) -> bool:
    if not _IP_VS.match(_first(text)):
        return False
    rows = [match.group(1) for line in text.sample[3:] if (match := _VS_ROW.match(line))]
    return any(_hexadecimal(row) for row in rows)


def _hexadecimal(word: str) -> bool:
    return re.fullmatch(r"(?:[0-9A-F]{8}|\[[0-9a-f:]{39}\]):[0-9A-F]{4}", word) is not None


def is_ipvsadm_ln(text: Text) -> bool:
    """A listing of ipvsadm, with whichever switch, or the commands of its ``-S``."""
    lines = text.sample
    if lines and all(_IPVS_COMMAND.match(line) for line in lines):
        return True
    return bool(_IP_VS.match(_first(text))) and not is_proc_ip_vs(text)


def is_ipvsadm_lcn(text: Text) -> bool:
    if _first(text).startswith("IPVS connection entries"):
        return True
    if re.match(r"pro\s+expire\s+state\s+source\s+virtual\s+destination", _first(text), re.I):
        return True
    return bool(text.sample) and all(_LCN_ROW.match(line) for line in text.sample)


def is_ipset(text: Text) -> bool:
    if _IPSET_LIST.match(_first(text)) and any(line.startswith("Type: ") for line in text.sample[1:4]):
        return True
    lines = text.sample[:50]
    return bool(lines) and lines[0].startswith("create ") and all(_IPSET_SAVE.match(line) for line in lines)


def is_cilium_service_list(text: Text) -> bool:
    return re.match(r"ID\s+Frontend\s+(?:Service Type|Backend)", _first(text)) is not None


def is_cilium_lb_list(text: Text) -> bool:
    return re.match(r"SERVICE ADDRESS\s+BACKEND (?:ADDRESS|ID)", _first(text)) is not None


def is_cilium_lb_backends(text: Text) -> bool:
    """The title of --backends is that of --revnat too: only a backend has its protocol in front."""
    if re.match(r"ID\s+BACKEND ADDRESS", _first(text)):
        return all("://" in line for line in text.sample[1:])
    return bool(text.sample) and all(re.match(r"\d+\s+(?:tcp|udp|sctp)://", line, re.I) for line in text.sample)


def is_cilium_ct_list(text: Text) -> bool:
    lines = text.sample
    good = sum(1 for line in lines if _CT_ROW.match(line) or (" -> " in line and _CT_SIGN.search(line)))
    return good > 0 and good * 10 >= 8 * len(lines)


def is_cilium_monitor(text: Text) -> bool:
    lines = text.sample
    good = sum(1 for line in lines if _MONITOR.match(line))
    flows = any(" flow 0x" in line or "xx drop" in line or "-> " in line for line in lines)
    return flows and good > 0 and good * 10 >= 6 * len(lines)


def is_calico_nat(text: Text) -> bool:
    lines = [line for line in text.sample if not _CALICO_LOG.match(line)]
    good = sum(1 for line in lines if _CALICO_FRONTEND.match(line) or _CALICO_BACKEND.match(line))
    return any(_CALICO_FRONTEND.match(line) for line in lines) and good * 10 >= 6 * len(lines)


def raw(kind: Kind, text: Text) -> list[Item]:
    return [Item(kind, RawText(text.text))]
