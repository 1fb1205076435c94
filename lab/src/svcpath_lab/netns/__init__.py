"""A whole Kubernetes in network namespaces of one Linux machine, without a container engine.

Each node is one process 1 with its own network, mount, PID, UTS and IPC namespaces; everything of the node runs below it,
so that ending that process ends the node. Outside its folder a lab makes cgroups and marked processes, nothing else.
"""
