"""svcpath: proves, layer by layer, why a Kubernetes Service does not work."""
