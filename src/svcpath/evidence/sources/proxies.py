"""Which proxy a request goes through, by the environment, as client-go has it: Go's ProxyFromEnvironment.

Source: golang.org/x/net/http/httpproxy, proxy.go (v0.47): HTTPS_PROXY or HTTP_PROXY by the URL's scheme, the upper-case name
before the lower-case one; never for localhost and loopback addresses; NO_PROXY lists "*", addresses, CIDRs, and domains that
count for their subdomains too (those alone with a leading "." or "*."), each but a CIDR with a port where one is meant.
Python's own rules (urllib.request) know neither CIDRs nor loopback.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def from_environment(url: str, environment: Mapping[str, str]) -> str:
    """The proxy for ``url``, "" for none. One that is named without a scheme is an http one."""
    parsed = urlsplit(url)
    name = "HTTPS_PROXY" if parsed.scheme == "https" else "HTTP_PROXY"
    proxy = _either(environment, name)
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    if not proxy or not _used(parsed.hostname or "", str(port), _either(environment, "NO_PROXY")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _either(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.lower()) or ""


def _used(host: str, port: str, no_proxy: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return False
    entries = [entry for part in no_proxy.split(",") if (entry := part.strip().lower())]
    return not any(_listed(entry, host.lower(), address, port) for entry in entries)


def _listed(entry: str, host: str, address: Address | None, port: str) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            pass
    name, only = _parted(entry)
    if only not in ("", port) or not name:
        return False
    if (listed := _address(name)) is not None:
        return listed == address
    domain = name[1:] if name.startswith("*.") else name
    return host.endswith(domain) if domain.startswith(".") else host == domain or host.endswith(f".{domain}")


def _parted(entry: str) -> tuple[str, str]:
    """Host and port, "" for every port."""
    name, _, port = entry.rpartition(":")
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1], port
    return (name, port) if entry.count(":") == 1 else (entry, "")


def _address(text: str) -> Address | None:
    """An IPv4 address inside an IPv6 one is the IPv4 one, as Go compares them."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, ipaddress.IPv6Address) else found
