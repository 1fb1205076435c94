"""The C libraries' own getaddrinfo: glibc (with its nsswitch.conf) and musl. Each has its reading of resolv.conf beside it."""
