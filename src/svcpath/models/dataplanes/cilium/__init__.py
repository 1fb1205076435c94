"""Cilium: service list, bpf lb list (also --frontends and --backends) and bpf ct list, text and JSON.

Formats: cilium-dbg/cmd/{service_list,bpf_lb_list,bpf_ct_list}.go and pkg/maps/{lbmap,ctmap} of Cilium 1.12 to 1.18.
``services`` makes a table of the first two (``service_text``, ``service_json`` read them, ``held`` says what their
entries mean); ``backends`` and ``connections`` read the maps that say where a connection went.
"""

from svcpath.models.dataplanes.cilium.backends import backends
from svcpath.models.dataplanes.cilium.connections import CtEntry, ct_entries
from svcpath.models.dataplanes.cilium.held import CiliumBackend
from svcpath.models.dataplanes.cilium.services import parse

__all__ = ["CiliumBackend", "CtEntry", "backends", "ct_entries", "parse"]
