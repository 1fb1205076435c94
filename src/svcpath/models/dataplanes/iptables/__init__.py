"""iptables-save as netfilter rules: legacy and nf_tables, with and without counters, ip6tables-save too.

``save`` reads the text: tables, chains, and whose a rule is. A rule is recognised by its shape (``shapes``) or read
option by option (``options``, ``targets``, ``values``); both give the same. An option that is not known makes its rule
``opaque``: the rule is kept, its line recorded, and a trace that meets it says so.
"""

from svcpath.models.dataplanes.iptables.save import parse

__all__ = ["parse"]
