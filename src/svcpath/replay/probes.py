"""Which model a recorded probe is held against, set up as that probe was (its version, timeouts and modes)."""

from __future__ import annotations

from svcpath.models.resolvers.base import Asking, Model
from svcpath.models.resolvers.environment import Environment, to_ascii
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl
from svcpath.models.resolvers.libraries.cares import Cares
from svcpath.models.resolvers.libraries.dnspython import Dnspython
from svcpath.models.resolvers.libraries.hickory import Hickory
from svcpath.models.resolvers.proxies.nginx import Nginx
from svcpath.models.resolvers.registry import Factory
from svcpath.models.resolvers.runtimes.go import Go
from svcpath.models.resolvers.runtimes.jvm import Jvm
from svcpath.models.resolvers.runtimes.libc_users import Python
from svcpath.models.resolvers.runtimes.node import NodeLookup, NodeResolve


class _Encoded:
    """A runtime that hands names on in their IDNA form (pycares)."""

    def __init__(self, model: Cares) -> None:
        self.model = model
        self.key, self.title = model.key, model.title

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        return self.model.lookup(to_ascii(name), memory)


def model_of(probe: str, env: Environment) -> Model | None:
    """None if no model covers the probe."""
    family, _, version = probe.partition("-")
    if family in ("musl", "glibc"):
        return Musl(env, version) if family == "musl" else Glibc(env, version)
    factories: dict[str, Factory] = {
        "python-gai": lambda e: Python(e, Glibc(e)),
        "node-lookup": lambda e: NodeLookup(e, Glibc(e)),
        "node-resolve4": lambda e: NodeResolve(e),
        "go-pure": lambda e: Go(e, "pure"),
        "go-cgo": lambda e: Go(e, "cgo"),
        "go-default": lambda e: Go(e, "default"),
        "cares-gai": lambda e: _Encoded(Cares(e, honours_use_vc=False)),
        "jvm-17": lambda e: Jvm(e, Glibc(e)),
        "jvm-25": lambda e: Jvm(e, Glibc(e)),
        "hickory": lambda e: Hickory(e, "0.25"),
        "hickory-0.26": lambda e: Hickory(e, "0.26"),
        "dnspython": lambda e: Dnspython(e, lifetime=1.0),
        "dnspython-search": lambda e: Dnspython(e, search=True, lifetime=1.0),
        "nginx": lambda e: Nginx(e, timeout=2.0),
    }
    factory = factories.get(probe)
    return factory(env) if factory else None
