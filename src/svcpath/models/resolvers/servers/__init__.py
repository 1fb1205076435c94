"""The server's side: the Corefile and its lint, and what a CoreDNS with that Corefile and these objects answers."""
