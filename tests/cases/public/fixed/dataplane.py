"""Fixed variants of the data-plane cases (37 to 59)."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.public.fixed.edit import Files, endpoint, replace
from tests.fixtures.chain_names import rechain


def _hairpin_on(files: Files) -> None:
    replace(files, "hairpin.txt", "hairpin_mode 0", "hairpin_mode 1")
    replace(files, "client.txt", "-> timeout", "-> 200")


def _endpoint_again(files: Files) -> None:
    replace(files, "slice.yaml", "endpoints: []\n", endpoint("10.244.2.9", "statsd-1"))
    del files["iptables-save.txt"]


def _right_backend(files: Files) -> None:
    replace(files, "conntrack-L.txt", "src=10.244.0.9", "src=10.244.0.21")


def _pool_recycled(files: Files) -> None:
    replace(files, "conntrack-L.txt", "src=10.244.1.70", "src=10.244.2.71")


def _template_gone(files: Files) -> None:
    files["ipvsadm-Lcn.txt"] = files["ipvsadm-Lcn.txt"].replace("10.244.1.80", "10.244.2.80")
    replace(files, "sysctl.txt", "expire_quiescent_template = 0", "expire_quiescent_template = 1")
    lines = files["ipvsadm-Ln.txt"].splitlines(keepends=True)
    files["ipvsadm-Ln.txt"] = "".join(line for line in lines if "10.244.1.80" not in line)


def _no_reuse(files: Files) -> None:
    replace(files, "sysctl.txt", "conn_reuse_mode = 1", "conn_reuse_mode = 0")
    files["connect-times.txt"] = "0.003\n0.004\n0.004\n0.003\n"


def _cleaned_up(files: Files) -> None:
    lines = files["iptables-save.txt"].splitlines(keepends=True)
    files["iptables-save.txt"] = "".join(line for line in lines if "KUBE-S" not in line or "KUBE-FIREWALL" in line)


def _local_endpoint(files: Files) -> None:
    replace(files, "slice.yaml", "nodeName: node-b", "nodeName: node-a")
    del files["iptables-save.node-a.txt"]


def _one_release(files: Files) -> None:
    files["versions.json"] = '[{"kubeProxy": "1.28", "node": "node-a"}]'


def _right_health(files: Files) -> None:
    replace(
        files,
        "healthz.txt",
        'node-b:31002 HTTP/1.1 200 OK {"service":{"namespace":"shop","name":"lb"},"localEndpoints":1}',
        'node-b:31002 HTTP/1.1 503 Service Unavailable {"service":{"namespace":"shop","name":"lb"},"localEndpoints":0}',
    )


def _known_backend(files: Files) -> None:
    replace(files, "ct-list.txt", "BackendID=412", "BackendID=501")
    del files["monitor.txt"]


def _node_ready(files: Files) -> None:
    files["nodes.txt"] = "node-a Ready\nnode-dead Ready\n"


def _synced(files: Files) -> None:
    files["iptables-save.txt"] = rechain(files["iptables-save.txt"].replace("10.244.1.96", "10.244.2.96"))


FIX: dict[str, Callable[[Files], None]] = {
    "37-hairpin-own-service": _hairpin_on,
    "38-udp-stale-conntrack-zero-endpoints": _endpoint_again,
    "40-udp-stale-entry-coredns-replaced": _right_backend,
    "41-tcp-established-to-removed-endpoint": _pool_recycled,
    "43-ipvs-affinity-persistence-weight0": _template_gone,
    "45-ipvs-1s-delay-conn-reuse-mode-1": _no_reuse,
    "47-leftover-iptables-reject-after-ipvs": _cleaned_up,
    "49-etp-local-no-local-endpoint": _local_endpoint,
    "51-etp-local-only-terminating": _one_release,
    "52-healthchecknodeport-two-owners": _right_health,
    "54-cilium-ct-backend-not-found": _known_backend,
    "57-calico-bpf-dead-node-backend": _node_ready,
    "59-sync-lag-huge-ruleset": _synced,
}
