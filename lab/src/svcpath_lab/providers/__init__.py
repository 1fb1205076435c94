"""Where a practice cluster comes from: network namespaces of this machine, kind, or a cluster that is there already."""
