"""Rules that another proxy mode left behind."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.rule_tables import iptables
from tests.walk.layers.inputs import broken, sound

_CONFIG = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n"


_IPVS = """IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.10.1:80 rr
  -> 10.244.1.11:8080             Masq    1      0          0
  -> 10.244.2.12:8080             Masq    1      0          0
"""


def _left(rules: Cluster, *, table: str = _IPVS) -> Cluster:
    """kube-proxy runs in ipvs mode, and what ``rules`` would give in iptables mode is still there."""
    made = cluster().settle()
    made.files["kube-proxy-config.yaml"] = _CONFIG
    if table:
        made.files["w1.ipvsadm-Ln.txt"] = table
    made.files["w1.iptables-save.txt"] = iptables(rules.settle().objects, 4)
    return made


@broken("fault", "dataplane", "SP607", "REJECT", "10.96.10.1:80", "ipvs, in use, is right")
def a_left_reject_beside_the_ipvs_table() -> Cluster:
    return _left(cluster(0))


@broken("fault", "dataplane", "SP607", "REJECT", "10.96.10.1:80", "ipvs")
def a_left_reject_where_the_table_in_use_is_not_in_the_evidence() -> Cluster:
    return _left(cluster(0), table="")


@broken("fault", "dataplane", "SP607", "10.244.1.13:8080")
def left_rules_that_send_to_a_pod_that_is_gone() -> Cluster:
    return _left(cluster(3))


@broken("warning", "dataplane", "SP607", "10.96.10.1:80", "as the slices say")
def left_rules_that_send_to_the_right_pods() -> Cluster:
    return _left(cluster(2))


@sound()
def left_rules_of_another_service() -> Cluster:
    rules = cluster(2, clusterIP="10.96.10.77")
    rules.get("Service")["metadata"]["name"] = "other"
    return _left(rules)
