"""Which model stands behind a name: the resolvers a user can ask for."""

from __future__ import annotations

from collections.abc import Callable

from svcpath.errors import UsageError
from svcpath.models.resolvers.base import Model
from svcpath.models.resolvers.environment import Environment, is_address, split_lines
from svcpath.models.resolvers.libc import musl_conf
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl
from svcpath.models.resolvers.libraries.cares import Cares
from svcpath.models.resolvers.libraries.dnspython import Dnspython
from svcpath.models.resolvers.libraries.hickory import Hickory
from svcpath.models.resolvers.proxies.envoy import Envoy
from svcpath.models.resolvers.proxies.nginx import Nginx
from svcpath.models.resolvers.runtimes.go import Go
from svcpath.models.resolvers.runtimes.jvm import Jvm
from svcpath.models.resolvers.runtimes.libc_users import DotNet, Python
from svcpath.models.resolvers.runtimes.node import NodeLookup, NodeResolve

Factory = Callable[[Environment], Model]

# In the order of the comparison table.
RESOLVERS: dict[str, Factory] = {
    "musl": lambda env: Musl(env, "1.2.5"),
    "musl-1.2.3": lambda env: Musl(env, "1.2.3"),
    "glibc": lambda env: Glibc(env, "2.36"),
    "glibc-2.41": lambda env: Glibc(env, "2.41"),
    "go": lambda env: Go(env, "pure"),
    "go-default": lambda env: Go(env, "default"),
    "go-cgo": lambda env: Go(env, "cgo"),
    "jvm": lambda env: Jvm(env, Glibc(env)),
    "jvm-musl": lambda env: Jvm(env, Musl(env)),
    "python": lambda env: Python(env, Glibc(env)),
    "python-musl": lambda env: Python(env, Musl(env)),
    "dotnet": lambda env: DotNet(env, Glibc(env)),
    "dotnet-musl": lambda env: DotNet(env, Musl(env)),
    "c-ares": lambda env: Cares(env),
    "envoy": lambda env: Envoy(env),
    "node-lookup": lambda env: NodeLookup(env, Glibc(env)),
    "node-lookup-musl": lambda env: NodeLookup(env, Musl(env)),
    "node-resolve4": lambda env: NodeResolve(env),
    "hickory": lambda env: Hickory(env, "0.25"),
    "hickory-0.26": lambda env: Hickory(env, "0.26"),
    "dnspython": lambda env: Dnspython(env),
    "dnspython-search": lambda env: Dnspython(env, search=True),
    "nginx": lambda env: Nginx(env),
}
# What --resolver all compares: one row for each way that differs.
COMPARED = (
    "musl",
    "musl-1.2.3",
    "glibc",
    "go",
    "jvm",
    "c-ares",
    "envoy",
    "node-lookup",
    "node-resolve4",
    "hickory",
    "hickory-0.26",
    "dnspython",
    "dnspython-search",
    "nginx",
)
ALIASES = {
    "musl-1.2.4": "musl",
    "musl-1.2.5": "musl",
    "musl-1.2.6": "musl",
    "glibc-2.36": "glibc",
    "golang": "go",
    "go-pure": "go",
    "java": "jvm",
    "cares": "c-ares",
    "cares-gai": "c-ares",
    "curl": "c-ares",
    "pycares": "c-ares",
    "node": "node-lookup",
    "node-resolve": "node-resolve4",
    "node-resolve*": "node-resolve4",
    "cpython": "python",
    "python3": "python",
    ".net": "dotnet",
    "rust": "hickory",
    "trust-dns": "hickory",
    "hickory-0.25": "hickory",
}


def canonical(name: str) -> str:
    """The registry's own name; UsageError with the list for an unknown one. Versions map to the nearest that
    differs."""
    key = name.strip().lower()
    key = ALIASES.get(key, key)
    if key in RESOLVERS:
        return key
    family, _, version = key.partition("-")
    number = tuple(int(part) for part in version.split(".") if part.isdigit())
    if number and family == "musl":
        return "musl" if number >= (1, 2, 4) else "musl-1.2.3"
    if number and family == "glibc":
        return "glibc-2.41" if number >= (2, 41) else "glibc"
    raise UsageError(f"no resolver is called {name!r}; there are: all, {', '.join(RESOLVERS)}")


def build(name: str, environment: Environment) -> Model:
    return RESOLVERS[canonical(name)](environment)


def nameservers(conf: str | None) -> tuple[str, ...]:
    """Every server that a resolv.conf names, without any resolver's limit; 127.0.0.1 if none."""
    found = []
    for line in split_lines(conf or ""):
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver" and is_address(words[1]):
            found.append(words[1])
    return tuple(found) or musl_conf.parse(conf).servers
