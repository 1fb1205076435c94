"""Record a cluster into a folder that ``svcpath diagnose --evidence`` reads: every file is what a real command printed.

    objects.json               Services, slices, v1 Endpoints, Pods, workloads, events, policies of the namespaces asked for
    nodes.json                 Nodes
    coredns-configmap.json, kube-proxy-configmap.json, coredns.log
    NODE.iptables-save.txt ... rules, conntrack entries, sysctls, hairpin modes and kube-proxy's log of each node
    CLIENT.resolv.conf ...     resolver files, what names resolved to, connection attempts of each client Pod
    POD.proc-net-tcp.txt ...   the sockets of each Pod

A file whose command fails is left out, and said so; an empty one would read as "looked, and nothing there".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svcpath.evidence.sources.scripts import one_line
from svcpath_lab.command import Completed, Say
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import NotOffered, Provider

_RESOURCES = (
    "services,endpointslices.discovery.k8s.io,endpoints,pods,deployments.apps,replicasets.apps,daemonsets.apps,"
    "statefulsets.apps,networkpolicies.networking.k8s.io,poddisruptionbudgets.policy,events"
)
_SYSCTLS = (
    "net.ipv4.ip_forward net.ipv6.conf.all.forwarding net.ipv4.conf.all.rp_filter net.ipv4.conf.default.rp_filter "
    "net.ipv4.conf.all.route_localnet net.bridge.bridge-nf-call-iptables net.bridge.bridge-nf-call-ip6tables "
    "net.netfilter.nf_conntrack_max net.netfilter.nf_conntrack_count"
)
_NODE_COMMANDS: dict[str, list[str]] = {
    "iptables-save.txt": ["iptables-save"],
    "ip6tables-save.txt": ["ip6tables-save"],
    "nft-ruleset.txt": ["nft", "list", "ruleset"],
    "nft.json": ["nft", "-j", "list", "ruleset"],
    "conntrack.txt": ["conntrack", "-L"],
    "conntrack-stats.txt": ["conntrack", "-S"],
    "sysctl.txt": ["sh", "-c", f"sysctl {_SYSCTLS} 2>/dev/null; true"],
    "routes.txt": ["sh", "-c", "ip rule; ip -4 route show table all; ip -6 rule; ip -6 route show table all"],
    "hairpin_mode.txt": ["sh", "-c", "grep -H . /sys/class/net/*/brif/*/hairpin_mode"],
}
_POD_FILES = {f"proc-net-{name}.txt": f"/proc/net/{name}" for name in ("tcp", "tcp6", "udp", "udp6")}
_ATTEMPTS = 2
#: Lines of a conntrack list that are kept: a full one has 262144 and more.
_LINES = 5000
#: Seconds for one look; a node that is cut off answers none.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class RecordingScope:
    """What to record: the namespaces whose objects, and the client Pods ("namespace/name") whose view is wanted."""

    namespaces: tuple[str, ...]
    clients: tuple[str, ...] = ()
    system: tuple[str, ...] = ("default", "kube-system")
    #: Names to look up beside those of the Services, as an application writes them.
    names: tuple[str, ...] = ()


@dataclass
class LabRecorder:
    """Writes the files of one recording."""

    folder: Path
    say: Say
    missing: list[str] = field(default_factory=list)

    def keep(self, name: str, take: Callable[[], Completed]) -> None:
        """Write what a command printed; note it when the command failed or is not offered."""
        try:
            done = take()
        except NotOffered as no:
            self.missing.append(f"{name}: {no}")
            return
        if done.code != 0 and not (done.out and name.endswith((".names.txt", ".attempts.txt"))):
            self.missing.append(f"{name}: `{done.line}` ended with {done.code}: {done.err.strip()[-120:]}")
        elif done.out.strip():
            lines = done.out.splitlines(keepends=True)[:_LINES] if name.endswith("conntrack.txt") else [done.out]
            (self.folder / name).write_text("".join(lines), encoding="utf-8")


def record(provider: Provider, folder: Path, asked: RecordingScope, say: Say) -> list[str]:
    """Record into ``folder``; returns what could not be recorded, a line each."""
    folder.mkdir(parents=True, exist_ok=True)
    kubectl = provider.kubectl()
    recorder = LabRecorder(folder, say)
    say("connections and names, as the clients see them")
    services = {namespace: kubectl.items("-n", namespace, "services") for namespace in asked.namespaces}
    slices = {namespace: kubectl.items("-n", namespace, "endpointslices") for namespace in asked.namespaces}
    for client in asked.clients:
        _client(recorder, kubectl, client, services, slices, asked.names)
    say("objects, nodes' tables and sockets")
    jobs: list[tuple[str, Callable[[], Completed]]] = []
    jobs += _cluster_jobs(kubectl)
    jobs += _node_jobs(provider, kubectl)
    for namespace in asked.namespaces:
        for pod in kubectl.items("-n", namespace, "pods"):
            if pod["status"].get("phase") == "Running":
                jobs += _socket_jobs(kubectl, namespace, pod["metadata"]["name"])
    # Beside the tables, not after them: what waits for a node that is cut off must not part the two.
    _objects(kubectl, folder, (*asked.system, *asked.namespaces))
    with ThreadPoolExecutor(max_workers=4) as pool:
        for future in [pool.submit(recorder.keep, name, take) for name, take in jobs]:
            future.result()
    return recorder.missing


def _objects(kubectl: Kubectl, folder: Path, names: Sequence[str]) -> None:
    """One List of everything, as ``kubectl get -o json`` gives it for each namespace."""
    items: list[dict[str, Any]] = []
    for name in dict.fromkeys(names):
        items += kubectl.items("-n", name, _RESOURCES)
    items += [namespace for namespace in kubectl.items("namespaces") if namespace["metadata"]["name"] in names]
    listed = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    (folder / "objects.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def _cluster_jobs(kubectl: Kubectl) -> list[tuple[str, Callable[[], Completed]]]:
    system = ("-n", "kube-system")
    commands = {
        "nodes.json": ("get", "nodes", "-o", "json"),
        "coredns-configmap.json": (*system, "get", "configmap", "coredns", "-o", "json"),
        "kube-proxy-configmap.json": (*system, "get", "configmap", "kube-proxy", "-o", "json"),
        "coredns.log": (*system, "logs", "-l", "k8s-app=kube-dns", "--tail=200", "--prefix=true"),
    }
    return [
        (name, _later(lambda words: kubectl.run(*words, check=False, timeout=_PATIENCE), words))
        for name, words in commands.items()
    ]


def _node_jobs(provider: Provider, kubectl: Kubectl) -> list[tuple[str, Callable[[], Completed]]]:
    jobs: list[tuple[str, Callable[[], Completed]]] = []
    proxies = {
        proxy["spec"].get("nodeName"): proxy["metadata"]["name"]
        for proxy in kubectl.items("-n", "kube-system", "pods", "-l", "k8s-app=kube-proxy")
    }
    for node in provider.nodes():
        proxy = proxies.get(node, "")
        for name, argv in _NODE_COMMANDS.items():
            jobs.append((f"{node}.{name}", _later(_on_node, (provider, kubectl, node, proxy, argv))))
        if proxy:
            words = ("-n", "kube-system", "logs", proxy, "--tail=400")
            jobs.append(
                (
                    f"{node}.kube-proxy.log",
                    _later(lambda words: kubectl.run(*words, check=False, timeout=_PATIENCE), words),
                )
            )
    return jobs


def _on_node(asked: tuple[Provider, Kubectl, str, str, list[str]]) -> Completed:
    """With the node's own tools, or where those are out of reach with its kube-proxy Pod's, as an engineer would."""
    provider, kubectl, node, proxy, argv = asked
    try:
        return provider.run_on_node(node, argv, check=False)
    except NotOffered:
        if not proxy:
            raise
        return kubectl.exec("kube-system", proxy, argv)


def _socket_jobs(kubectl: Kubectl, namespace: str, pod: str) -> list[tuple[str, Callable[[], Completed]]]:
    return [
        (f"{pod}.{name}", _later(lambda path: kubectl.exec(namespace, pod, ["cat", path], timeout=_PATIENCE), path))
        for name, path in _POD_FILES.items()
    ]


def _client(
    recorder: LabRecorder,
    kubectl: Kubectl,
    client: str,
    services: dict[str, list[dict[str, Any]]],
    slices: dict[str, list[dict[str, Any]]],
    asked: tuple[str, ...] = (),
) -> None:
    namespace, _, pod = client.rpartition("/")
    for name in ("resolv.conf", "hosts"):
        recorder.keep(f"{pod}.{name}", _later(lambda path: kubectl.exec(namespace, pod, ["cat", path]), f"/etc/{name}"))
    names = list(dict.fromkeys((*_names(namespace, services), *asked)))
    recorder.keep(f"{pod}.names.txt", lambda: _lookups(kubectl, namespace, pod, names))
    urls = [*_urls(namespace, services), *_direct_urls(slices)]
    script = _side_by_side(_request_command(kubectl, namespace, pod))
    recorder.keep(
        f"{pod}.attempts.txt",
        lambda: kubectl.exec(namespace, pod, ["sh", "-c", script, "sh", *urls], timeout=120),
    )


def _side_by_side(action: str) -> str:
    """A script that does ``one`` for each "$word" at the same time and prints what came out in their order: a name
    server or a backend that never answers costs its timeout once, not once a word."""
    return (
        'out=$(mktemp -d); n=100; for word in "$@"; do n=$((n+1)); ( '
        + action
        + ' ) > "$out/$n" 2>&1 & done; wait; cat "$out"/*; rm -r "$out"'
    )


def _request_command(kubectl: Kubectl, namespace: str, pod: str) -> str:
    """The lab's own request.py, which says why a connection failed, else curl; both write the same line."""
    if kubectl.exec(namespace, pod, ["test", "-f", "/app/request.py"]).code == 0:
        return f'python3 /app/request.py "$word" {_ATTEMPTS} 5'
    form = "  code=%{http_code} exit=%{exitcode} remote=%{remote_ip}:%{remote_port} connect=%{time_connect}\\n"
    request = (
        'printf "%s %s " "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)" "$word"; '
        f"curl -sS --connect-timeout 2 --max-time 5 -w '{form}' \"$word\" 2>&1 | tr '\\n' ' '; echo"
    )
    return f"for n in $(seq {_ATTEMPTS}); do {request}; done"


