"""Corefiles that end too early."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.walk.layers.inputs import broken

_OPEN = ".:53 {\n    errors\n    kubernetes cluster.local in-addr.arpa ip6.arpa\n    forward . 192.0.2.53\n"


@broken("fault", "resolution", "SP001", "closing brace")
def a_corefile_without_its_last_brace() -> Cluster:
    made = cluster().settle()
    made.files["Corefile"] = _OPEN
    return made


@broken("inconclusive", None, "SP001", "may be cut")
def a_corefile_that_ends_within_a_line() -> Cluster:
    made = cluster().settle()
    made.files["Corefile"] = _OPEN[:-4]
    return made
