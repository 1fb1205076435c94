"""The recogniser: what a file is, by its content alone, and the facts in it.

Formats are tried from the one with the strongest mark to the weakest; the first that knows the text reads it. A file
that no format knows is Unplaced with why; one that breaks off while it is read is Damaged. Nothing else is raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import msgspec

from svcpath.errors import FormatError, TooLarge
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats import (
    conntrack,
    corefile,
    dns,
    dumps,
    jsonkinds,
    kubernetes,
    kubernetesyaml,
    lines,
    logs,
    metrics,
    netstat,
    procnet,
    proxyconfig,
    resolverfiles,
    routes,
    ss,
    terminal,
)
from svcpath.evidence.formats import (
    text as texts,
)
from svcpath.evidence.formats.item import Item, Listing, damaged, unplaced
from svcpath.evidence.formats.kubernetesrecords import NotKubernetes
from svcpath.evidence.formats.text import Complaint, Text


class Format(msgspec.Struct, frozen=True):
    """One text format: ``knows`` tells it, ``read`` gives its facts and may raise FormatError or TooLarge."""

    name: str
    knows: Callable[[Text], bool]
    read: Callable[[Text], list[Item]]


def _dump(name: str, knows: Callable[[Text], bool], kind: Kind) -> Format:
    return Format(name, knows, partial(dumps.raw, kind))


#: Text formats in the order in which they are tried.
FORMATS: tuple[Format, ...] = (
    Format("iptables-save", dumps.is_iptables, dumps.read_iptables),
    Format("nft list", dumps.is_nft_list, dumps.read_nft_list),
    _dump("/proc/net/ip_vs", dumps.is_proc_ip_vs, Kind.PROC_IP_VS),
    _dump("ipvsadm -Ln", dumps.is_ipvsadm_ln, Kind.IPVSADM_LN),
    _dump("ipvsadm -Lcn", dumps.is_ipvsadm_lcn, Kind.IPVSADM_LCN),
    _dump("cilium service list", dumps.is_cilium_service_list, Kind.CILIUM_SERVICE_LIST),
    _dump("cilium bpf lb list", dumps.is_cilium_lb_list, Kind.CILIUM_BPF_LB_LIST),
    _dump("cilium bpf lb list --backends", dumps.is_cilium_lb_backends, Kind.CILIUM_BPF_LB_BACKENDS),
    _dump("cilium bpf ct list", dumps.is_cilium_ct_list, Kind.CILIUM_BPF_CT_LIST),
    _dump("calico nat dump", dumps.is_calico_nat, Kind.CALICO_NAT_DUMP),
    Format("conntrack -S", conntrack.is_stats, conntrack.read_stats),
    Format("conntrack -L", conntrack.is_flows, conntrack.read_flows),
    Format("/proc/net sockets", procnet.is_procnet, procnet.read_procnet),
    Format("ip route", routes.is_routes, routes.read_routes),
    Format("ss", ss.is_ss, ss.read_ss),
    Format("netstat", netstat.is_netstat, netstat.read_netstat),
    _dump("ipset", dumps.is_ipset, Kind.IPSET),
    Format("Corefile", corefile.is_corefile, corefile.read_corefile),
    Format("DNS answers", dns.is_answers, dns.read_answers),
    Format("resolv.conf", resolverfiles.is_resolv_conf, resolverfiles.read_resolv_conf),
    Format("nsswitch.conf", resolverfiles.is_nsswitch, resolverfiles.read_nsswitch),
    Format("hosts", resolverfiles.is_hosts, resolverfiles.read_hosts),
    Format("environment", resolverfiles.is_environment, resolverfiles.read_environment),
    Format("metrics", metrics.is_metrics, metrics.read_metrics),
    _dump("cilium monitor", dumps.is_cilium_monitor, Kind.CILIUM_MONITOR),
    Format("log", logs.is_log, logs.read_log),
    Format("notes", lines.is_notes, lines.read_notes),
)

#: Outputs that resemble evidence without what decides: by their first line, what to give instead.
_NEAR: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?:Error from server \(\w+\)|error): .+|The connection to the server .+ was refused"),
        "an error of kubectl in place of what was asked for",
    ),
    (
        re.compile(r"-[PN] [\w-]+(?: ACCEPT| DROP)?$"),
        "iptables -S, the rules of one table: give the output of iptables-save, which has all of them",
    ),
    (
        re.compile(r"Chain \S+ \((?:policy |\d+ references)"),
        "iptables -L, which leaves out parts of a rule: give the output of iptables-save",
    ),
    (
        re.compile(r"Name:\s+\S+$"),
        "kubectl describe, which leaves out what decides: give the output of kubectl get -o yaml",
    ),
    (
        re.compile(r"(?:NAMESPACE\s+)?NAME\s+(?:[A-Z][A-Z()/ -]*\s+)+AGE\b"),
        "the table of kubectl get, which leaves out what decides: give the output of kubectl get -o yaml",
    ),
)

_YAML_SIGN = re.compile(r"^(?:kind|apiVersion|items|metadata|object|type)\s*:", re.MULTILINE)


def recognise(data: bytes) -> list[Item | Listing]:
    """All facts of one file. Never raises; what could not be read is among them as Damaged or Unplaced."""
    try:
        text = texts.decode(data)
    except TooLarge as error:
        return [unplaced(str(error), len(data))]
    except FormatError as error:
        return [unplaced(error.message, len(data))]
    found = [_refusal(item, text.size) for item in _facts(terminal.output(text))]
    placed = [item for item in found if not isinstance(item, Item) or item.kind is not Kind.UNPLACED]
    if text.complaints and (placed or text.blank):
        kind = next(
            (item.kind.value for item in found if isinstance(item, Item) and item.kind is not Kind.UNPLACED), "file"
        )
        found = [*placed, *(_badly_decoded(kind, complaint) for complaint in text.complaints)]
    return [*found, *_embedded(found)]


def _badly_decoded(kind: str, complaint: Complaint) -> Item:
    return damaged(kind, complaint.why, read="what could be decoded", harm=complaint.harm)


def _refusal(item: Item | Listing, size: int) -> Item | Listing:
    """A Status in place of an object is the API server's no: it shows nothing of the cluster, and says why."""
    value = item.value if isinstance(item, Item) else None
    if not isinstance(value, api.OtherObject) or (value.kind, value.api_version) != ("Status", "v1"):
        return item
    return unplaced(f"the API server's answer in place of an object: {value.message or 'no message'}", size)


