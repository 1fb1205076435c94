"""Calico's eBPF data plane: `calico-node -bpf nat dump` to a ServiceTable.

``held`` is what a dump says before it means anything; ``text`` and ``json_document`` read it in each of its layouts;
``table`` says where a new connection goes.
"""

from svcpath.models.dataplanes.calico.table import parse

__all__ = ["parse"]
