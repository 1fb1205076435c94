"""kubernetes_asyncio's kubeconfig reader and transport, without the 700 modules of API objects that come with them.

``import kubernetes_asyncio`` takes longer than a whole diagnosis asks of a cluster, for its packages import every class of
the API at once, and of these nothing is used here. So while its kubeconfig reader is imported the two packages that do so
stand empty; afterwards they are as if nobody had imported them, and whoever does gets them whole. Two more costs are put
off until somebody needs what they pay for: urllib3, of which a password's header is all that is used, and the machine's
store of authorities, which aiohttp reads when it is imported though a kubeconfig names its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import ssl
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

_PACKAGE = "kubernetes_asyncio"
_CLIENT = f"{_PACKAGE}.client"


class Library(msgspec.Struct, frozen=True):
    """The parts that are used: the class Configuration, the module of kubeconfig readers, the class of the transport."""

    configuration: Any
    config: Any
    transport: Any


def library() -> Library:
    """Raises ImportError where kubernetes_asyncio is not installed."""
    if _PACKAGE not in sys.modules and (found := _light()) is not None:
        return found
    client = importlib.import_module(_CLIENT)
    config = importlib.import_module(f"{_PACKAGE}.config")
    rest = importlib.import_module(f"{_CLIENT}.rest")
    return Library(client.Configuration, config, rest.RESTClientObject)


def _light() -> Library | None:
    """None where this release is laid out otherwise; then it is imported whole."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{_PACKAGE} is not installed")
    place = next(iter(spec.submodule_search_locations))
    late: dict[str, types.ModuleType] = {}
    try:
        with _authorities_read_late():
            importlib.import_module("aiohttp")
        late = {name: _loaded_late(name) for name in ("urllib3",) if name not in sys.modules}
        sys.modules |= late
        sys.modules[_PACKAGE] = _empty(_PACKAGE, place)
        client = sys.modules[_CLIENT] = _empty(_CLIENT, f"{place}/client")
        configuration = importlib.import_module(f"{_CLIENT}.configuration").Configuration
        rest = importlib.import_module(f"{_CLIENT}.rest")
        client.Configuration = configuration  # type: ignore[attr-defined]
        client.ApiClient = object  # type: ignore[attr-defined]  # named by two functions that are not called here
        config = importlib.import_module(f"{_PACKAGE}.config")
        return Library(configuration, config, rest.RESTClientObject)
    except (ImportError, AttributeError):
        for name in [name for name in sys.modules if name.startswith(f"{_PACKAGE}.")]:
            del sys.modules[name]
        return None
    finally:
        for name in (_PACKAGE, _CLIENT, f"{_PACKAGE}.config", f"{_PACKAGE}.config.kube_config", *late):
            sys.modules.pop(name, None)


def _empty(name: str, place: str) -> types.ModuleType:
    package = types.ModuleType(name)
    package.__path__ = [place]
    return package


def _loaded_late(name: str) -> types.ModuleType:
    """A module that stands for another, and imports it when something of it is used."""

    def used(attribute: str) -> Any:
        return getattr(importlib.import_module(name), attribute)

    stand_in = types.ModuleType(name)
    stand_in.__getattr__ = used  # type: ignore[method-assign]
    return stand_in


class _LateContext(ssl.SSLContext):
    """A context that reads the store of authorities before its first connection."""

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        self._ready()
        return ssl.SSLContext.wrap_bio(self, *arguments, **named)

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        self._ready()
        return ssl.SSLContext.wrap_socket(self, *arguments, **named)

    def _ready(self) -> None:
        self.__class__ = ssl.SSLContext  # type: ignore[assignment]
        self.load_default_certs()


@contextmanager
def _authorities_read_late() -> Iterator[None]:
    """Contexts that would read the machine's authorities meanwhile become late ones."""
    made: list[ssl.SSLContext] = []
    held: Any = ssl.SSLContext
    read = held.load_default_certs
    held.load_default_certs = lambda self, *purpose: made.append(self)
    held.set_default_verify_paths = lambda self: made.append(self)  # its base class's own stands behind it
    try:
        yield
    finally:
        held.load_default_certs = read
        del held.set_default_verify_paths
        for context in made:
            context.__class__ = _LateContext
