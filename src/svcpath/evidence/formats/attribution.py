"""Whose state a file shows: the node, Pod and container named by its path or by its content.

A name counts when it stands in a file or folder name as a whole run of tokens; the file name is asked before its
folders and the longest name wins. Names are those that the evidence itself knows: Nodes, Pods, nodeName, targetRef,
reports of nodes. A socket list without a name belongs to the Pod or node whose address its sockets use. When nothing is
known, what sets sibling files or folders apart is taken as the owner's name. State of different owners is never
merged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind
from svcpath.evidence.facts.node import HealthReplies, NodeReports
from svcpath.evidence.facts.sockets import SocketTable
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.item import Item

NODE_STATE = frozenset(
    {*DATA_PLANE_DUMPS, Kind.CONNTRACK, Kind.CONNTRACK_STATS, Kind.SYSCTL, Kind.HAIRPIN_MODE, Kind.METRICS, Kind.ROUTES}
)
POD_STATE = frozenset(
    {
        Kind.RESOLV_CONF,
        Kind.HOSTS,
        Kind.NSSWITCH_CONF,
        Kind.ENVIRONMENT,
        Kind.RUNTIME,
        Kind.JVM,
        Kind.SOCKETS,
        Kind.ATTEMPTS,
        Kind.DURATIONS,
        Kind.LOOKUPS,
        Kind.QUERY,
        Kind.DNS_ANSWERS,
        Kind.TIMELINE,
    }
)
SCOPED = NODE_STATE | POD_STATE | {Kind.LOG, Kind.NODE_REPORT}

_EXTENSIONS = frozenset({"txt", "log", "json", "jsonl", "yaml", "yml", "conf", "out", "gz", "prom", "list", "dump"})
_FORMAT_WORDS = re.compile(
    r"iptables|ip6tables|nft|ipvs|ipset|conntrack|proc|tcp|udp|ss|sysctl|resolv|hosts?|nsswitch|env|log|kube-proxy|coredns|"
    r"metrics|routes?|rules|names|attempts|dump|list|save|ruleset|during|before|after|sockets|listeners"
)


class Owner(msgspec.Struct, frozen=True):
    node: str = ""
    pod: str = ""
    container: str = ""


@dataclass(slots=True)
class KnownNames:
    """Every node and Pod that the evidence knows."""

    nodes: set[str] = field(default_factory=set)
    pods: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    containers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    pod_node: dict[str, str] = field(default_factory=dict)
    host_network: set[str] = field(default_factory=set)
    pod_by_ip: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    node_by_ip: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def pod(self, namespace: str, name: str) -> str:
        self.pods[name].add(namespace)
        return f"{namespace}/{name}" if namespace else name


def collect(items: Iterable[Item]) -> KnownNames:
    names = KnownNames()
    for item in items:
        value = item.value
        if isinstance(value, api.Node):
            names.nodes.add(value.name)
            for entry in value.status.addresses or ():
                if address_of(entry.address):
                    names.node_by_ip[address_of(entry.address)].add(value.name)
        elif isinstance(value, api.Pod):
            _pod(names, value)
        elif isinstance(value, api.EndpointSlice):
            _slice(names, value)
        elif isinstance(value, api.Endpoints):
            for subset in value.subsets or ():
                for address in (*(subset.addresses or ()), *(subset.not_ready_addresses or ())):
                    if address.node_name:
                        names.nodes.add(address.node_name)
        elif isinstance(value, NodeReports):
            names.nodes.update(report.name for report in value.nodes if report.name)
        elif isinstance(value, HealthReplies):
            names.nodes.update(reply.node for reply in value.replies if not address_of(reply.node))
    names.nodes.discard("")
    return names


def _pod(names: KnownNames, pod: api.Pod) -> None:
    full = names.pod(pod.namespace, pod.name)
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    names.containers[full].update(container.name for container in containers)
    if pod.spec.node_name:
        names.nodes.add(pod.spec.node_name)
        names.pod_node[full] = pod.spec.node_name
    if pod.spec.host_network:
        names.host_network.add(full)
        if pod.spec.node_name:
            for ip in pod.ips:
                names.node_by_ip[address_of(ip)].add(pod.spec.node_name)
    elif not pod.finished:
        for ip in pod.ips:
            names.pod_by_ip[address_of(ip)].add(full)


def _slice(names: KnownNames, endpoint_slice: api.EndpointSlice) -> None:
    for endpoint in endpoint_slice.endpoints or ():
        if endpoint.node_name:
            names.nodes.add(endpoint.node_name)
        ref = endpoint.target_ref
        if ref is None or ref.kind != "Pod" or not ref.name:
            continue
        full = names.pod(ref.namespace or endpoint_slice.namespace, ref.name)
        if endpoint.node_name:
            names.pod_node.setdefault(full, endpoint.node_name)
        for ip in endpoint.addresses:
            # A Pod on the host's network shares the node's address: the Pod object above tells it.
            if address_of(ip) and full not in names.host_network and address_of(ip) not in names.node_by_ip:
                names.pod_by_ip[address_of(ip)].add(full)


class Attribution:
    """Finds owners for the files of one body of evidence."""

    def __init__(self, names: KnownNames, files: Sequence[tuple[str, Sequence[Item]]]) -> None:
        self.names = names
        self._node_names = _Matcher(names.nodes)
        self._pod_names = _Matcher(names.pods)
        self._guessed = _guess(files, self._knows)

    def owner(self, path: str, item: Item) -> Owner:
        if item.kind not in SCOPED:
            return Owner(item.node, item.pod)
        if item.node or item.pod:
            return Owner(item.node, item.pod)
        return self._by_path(path, item) or self._by_content(item) or self._by_guess(path, item)

    def _knows(self, path: str) -> bool:
        return any(self._node_names.longest(part) or self._pod_names.longest(part) for part in path.split("/"))

    def _by_path(self, path: str, item: Item) -> Owner | None:
        parts = path.split("/")
        for index in range(len(parts) - 1, -1, -1):
            node = self._node_names.longest(parts[index])
            pod = self._pod_names.longest(parts[index])
            if not node and not pod:
                continue
            if node and pod:
                if len(node) > len(pod) and node.find(pod) >= 0:
                    pod = ""
                elif len(pod) > len(node) and pod.find(node) >= 0:
                    node = ""
            return self._resolve(node, pod, parts, item)
        return None

    def _resolve(self, node: str, pod: str, parts: list[str], item: Item) -> Owner:
        full = self._full(pod, parts) if pod else ""
        container = self._container(full, parts) if full else ""
        if item.kind is Kind.LOG:
            return Owner(node or self.names.pod_node.get(full, ""), full, container)
        if item.kind in NODE_STATE or item.kind is Kind.NODE_REPORT:
            if node:
                return Owner(node)
            if full in self.names.host_network:
                return Owner(self.names.pod_node.get(full, ""))
            return Owner("", full, container)
        if full:
            return Owner("", full, container)
        return Owner(node)

    def _full(self, pod: str, parts: list[str]) -> str:
        spaces = self.names.pods[pod]
        named = [space for space in sorted(spaces) if space and space in parts]
        if named or len(spaces) == 1:
            space = named[0] if named else next(iter(spaces))
            return f"{space}/{pod}" if space else pod
        return pod

    def _container(self, full: str, parts: list[str]) -> str:
        known = _Matcher(self.names.containers.get(full, ()))
        pod = full.rpartition("/")[2]
        found = [name for part in parts if (name := known.longest(part.replace(pod, " ")))]
        return found[-1] if found else ""

    def _by_content(self, item: Item) -> Owner | None:
        addresses: list[str] = []
        if isinstance(item.value, SocketTable):
            for socket in item.value.sockets:
                if address := address_of(socket.local_address):
                    addresses.append(address)
        elif item.kind is Kind.HOSTS and isinstance(item.value, RawText):
            addresses = _own_address(item.value.text)
        pods = {pod for address in addresses for pod in self.names.pod_by_ip.get(address, ())}
        if len(pods) == 1:
            return Owner("", pods.pop())
        nodes = {node for address in addresses for node in self.names.node_by_ip.get(address, ())}
        if not pods and len(nodes) == 1:
            return Owner(nodes.pop())
        return None

    def _by_guess(self, path: str, item: Item) -> Owner:
        guess = self._guessed.get(path)
        if guess is not None:
            name, of_node = guess
            return Owner(name) if of_node else Owner("", name)
        tokens = [token for part in path.lower().split("/") for token in re.split(r"[^a-z0-9]+", part)]
        if item.kind in POD_STATE and ("node" in tokens or ("host" in tokens and item.kind is not Kind.HOSTS)):
            return Owner("?")
        return Owner()


def _own_address(text: str) -> list[str]:
    """The last entry of a kubelet-managed hosts file is the Pod's own."""
    if "Kubernetes-managed hosts file" not in text:
        return []
    own: list[str] = []
    for line in text.split("\n"):
        if line.startswith("# Entries added by HostAliases"):
            break
        words = line.split("#", 1)[0].split()
        address = address_of(words[0]) if words else ""
        if address and not address.startswith(("127.", "fe00:")) and address != "::1":
            own.append(address)
    return own


