"""The kubernetes plugin: what the cluster zone answers from Services, EndpointSlices, Pods and Namespaces.

Rules from plugin/kubernetes parse.go parseRequest; kubernetes.go Services, Records, findServices, findPods; handler.go
ServeDNS; reverse.go; object/{service,endpoint,pod}.go, and plugin/backend_lookup.go A, AAAA, SRV, TXT, PTR, CNAME of
CoreDNS 1.14.7.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

import msgspec

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.kubernetes import Endpoint, EndpointSlice, Service
from svcpath.models.resolvers.base import UnknownAnswer
from svcpath.models.resolvers.servers.coredns_cluster import Key, WatchedObjects
from svcpath.models.resolvers.servers.coredns_records import ResourceRecord, Response
from svcpath.models.resolvers.servers.coredns_selector import selects
from svcpath.models.resolvers.servers.corefile import Directive, matches, normalize

MAX_CNAMES = 10
NO_PORT = -1


class _Item(msgspec.Struct, frozen=True):
    """msg.Service: a host (address or name) and the name that an SRV record points at."""

    host: str
    port: int
    target: str

    @property
    def kind(self) -> str:
        try:
            return "A" if ipaddress.ip_address(self.host).version == 4 else "AAAA"
        except ValueError:
            return "CNAME"


class _NameError(Exception):
    pass


class _Request(msgspec.Struct, frozen=True):
    kind: str = ""
    namespace: str = ""
    service: str = ""
    endpoint: str = ""
    port: str = ""
    protocol: str = ""


class _UpstreamUnknown(Exception):
    def __init__(self, unknown: UnknownAnswer) -> None:
        self.unknown = unknown


Lookup = Callable[[str, str], "Response | UnknownAnswer"]


class Kubernetes:
    """One kubernetes stanza over one cluster. ``lookup`` asks the server itself (targets outside the zone)."""

    def __init__(self, plugin: Directive, origins: tuple[str, ...], cluster: WatchedObjects, lookup: Lookup) -> None:
        self.plugin = plugin
        self.cluster = cluster
        self.lookup = lookup
        self.zones = tuple(zone for text in plugin.args for zone in normalize(text)) or origins
        self.primary = next((zone for zone in self.zones if not zone.endswith(".arpa.")), "cluster.local.")
        pods = plugin.option("pods")
        self.pods = pods.args[0] if pods and pods.args else "disabled"
        self.only = {name for option in plugin.options("namespaces") for name in option.args}
        self.pod_names = plugin.option("endpoint_pod_names") is not None
        self.no_endpoints = plugin.option("noendpoints") is not None
        ignore = plugin.option("ignore")
        self.ignore_empty = ignore is not None and ignore.args[:1] == ("empty_service",)
        self.fall = _fallthrough(plugin)
        labels = plugin.option("labels")
        self.labels = " ".join(labels.args) if labels else ""
        namespace_labels = plugin.option("namespace_labels")
        wanted = " ".join(namespace_labels.args) if namespace_labels else ""
        self.namespaces = {namespace.name for namespace in self.cluster.namespaces if selects(wanted, namespace.labels)}

    def _service(self, key: Key) -> Service | None:
        """The Service of this name that the option ``labels`` selects; of several manifests the last."""
        named = self.cluster.services_by_name.get(key, ())
        return next((service for service in reversed(named) if selects(self.labels, service.labels)), None)

    def _slices(self, key: Key) -> list[EndpointSlice]:
        if self.no_endpoints:
            return []
        return [slice_ for slice_ in self.cluster.slices_by_service.get(key, ()) if selects(self.labels, slice_.labels)]

    # --- handler.go -------------------------------------------------------------------------------------------------

    def respond(self, name: str, rrtype: str) -> Response | UnknownAnswer | None:
        """None: the name is not in the plugin's zones, or it falls through to the next plugin."""
        zone = matches(self.zones, name)
        if not zone:
            return None
        if rrtype in ("AXFR", "IXFR"):
            return Response("REFUSED", plugin="kubernetes", line=self.plugin.line)
        if (name == zone and rrtype == "NS") or name in (f"ns.dns.{zone}",):
            return UnknownAnswer("the name servers of the zone are CoreDNS' own addresses, which are not in evidence")
        try:
            records = self._records(name, rrtype, zone)
        except _NameError:
            if matches(self.fall, name):
                return None
            rcode = "NXDOMAIN" if self.cluster.synced else "SERVFAIL"
            return Response(rcode, (), True, "kubernetes", self.plugin.line)
        except _UpstreamUnknown as unknown:
            return unknown.unknown
        return Response("NOERROR", tuple(records), True, "kubernetes", self.plugin.line)

    def _records(self, name: str, rrtype: str, zone: str) -> list[ResourceRecord]:
        if rrtype in ("A", "AAAA"):
            return self._addresses(name, rrtype, zone, ())
        if rrtype == "SRV":
            return self._srv(name, zone)
        if rrtype == "PTR":
            return self._ptr(name, zone)
        if rrtype == "TXT":
            return self._txt(name, zone)
        if rrtype == "CNAME":
            items = self._items(name, zone)
            return [ResourceRecord(name, "CNAME", _dotted(items[0].host))] if items and items[0].kind == "CNAME" else []
        if rrtype == "MX":
            self._items(name, zone)
            return []
        if rrtype == "SOA":
            return [ResourceRecord(name, "SOA", f"ns.dns.{zone} hostmaster.{zone}")] if name == zone else []
        self._addresses(name, "A", zone, ())
        return []

    # --- backend_lookup.go ------------------------------------------------------------------------------------------

    def _addresses(self, name: str, rrtype: str, zone: str, chain: tuple[ResourceRecord, ...]) -> list[ResourceRecord]:
        records: list[ResourceRecord] = []
        for item in self._items(name, zone):
            if item.kind == "CNAME":
                records.extend(self._alias(name, rrtype, zone, _dotted(item.host), chain))
            elif item.kind == rrtype:
                record = ResourceRecord(name, rrtype, str(ipaddress.ip_address(item.host)))
                if record not in records:
                    records.append(record)
        return records

    def _alias(
        self, name: str, rrtype: str, zone: str, target: str, chain: tuple[ResourceRecord, ...]
    ) -> list[ResourceRecord]:
        lower = target.lower()
        if lower == name or lower.endswith("." + name) or len(chain) > MAX_CNAMES:
            return []
        alias = ResourceRecord(name, "CNAME", target)
        if any(alias == earlier for earlier in chain):
            return []
        if lower == zone or lower.endswith("." + zone):
            try:
                found = self._addresses(lower, rrtype, zone, (*chain, alias))
            except _NameError:
                return []
            return [alias, *found] if found else []
        response = self.lookup(target, rrtype)
        if isinstance(response, UnknownAnswer):
            raise _UpstreamUnknown(response)
        return [alias, *response.answers]

    def _srv(self, name: str, zone: str) -> list[ResourceRecord]:
        items = [item for item in self._items(name, zone) if item.kind != "CNAME"]
        weight = max(100 // len(items), 1) if items else 0
        records: list[ResourceRecord] = []
        for item in items:
            record = ResourceRecord(name, "SRV", f"0 {weight} {item.port} {item.target}")
            if item.port != NO_PORT and record not in records:
                records.append(record)
        return records

    def _txt(self, name: str, zone: str) -> list[ResourceRecord]:
        if name == f"dns-version.{zone}":
            return [ResourceRecord(name, "TXT", '"1.1.0"')]
        if self._items(name, zone):
            return []
        raise _NameError

    def _ptr(self, name: str, zone: str) -> list[ResourceRecord]:
        address = reverse_address(name)
        if not address:
            self._items(name, zone)
            return []
        hosts = self._names_of(address)
        if not hosts:
            raise _NameError
        return [ResourceRecord(name, "PTR", host) for host in dict.fromkeys(hosts)]

    def _names_of(self, address: str) -> list[str]:
        """reverse.go serviceRecordForIP: a Service by cluster IP, else endpoints."""
        for key in self.cluster.services_by_name:
            service = self._service(key)
            if service is not None and address in service.cluster_ips and self._visible(service.namespace):
                return [f"{service.name}.{service.namespace}.svc.{self.primary}"]
        names: list[str] = []
        for namespace, service_name in self.cluster.slices_by_service:
            if not self._visible(namespace):
                continue
            for slice_ in self._slices((namespace, service_name)):
                for endpoint in slice_.endpoints or ():
                    if endpoint.ready:
                        names.extend(
                            f"{self._hostname(endpoint, ip)}.{service_name}.{namespace}.svc.{self.primary}"
                            for ip in endpoint.addresses
                            if ip == address
                        )
        return names

    def _visible(self, namespace: str) -> bool:
        return not self.only or self._exposed(namespace)

    # --- kubernetes.go ----------------------------------------------------------------------------------------------

    def _exposed(self, namespace: str) -> bool:
        return (not self.only or namespace in self.only) and namespace in self.namespaces

    def _items(self, name: str, zone: str) -> list[_Item]:
        """Records: the items behind a name; _NameError for NXDOMAIN, an empty list for NODATA."""
        request = parse_request(name, zone)
        if not request.kind:
            return []
        if name.endswith((".in-addr.arpa.", ".ip6.arpa.")):
            raise _NameError
        if not self._exposed(request.namespace):
            raise _NameError
        if request.kind == "pod":
            return self._find_pods(request, zone)
        return self._find_services(request, zone)

    def _find_pods(self, request: _Request, zone: str) -> list[_Item]:
        if self.pods == "disabled":
            raise _NameError
        label = request.service
        if not label:
            return []
        dashes = label.count("-") == 3 and "--" not in label
        address = label.replace("-", "." if dashes else ":")
        item = _Item(address, 0, f"{label}.{request.namespace}.pod.{zone}")
        if self.pods == "insecure":
            try:
                ipaddress.ip_address(address)
            except ValueError:
                raise _NameError from None
            return [item]
        for pod in self.cluster.pods:
            if pod.namespace == request.namespace and pod.status.pod_ip == address and not pod.deleting:
                return [item]
        raise _NameError

    def _find_services(self, request: _Request, zone: str) -> list[_Item]:
        if not request.service:
            return []
        service = self._service((request.namespace.lower(), request.service.lower()))
        if service is None:
            raise _NameError
        owner = f"{service.name}.{service.namespace}.svc.{zone}"
        if service.is_external_name:
            return self._external(service, request, owner)
        headless = (service.spec.cluster_ips or (service.spec.cluster_ip or "",))[0] == "None"
        if self.ignore_empty and not headless and not self._ready_addresses(service):
            raise _NameError
        if headless or request.endpoint:
            return self._endpoints(service, request, owner)
        ports = [(port.name or "", port.protocol or "TCP", port.port) for port in service.ports] or [("", "", NO_PORT)]
        matching = [port for port in ports if _port_matches(request, port[0], port[1])]
        if not matching:
            raise _NameError
        return [
            _Item(ip, port[2], owner)
            for port in matching
            for ip in service.spec.cluster_ips or ((service.spec.cluster_ip,) if service.spec.cluster_ip else ("",))
        ]

    @staticmethod
    def _external(service: Service, request: _Request, owner: str) -> list[_Item]:
        item = _Item(service.spec.external_name or "", 0, owner)
        if request.endpoint or request.port or request.protocol or item.kind != "CNAME":
            raise _NameError
        return [item]

    def _ready_addresses(self, service: Service) -> int:
        return sum(
            len(endpoint.addresses)
            for slice_ in self._slices((service.namespace.lower(), service.name.lower()))
            for endpoint in slice_.endpoints or ()
            if endpoint.ready
        )

    def _endpoints(self, service: Service, request: _Request, owner: str) -> list[_Item]:
        """Ready endpoints alone (a slice says ready for every endpoint under publishNotReadyAddresses)."""
        items: list[_Item] = []
        for slice_ in self._slices((service.namespace.lower(), service.name.lower())):
            ports = [
                (port.name or "", port.protocol or "", NO_PORT if port.port is None else port.port)
                for port in slice_.ports or ()
            ] or [("", "", NO_PORT)]
            for endpoint in slice_.endpoints or ():
                if not endpoint.ready:
                    continue
                for address in endpoint.addresses:
                    hostname = self._hostname(endpoint, address)
                    if request.endpoint and request.endpoint.lower() != hostname.lower():
                        continue
                    items.extend(
                        _Item(address, port[2], f"{hostname}.{owner}")
                        for port in ports
                        if _port_matches(request, port[0], port[1])
                    )
        if not items:
            raise _NameError
        return items

    def _hostname(self, endpoint: Endpoint, address: str) -> str:
        """kubernetes.go endpointHostname: the endpoint's hostname, its Pod's name if asked for, else the address."""
        if endpoint.hostname:
            return endpoint.hostname
        if self.pod_names and endpoint.target_ref and 0 < len(endpoint.target_ref.name) < 64:
            return endpoint.target_ref.name
        if "." in address:
            return address.replace(".", "-")
        dashed = address.replace(":", "-")
        return dashed + "0" if dashed.endswith("-") else dashed


def parse_request(name: str, zone: str) -> _Request:
    """parse.go parseRequest; _NameError for a name that is no valid query of the zone."""
    base = name[: -len(zone)].removesuffix(".") if zone != "." else name.removesuffix(".")
    if base in ("", "svc", "pod"):
        return _Request()
    labels = base.split(".")
    if labels[-1] not in ("svc", "pod"):
        raise _NameError
    kind, rest = labels[-1], labels[:-1]
    namespace = rest.pop() if rest else ""
    service = rest.pop() if rest else ""
    if not rest:
        return _Request(kind, namespace, service)
    if len(rest) == 1:
        return _Request(kind, namespace, service, endpoint=rest[0])
    if len(rest) == 2:
        return _Request(kind, namespace, service, port=rest[0].removeprefix("_"), protocol=rest[1].removeprefix("_"))
    raise _NameError


def reverse_address(name: str) -> str:
    """dnsutil.ExtractAddressFromReverse: the address that a full reverse name stands for, or ""."""
    if name.endswith(".in-addr.arpa."):
        text = ".".join(reversed(name.removesuffix(".in-addr.arpa.").split(".")))
    elif name.endswith(".ip6.arpa."):
        nibbles = list(reversed(name.removesuffix(".ip6.arpa.").split(".")))
        if len(nibbles) != 32 or any(len(nibble) != 1 for nibble in nibbles):
            return ""
        text = ":".join("".join(nibbles[start : start + 4]) for start in range(0, 32, 4))
    else:
        return ""
    return address_of(text)


def _port_matches(request: _Request, name: str, protocol: str) -> bool:
    return (not request.port or request.port.lower() == name.lower()) and (
        not request.protocol or request.protocol.lower() == protocol.lower()
    )


def _fallthrough(plugin: Directive) -> tuple[str, ...]:
    option = plugin.option("fallthrough")
    if option is None:
        return ()
    return tuple(zone for text in option.args for zone in normalize(text)) or (".",)


def _dotted(host: str) -> str:
    return host if host.endswith(".") else host + "."
