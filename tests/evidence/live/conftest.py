"""The recorded nftables cluster behind a scripted API server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from svcpath.evidence.sources.execs import Limits
from svcpath.evidence.sources.kube import ClusterSource, Options
from svcpath.evidence.sources.kube_client import Access
from tests.fixtures.recorded_api import Api, recorded, serving

PROCESSES = (
    "process\t1\t0\t0\t/usr/bin/tini\n"
    "process\t7\t1\t1\t/usr/bin/python3.11\n"
    "library\t7\t/usr/lib/x86_64-linux-gnu/libc.so.6\n"
    "process\t90\t0\t0\t/usr/bin/dash\n"
)
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
HEADER6 = (
    "  sl  local_address                         remote_address                        st tx_queue rx_queue tr "
    "tm->when retrnsmt   uid  timeout inode\n"
)


def api(mode: str = "nftables") -> Api:
    """The recording as a cluster; its clock and its tables are the recorded ones."""
    objects, texts = recorded(mode)
    objects = [dict(obj) for obj in objects]
    objects += [
        {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
        for name in ("default", "kube-system", "service-ops")
    ]
    looks: dict[str, dict[str, tuple[str, int]]] = {
        "client": {
            "resolv.conf": (texts["client.resolv.conf"], 0),
            "hosts": (texts["client.hosts"], 0),
            "nsswitch.conf": ("", 3),
            "environment": ("", 0),
            "processes": (PROCESSES, 0),
            "libc": ("glibc 2.36\n", 0),
            "lookup": ("python3\nlibc\tglibc 2.36\nwrong-port\tok\t10.96.225.249\n", 0),
            "dial": ("python3\nARGUMENTS\n", 0),
        },
    }
    for obj in objects:
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
        if obj["kind"] == "Pod" and name.startswith("echo-server"):
            looks[name] = {
                "tcp": (texts[f"{name}.proc-net-tcp.txt"] or HEADER, 0),
                "tcp6": (texts[f"{name}.proc-net-tcp6.txt"] or HEADER6, 0),
            }
        if obj["kind"] == "Pod" and name.startswith("kube-proxy") and namespace == "kube-system":
            node = obj["spec"]["nodeName"]
            looks[name] = {
                "iptables-save": (texts[f"{node}.iptables-save.txt"], 0),
                "nft": (texts[f"{node}.nft-ruleset.txt"], 0),
                "flows": (texts[f"{node}.conntrack.txt"], 0),
                "rules4": ("0:\tfrom all lookup local\n32766:\tfrom all lookup main\n", 0),
                "routes4": ("default via 172.30.0.1 dev eth0 \n10.244.1.0/24 dev cni0 proto kernel scope link\n", 0),
                "mtus": ("/sys/class/net/eth0/mtu:1500\n/sys/class/net/cni0/mtu:1450\n", 0),
                "sysctl": ("/proc/sys/net/ipv4/ip_forward:1\n", 0),
                "hairpin": ("/sys/class/net/cni0/brif/veth1/hairpin_mode:1\n", 0),
            }
    looks[""] = {"log": (texts["w1.kube-proxy.log"], 0)}
    for service in (obj for obj in objects if obj["kind"] == "Service"):
        if service["metadata"]["name"] == "wrong-port":
            address = service["spec"]["clusterIP"]
            looks["client"]["lookup"] = (f"python3\nlibc\tglibc 2.36\nwrong-port\tok\t{address}\n", 0)
    return Api(objects, looks)


@pytest.fixture
def scripted() -> Api:
    return api()


class Source(Protocol):
    """Opens a ClusterSource over a scripted server."""

    def __call__(
        self, server: Api, *, timeout: float = 20.0, execs: bool = True, probes: int = 200
    ) -> AbstractContextManager[ClusterSource]: ...


@pytest.fixture
def source(tmp_path: Path) -> Source:
    @contextmanager
    def opened(server: Api, *, timeout: float = 20.0, execs: bool = True, probes: int = 200) -> Iterator[ClusterSource]:
        with serving(server):
            access = Access(kubeconfig=server.kubeconfig(tmp_path), timeout=timeout)
            with ClusterSource(access, Options(execs=execs, limits=Limits(probes=probes))) as found:
                yield found

    return opened
