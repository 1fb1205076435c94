"""Configuration files of a node's programs, as text computed from the layout; nothing here touches the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from svcpath_lab.netns.layout import Layout, NodePlan, url_host

CLUSTER_DOMAIN = "cluster.local"
API_PORT = 6443

#: Tunables that a kubelet sets for the whole machine; in the node they read as set, so that it leaves the machine alone.
#: Source: Kubernetes v1.35 pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables.
PINNED_SYSCTLS = {
    "/proc/sys/vm/overcommit_memory": "1",
    "/proc/sys/vm/panic_on_oom": "0",
    "/proc/sys/kernel/panic": "10",
    "/proc/sys/kernel/panic_on_oops": "1",
    "/proc/sys/kernel/keys/root_maxkeys": "1000000",
    "/proc/sys/kernel/keys/root_maxbytes": "25000000",
}


def kubelet(layout: Layout, node: NodePlan, pki: Path, cgroup_root: str, *, cgroup_v1: bool) -> str:
    """KubeletConfiguration (kubelet.config.k8s.io/v1beta1)."""
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup_root,
        "clusterDNS": [str(layout.dns_address)],
        "clusterDomain": CLUSTER_DOMAIN,
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "enforceNodeAllocatable": [],
        "evictionHard": {
            "memory.available": "0%",
            "nodefs.available": "0%",
            "nodefs.inodesFree": "0%",
            "imagefs.available": "0%",
        },
        "failSwapOn": False,
        "imageGCHighThresholdPercent": 100,
        "podLogsDir": "/var/log/pods",
        "resolvConf": "/var/lib/svcpath/resolv.conf",
        "rotateCertificates": False,
        "staticPodPath": "",
        "tlsCertFile": str(pki / f"kubelet-{node.name}.crt"),
        "tlsPrivateKeyFile": str(pki / f"kubelet-{node.name}.key"),
    }
    if cgroup_v1:
        config["failCgroupV1"] = False
    if node.control_plane and layout.workers != layout.nodes:
        config["registerWithTaints"] = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    return yaml.safe_dump(config, sort_keys=False)


def containerd(pause_image: str, cni_programs: Path, *, snapshotter: str = "overlayfs") -> str:
    """containerd's config.toml, version 2 (containerd 1.x as it is, 2.x after its own migration)."""
    return f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", \
"io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause_image}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  tolerate_missing_hugetlb_controller = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{cni_programs}"
  conf_dir = "/var/lib/svcpath/cni"

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "{snapshotter}"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
"""


def cni(layout: Layout, node: NodePlan) -> str:
    """The CNI list of one node: a bridge with hairpin on, addresses from the node's own ranges."""
    del layout
    plugins: list[dict[str, Any]] = [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "ipMasq": False,
            "hairpinMode": True,
            "mtu": 1500,
            "ipam": {
                "type": "host-local",
                "dataDir": "/var/lib/cni/networks",
                "ranges": [[{"subnet": str(network)}] for network in node.pod_ranges],
                "routes": [{"dst": "::/0" if network.version == 6 else "0.0.0.0/0"} for network in node.pod_ranges],
            },
        },
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]
    return json.dumps({"cniVersion": "1.0.0", "name": "lab", "plugins": plugins}, indent=2) + "\n"


def kube_proxy(layout: Layout, mode: str) -> str:
    """KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1).

    The conntrack settings stay untouched: their sysctls belong to the first network namespace.
    """
    return yaml.safe_dump(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "bindAddress": "::" if layout.versions == (6,) else "0.0.0.0",
            "clientConnection": {"kubeconfig": "/var/lib/kube-proxy/kubeconfig.conf"},
            "clusterCIDR": ",".join(map(str, layout.pod_ranges)),
            "conntrack": {"maxPerCore": 0, "tcpCloseWaitTimeout": "0s", "tcpEstablishedTimeout": "0s"},
            "detectLocalMode": "ClusterCIDR",
            "mode": mode,
        },
        sort_keys=False,
    )


def kubeconfig(server: str, authority: bytes, user: Mapping[str, Any], *, name: str = "svcpath-lab") -> str:
    """A kubeconfig with one cluster, one user and one context, all called ``name``."""
    import base64

    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": base64.b64encode(authority).decode(),
                    },
                }
            ],
            "users": [{"name": name, "user": dict(user)}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=False,
    )


def audit_policy() -> str:
    """Policy (audit.k8s.io/v1): who asked for what, by verb and resource, without any body.

    The control plane's own traffic is left out, and an exec is written when it starts too, for it may last.
    """
    own = ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]
    return yaml.safe_dump(
        {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [
                {"level": "None", "users": own},
                {"level": "None", "userGroups": ["system:nodes", "system:serviceaccounts:kube-system"]},
                {"level": "None", "nonResourceURLs": ["/livez*", "/readyz*", "/healthz*"]},
                {"level": "Metadata"},
            ],
        },
        sort_keys=False,
    )


def api_server(layout: Layout) -> str:
    """The API server's URL on the wire."""
    return f"https://{url_host(layout.control_plane.addresses[0])}:{API_PORT}"


def upstream_dns(layout: Layout) -> str:
    """Corefile of the world outside: every name is NXDOMAIN, but for a zone that answers."""
    binds = " ".join(map(str, layout.gateway))
    return f""". {{
    bind {binds}
    template ANY ANY {{
        rcode NXDOMAIN
        authority "{{{{ .Zone }}}} 60 IN SOA ns.invalid. root.invalid. 1 3600 600 86400 60"
    }}
}}
example.com {{
    bind {binds}
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 192.0.2.80"
    }}
    template IN AAAA {{
        answer "{{{{ .Name }}}} 60 IN AAAA 2001:db8::80"
    }}
}}
"""
