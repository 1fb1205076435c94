"""Container images made on this machine, so that a lab needs no registry and no container engine."""