def _facts(text: Text) -> list[Item | Listing]:
    if text.blank:
        return [unplaced("empty", text.size)]
    try:
        structured = _structured(text)
        if structured is not None:
            return structured
        for known in FORMATS:
            if known.knows(text):
                return list(_read(known, text))
    except TooLarge as error:
        return [unplaced(str(error), text.size)]
    return [unplaced(_describe(text), text.size)]


def _read(known: Format, text: Text) -> list[Item]:
    try:
        return known.read(text)
    except FormatError as error:
        return [damaged(known.name, str(error), line=error.line)]


def _structured(text: Text) -> list[Item | Listing] | None:
    """JSON and YAML; None when the text is neither."""
    head = text.head
    if head[:1] in "{[" and _json_start(head):
        special = _special(text)
        if special is not None:
            return special
        try:
            return kubernetes.read_json(text.utf8)
        except FormatError as error:
            if _yaml_flow(text):
                return _yaml(text)
            return _foreign(text, error)
    if _YAML_SIGN.search(text.text):
        return _yaml(text)
    return None


def _special(text: Text) -> list[Item | Listing] | None:
    # Kubernetes objects are by far the largest JSON there is: they are not decoded twice to rule the others out.
    head = text.head[:4096]
    if re.search(r'"(?:apiVersion|kind|metadata)"\s*:', head) and '"nftables"' not in head[:64]:
        return None
    if len(text.text) > 8 * 1024 * 1024 and '"nftables"' not in head[:64]:
        return None
    try:
        found = jsonkinds.read_json_kind(text)
    except FormatError as error:
        return [damaged("JSON", str(error), line=error.line)]
    return list(found) if found is not None else None


_JSON_START = re.compile(r'\{\s*(?:"|\}|\w)|\[\s*(?:[\[{"\]]|-?\d+(?:\.\d+)?\s*[,\]]|(?:true|false|null)\b)')


def _json_start(head: str) -> bool:
    return _JSON_START.match(head) is not None


def _yaml_flow(text: Text) -> bool:
    return len(text.text) < 1 << 20 and re.match(r"\{\s*\w+\s*:", text.head) is not None


def _yaml(text: Text) -> list[Item | Listing] | None:
    try:
        return kubernetesyaml.read_yaml(text.text)
    except kubernetesyaml.Template as error:
        return [unplaced(error.message, text.size)]
    except FormatError as error:
        if re.search(r"^\s*-?\s*(?:kind|apiVersion)\s*:", text.text, re.MULTILINE):
            return [damaged("Kubernetes objects", str(error), line=error.line)]
        return None


def _foreign(text: Text, error: FormatError) -> list[Item | Listing] | None:
    if re.search(r'"(?:apiVersion|kind)"\s*:', text.text[:65536]):
        return [damaged("Kubernetes objects", str(error), line=error.line)]
    if isinstance(error, NotKubernetes):
        return [unplaced("unrecognized JSON", text.size)]
    if any(known.knows(text) for known in FORMATS):
        return None
    return [damaged("JSON", str(error), line=error.line)]


def _describe(text: Text) -> str:
    first = next((line.strip() for line in text.lines if line.strip()), "")
    for sign, instead in _NEAR:
        if sign.match(first):
            return f"{instead}: {_printable(first)[:160]}" if instead.startswith("an error") else instead
    return f'unrecognized text, beginning "{_printable(first)[:60]}"'


def _printable(line: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in line[:200])


def _embedded(found: list[Item | Listing]) -> list[Item]:
    """Corefiles and KubeProxyConfigurations that ConfigMaps hold; the ConfigMap itself stays a fact."""
    extra: list[Item] = []
    for item in found:
        if not isinstance(item, Item) or not isinstance(item.value, api.ConfigMap):
            continue
        for content in (item.value.data or {}).values():
            if corefile.looks_like(content):
                extra.append(Item(Kind.COREFILE, RawText(content), item.line))
                continue
            try:
                config = proxyconfig.from_text(content)
            except (FormatError, TooLarge) as error:
                extra.append(damaged(proxyconfig.KIND, str(error), line=item.line))
                continue
            if config is not None:
                extra.append(Item(Kind.KUBE_PROXY_CONFIG, config, item.line))
    return extra
