"""Proxies that look names up for others: Envoy (through c-ares) and nginx (a resolver of its own)."""