_TOKEN = re.compile(r"[A-Za-z0-9]+")


class _Matcher:
    """The longest of some names that stands in a text as a whole run of tokens, in whatever case."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_text: dict[str, str] = {}
        self._most = 0
        for name in sorted(names):
            if name and name[0].isalnum():
                self._by_text.setdefault(name.lower(), name)
                self._most = max(self._most, len(_TOKEN.findall(name)))

    def longest(self, text: str) -> str:
        text = text.lower()
        spans = [found.span() for found in _TOKEN.finditer(text)] if self._by_text else []
        best = ""
        for index, (start, _) in enumerate(spans):
            for _, end in spans[index : index + self._most]:
                if end - start > len(best):
                    best = self._by_text.get(text[start:end], best)
        return best


def _guess(files: Sequence[tuple[str, Sequence[Item]]], knows: object) -> dict[str, tuple[str, bool]]:
    """path -> (owner, whether it is a node), from what sets files or folders of the same kinds apart."""
    assert callable(knows)
    rows: list[tuple[str, str, list[str], frozenset[Kind]]] = []
    for path, items in files:
        kinds = frozenset(item.kind for item in items if item.kind in SCOPED)
        if kinds and not knows(path):
            folder, _, name = path.rpartition("/")
            rows.append((path, folder, _parts(name), kinds))
    guesses: dict[str, tuple[str, bool]] = {}
    by_token: dict[tuple[str, str], list[tuple[str, frozenset[Kind], str]]] = defaultdict(list)
    for path, folder, parts, kinds in rows:
        if len(parts) < 2:
            continue
        for token, rest in ((parts[0], ".".join(parts[1:])), (parts[-1], ".".join(parts[:-1]))):
            if not _FORMAT_WORDS.search(token.lower()):
                by_token[folder, token].append((path, kinds, rest))
    by_rest: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (folder, token), entries in by_token.items():
        for _, _, rest in entries:
            by_rest[folder, rest].add(token)
    for (folder, token), entries in sorted(by_token.items()):
        different = len({kinds for _, kinds, _ in entries}) > 1
        apart = any(len(by_rest[folder, rest]) > 1 for _, _, rest in entries)
        if different or apart:
            of_node = any(kinds & NODE_STATE for _, kinds, _ in entries)
            for path, _, _ in entries:
                guesses.setdefault(path, (token, of_node))
    _guess_folders(rows, guesses)
    return guesses


def _guess_folders(
    rows: list[tuple[str, str, list[str], frozenset[Kind]]], guesses: dict[str, tuple[str, bool]]
) -> None:
    """Sibling folders that hold files of the same name and kinds are each some owner's."""
    siblings: dict[tuple[str, str, frozenset[Kind]], list[tuple[str, str]]] = defaultdict(list)
    for path, folder, parts, kinds in rows:
        above, _, last = folder.rpartition("/")
        if last:
            siblings[above, ".".join(parts), kinds].append((path, last))
    owners: dict[str, bool] = {}
    for (above, _, kinds), entries in siblings.items():
        if len({last for _, last in entries}) > 1:
            for _, last in entries:
                where = f"{above}/{last}" if above else last
                owners[where] = owners.get(where, False) or bool(kinds & NODE_STATE)
    for path, folder, _, _ in rows:
        if folder in owners:
            guesses.setdefault(path, (folder.rpartition("/")[2], owners[folder]))


def _parts(name: str) -> list[str]:
    parts = name.split(".")
    while len(parts) > 1 and parts[-1].lower() in _EXTENSIONS:
        parts.pop()
    return parts
