"""Resolver libraries that a program links or imports: c-ares, dnspython, hickory (0.25 and 0.26)."""
