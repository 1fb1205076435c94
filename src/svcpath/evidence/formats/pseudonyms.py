"""A bundle with names and addresses replaced, each always by the same pseudonym, so that the diagnosis stays the same.

Addresses are mapped bit by bit so that two that share a prefix share one of the same length afterwards (the construction
of Xu, Fan, Ammar and Moon, "Prefix-Preserving IP Address Anonymization", 2002): subnets, cluster CIDRs and `-s NET/16`
still fit. Loopback, link-local, multicast, netmasks and the first octet stay. Names are those of objects, containers,
images and label values; chain names that kube-proxy hashes from them are hashed again. Kubernetes' own names stay.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.formats.bundles import Bundle

Observed = Observation[Any]

#: Names that every cluster has.
_PUBLIC = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "kubernetes", "kube-dns", "coredns", "kube-proxy"}
    | {"cilium", "cilium-agent", "calico-node", "calico-system", "node-local-dns", "kube-root-ca.crt", "localhost"}
)
#: Words of rule dumps, logs and files that a name must not take from them.
_WORDS = frozenset(
    [
        "accept",
        "add",
        "all",
        "any",
        "blackhole",
        "chain",
        "client",
        "comment",
        "conntrack",
        "counter",
        "daddr",
        "dnat",
        "dport",
        "drop",
        "endpoint",
        "endpoints",
        "external",
        "filter",
        "firewall",
        "forward",
        "goto",
        "hook",
        "http",
        "https",
        "icmp",
        "inet",
        "input",
        "jump",
        "limit",
        "log",
        "map",
        "mark",
        "masquerade",
        "nameserver",
        "nat",
        "nodeport",
        "nodes",
        "none",
        "ok",
        "options",
        "output",
        "path",
        "pod",
        "port",
        "postrouting",
        "prerouting",
        "priority",
        "protocol",
        "recent",
        "reject",
        "return",
        "saddr",
        "search",
        "server",
        "service",
        "set",
        "snat",
        "source",
        "sport",
        "state",
        "statistic",
        "svc",
        "table",
        "tcp",
        "timeout",
        "tracking",
        "type",
        "udp",
        "update",
        "uid",
        "local",
        "cluster",
        "meta",
        "mode",
        "numgen",
        "random",
        "random-fully",
        "vmap",
        "policy",
    ]
)
_KEPT_FIELDS = frozenset(
    {"kind", "apiVersion", "type", "state", "status", "phase", "reason", "protocol", "outcome", "rcode", "resolver"}
    | {"uid", "resourceVersion", "manager", "operation", "component", "covers", "addressType", "code", "harm"}
)
_IPV4 = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(/\d{1,2}(?!\d))?(?![\d.]*\d)")
_NFT_NAME = re.compile(
    r"[A-Z2-7]{8}-(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9-]+)/(?P<rest>(?:tcp|udp|sctp)/[a-z0-9-]*)"
    r"(?:__(?P<address>[0-9a-f.]+)/(?P<port>\d+))?"
)
_IPV6 = re.compile(r"(?<![0-9A-Za-z:.])([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(/\d{1,3}(?!\d))?(?![0-9A-Za-z:])")


def disguised(bundle: Bundle, key: bytes | None = None) -> Bundle:
    """``key`` makes the pseudonyms; without one it is drawn and forgotten."""
    disguise = _Disguise(key or secrets.token_bytes(32), bundle.observations)
    changed = {id(observation): disguise.observation(observation) for observation in bundle.observations}
    log = {
        disguise.need(need): tuple(changed[id(observation)] for observation in observations)
        for need, observations in bundle.log.items()
    }
    manifest = msgspec.structs.replace(
        bundle.manifest,
        request={name: disguise.text(text) for name, text in bundle.manifest.request.items()},
        execs=tuple(disguise.text(text) for text in bundle.manifest.execs),
        pseudonyms=True,
    )
    return Bundle(manifest, log, tuple(changed[id(observation)] for observation in bundle.observations))


class _Disguise:
    def __init__(self, key: bytes, observations: Iterable[Observed]) -> None:
        self._key = key
        self._addresses: dict[str, str] = {}
        objects = [observation.value for observation in observations if isinstance(observation.value, api.Object)]
        self._names = {name: self._pseudonym(name) for name in _names(objects)}
        self._names |= _chains(objects, self.text_of_names_and_addresses)
        words = sorted(self._names, key=len, reverse=True)
        self._pattern = (
            re.compile(r"(?<![A-Za-z0-9-])(?:" + "|".join(map(re.escape, words)) + r")(?![A-Za-z0-9-])")
            if words
            else None
        )

    def text_of_names_and_addresses(self, text: str) -> str:
        """A name or an address alone, before the chains are known."""
        return self._names.get(text) or self._all_addresses(text)

    def text(self, text: str) -> str:
        text = _NFT_NAME.sub(self._nft_name, text)
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._names[match.group()], text)
        return self._all_addresses(text)

    def observation(self, original: Observed) -> Observed:
        seen = original.provenance
        where = msgspec.structs.replace(
            seen,
            command=self.text(seen.command),
            path=self.text(seen.path),
            node=self.text(seen.node),
            pod=self.text(seen.pod),
            container=self.text(seen.container),
        )
        value = original.value
        if value is not None:
            value = msgspec.convert(self._walk(msgspec.to_builtins(value), ""), type(value))
        return Observation(original.kind, original.state, value, original.reason, self.text(original.why), where)

    def need(self, need: Need) -> Need:
        return msgspec.structs.replace(
            need,
            namespace=self.text(need.namespace),
            name=self.text(need.name),
            service=self.text(need.service),
            node=self.text(need.node),
            pod=self.text(need.pod),
            container=self.text(need.container),
            about=tuple(self.text(text) for text in need.about),
        )

    def _walk(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return value if name in _KEPT_FIELDS else self.text(value)
        if isinstance(value, dict):
            return {
                self.text(key) if "." in key or "/" in key else key: self._walk(item, key)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self._walk(item, name) for item in value]
        return value

    def _pseudonym(self, name: str) -> str:
        digest = hmac.new(self._key, b"name " + name.encode(), hashlib.sha256).hexdigest()
        return f"n{digest[:10]}"

    def _nft_name(self, match: re.Match[str]) -> str:
        """kube-proxy's names in nftables mode spell the Service out behind a hash of it."""
        namespace, name, rest, address, port = match.group("namespace", "name", "rest", "address", "port")
        key = f"{self._names.get(namespace, namespace)}/{self._names.get(name, name)}/{rest}"
        if address:
            # An IPv6 address stands there with dots for its colons.
            four = address.count(".") == 3
            mapped = self._all_addresses(address if four else address.replace(".", ":"))
            key += f"__{mapped}/{port}"
        return f"{_hash(key, 8)}-{key}".replace(":", ".")

    # --- addresses --------------------------------------------------------------------------------------------------

    def _all_addresses(self, text: str) -> str:
        text = _IPV4.sub(lambda match: self._match(match[1], match[2] or ""), text)
        return _IPV6.sub(lambda match: self._match(match[1], match[2] or ""), text) if ":" in text else text

    def _match(self, address: str, prefix: str) -> str:
        try:
            value = ipaddress.ip_address(address)
        except ValueError:
            return address + prefix
        length = int(prefix[1:]) if prefix else value.max_prefixlen
        mapped = self._address(value)
        if prefix and length <= value.max_prefixlen:
            network = ipaddress.ip_network(f"{address}/{length}", strict=False)
            if network.network_address == value:
                mapped = str(ipaddress.ip_network(f"{mapped}/{length}", strict=False).network_address)
        return mapped + prefix

    def _address(self, value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
        text = str(value)
        if text not in self._addresses:
            self._addresses[text] = text if _stays(value) else str(type(value)(self._bits(value)))
        return self._addresses[text]

    def _bits(self, value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> int:
        size = value.max_prefixlen
        number, result = int(value), 0
        for bit in range(size):
            head = number >> (size - bit)
            flip = 0
            if bit >= (8 if size == 32 else 16):
                prefix = f"{size} {bit} {head:x}".encode()
                flip = hmac.new(self._key, prefix, hashlib.sha256).digest()[0] & 1
            result = result << 1 | ((number >> (size - bit - 1) & 1) ^ flip)
        return result


def _stays(value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    mask = value.version == 4 and int(value) >= 0xF0000000
    return value.is_loopback or value.is_link_local or value.is_multicast or value.is_unspecified or mask


def _names(objects: list[api.Object]) -> set[str]:
    found: set[str] = set()
    for obj in objects:
        found.update((obj.name, obj.namespace))
        found.update(_label_values(obj.labels))
        if isinstance(obj, api.Pod):
            for container in (*(obj.spec.containers or ()), *(obj.spec.init_containers or ())):
                found.update((container.name, container.image))
            found.add(obj.spec.node_name or "")
        elif isinstance(obj, api.Service):
            found.update(_label_values(obj.spec.selector or {}))
        elif isinstance(obj, api.Workload) and obj.spec.template:
            found.update(_label_values(obj.spec.template.metadata.labels or {}))
    return {
        name for name in found if len(name) > 2 and name not in _PUBLIC and name not in _WORDS and not _number(name)
    }


def _label_values(labels: dict[str, str]) -> set[str]:
    return {
        value
        for key, value in labels.items()
        if "kubernetes.io/" not in key and "k8s.io/" not in key and value not in ("true", "false", "kube-proxy")
    }


def _number(name: str) -> bool:
    return re.fullmatch(r"[\d.:]+", name) is not None


def _hash(text: str, length: int) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()[:length]


def _chains(objects: list[api.Object], mapped: Callable[[str], str]) -> dict[str, str]:
    """Hashes in chain names (pkg/proxy/{iptables,nftables}/proxier.go) -> those of the pseudonyms."""
    found: dict[str, str] = {}
    slices: dict[tuple[str, str], list[api.EndpointSlice]] = {}
    for obj in objects:
        if isinstance(obj, api.EndpointSlice):
            slices.setdefault((obj.namespace, obj.service_name or ""), []).append(obj)
    for service in objects:
        if not isinstance(service, api.Service):
            continue
        for port in service.spec.ports or ():
            old, new = (service.namespace, service.name), (mapped(service.namespace), mapped(service.name))
            keys = [_port_keys(*names, port.name, port.protocol) for names in (old, new)]
            endpoints = [("", "")]
            for slice_ in slices.get(old, ()):
                numbers = [p.port for p in slice_.ports or () if (p.name or "") == port.name]
                for endpoint in slice_.endpoints or ():
                    for address in endpoint.addresses:
                        endpoints += [(_place(address, number), _place(mapped(address), number)) for number in numbers]
            for before, after in endpoints:
                for kind in ("SVC", "SVL", "EXT", "XLB", "FW") if not before else ("SEP",):
                    found[f"KUBE-{kind}-{_hash(keys[0][0] + before, 16)}"] = (
                        f"KUBE-{kind}-{_hash(keys[1][0] + after, 16)}"
                    )
    return found


def _port_keys(namespace: str, name: str, port: str, protocol: str) -> tuple[str, str]:
    spoken = f"{namespace}/{name}:{port}" if port else f"{namespace}/{name}"
    return spoken + protocol.lower(), f"{namespace}/{name}/{protocol.lower()}/{port}"


def _place(address: str, port: int | None) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
