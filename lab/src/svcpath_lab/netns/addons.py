"""What every cluster of the lab runs besides its control plane: kube-proxy as a DaemonSet, CoreDNS as a Deployment."""

from __future__ import annotations

import string
from typing import Any

import yaml

from svcpath_lab import resources
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.netns import configs
from svcpath_lab.netns.layout import Layout


def coredns(layout: Layout, image: str) -> str:
    """CoreDNS' manifests."""
    return _template("coredns.yaml").substitute(image=image, address=layout.dns_address, domain=configs.CLUSTER_DOMAIN)


def kube_proxy(image: str) -> str:
    """kube-proxy's manifests without its ConfigMap."""
    return _template("kube-proxy.yaml").substitute(image=image)


def kube_proxy_config(layout: Layout, mode: str, authority: str) -> dict[str, Any]:
    """kube-proxy's ConfigMap, with the keys that kubeadm's has: the proxy mode is switched here."""
    token = {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kube-proxy", "namespace": "kube-system", "labels": {"app": "kube-proxy"}},
        "data": {
            "config.conf": configs.kube_proxy(layout, mode),
            "kubeconfig.conf": configs.kubeconfig(
                configs.api_server(layout), authority.encode(), token, name="default"
            ),
        },
    }


def current_mode(kubectl: Kubectl) -> str:
    """The mode that kube-proxy's ConfigMap names, "" where there is none yet."""
    done = kubectl.run(
        *(
            "-n",
            "kube-system",
            "get",
            "configmap",
            "kube-proxy",
            "--ignore-not-found",
            "-o",
            "jsonpath={.data.config\\.conf}",
        ),
        check=False,
    )
    config = yaml.safe_load(done.out) if done.code == 0 and done.out.strip() else {}
    return str(config.get("mode", "")) if isinstance(config, dict) else ""


def synced(layout: Layout, mode: str) -> str:
    """A shell test that succeeds on a node once kube-proxy wrote its Services in ``mode`` and the other mode is gone.

    kube-proxy syncs each family by itself, so each of the lab's families is asked. The first has the cluster's own
    Services; another may have none, so of it the empty map or chain is enough: either is written with all that it holds.
    """
    tests = []
    for number, version in enumerate(layout.versions):
        save = f"{'ip6tables' if version == 6 else 'iptables'}-save -t nat"
        family = "ip6" if version == 6 else "ip"
        if mode == "nftables":
            filled = "" if number else " | grep -q elements"
            tests += [f"nft list map {family} kube-proxy service-ips{filled}", f"! {save} | grep -q :KUBE-SVC"]
        else:
            chain = "KUBE-SERVICES" if number else "KUBE-SVC"
            tests += [f"{save} | grep -q :{chain}", f"! nft list tables {family} | grep -q 'kube-proxy$'"]
    return " && ".join(tests)


def _template(name: str) -> string.Template:
    return string.Template((resources.folder() / "manifests" / "cluster" / name).read_text(encoding="utf-8"))