def _lookups(kubectl: Kubectl, namespace: str, pod: str, names: Sequence[str]) -> Completed:
    """Every name through every resolver that the client offers, one line each: PROBE NAME -> ADDRESSES or CODE TEXT."""
    lookups = one_line("lookups.sh", "svcpath_lab.resources")
    return kubectl.exec(namespace, pod, ["sh", "-c", _side_by_side(lookups), "sh", *names], timeout=150)


def _names(client_namespace: str, services: dict[str, list[dict[str, Any]]]) -> Sequence[str]:
    found = []
    for namespace, items in services.items():
        for item in items:
            name = item["metadata"]["name"]
            short = [name] if namespace == client_namespace else []
            absolute = f"{name}.{namespace}.svc.cluster.local"
            found += [*short, f"{name}.{namespace}", absolute, f"{absolute}."]
    return found


def _urls(client_namespace: str, services: dict[str, list[dict[str, Any]]]) -> Sequence[str]:
    found = []
    for namespace, items in services.items():
        for item in items:
            name = item["metadata"]["name"]
            host = name if namespace == client_namespace else f"{name}.{namespace}"
            for port in item["spec"].get("ports") or ():
                if port.get("protocol", "TCP") == "TCP":
                    found.append(f"http://{host}:{port['port']}/hostname")
    return found


def _direct_urls(slices: dict[str, list[dict[str, Any]]]) -> Sequence[str]:
    """The backends themselves: step five of the walk."""
    found: dict[str, None] = {}
    for items in slices.values():
        for item in items:
            for port in item.get("ports") or ():
                if port.get("protocol", "TCP") != "TCP" or not port.get("port"):
                    continue
                for endpoint in item.get("endpoints") or ():
                    for address in endpoint["addresses"]:
                        host = f"[{address}]" if ":" in address else address
                        found[f"http://{host}:{port['port']}/hostname"] = None
    return list(found)


def _later(call: Callable[[Any], Completed], argument: Any) -> Callable[[], Completed]:
    return lambda: call(argument)
