"""Words for the things that several layers speak of: why a Pod is not ready, the port that a targetPort means, whether a socket
takes a connection, whose a slice is."""
