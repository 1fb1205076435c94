"""Who writes EndpointSlices, by their label ``endpointslice.kubernetes.io/managed-by`` (KEP-752)."""

CONTROLLER = "endpointslice-controller.k8s.io"
MIRRORING = "endpointslicemirroring-controller.k8s.io"
