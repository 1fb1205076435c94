"""IPVS: /proc/net/ip_vs and ipvsadm's listings to a ServiceTable, its connections, and the sets of kube-proxy's mode.

``table`` makes the table; ``columns`` says which columns a listing has, ``commands`` reads ipvsadm-save,
``connections`` ipvsadm -Lcn, ``sets`` ipset's output.
"""

from svcpath.models.dataplanes.ipvs.connections import IpvsConnection, connections
from svcpath.models.dataplanes.ipvs.sets import ipset_frontends, ipsets
from svcpath.models.dataplanes.ipvs.table import RealServer, parse

__all__ = ["IpvsConnection", "RealServer", "connections", "ipset_frontends", "ipsets", "parse"]
