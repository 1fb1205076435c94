"""Runtimes that ask libc and show its answer in their own words: CPython's socket module and .NET.

CPython: Modules/socketmodule.c socket_getaddrinfo, set_gaierror (3.11). .NET: src/native/libs/System.Native/
pal_networking.c SystemNative_GetHostEntryForName, NameResolutionPal.Unix.cs GetNativeErrorForSocketError (8; read, not
run): EAI_NONAME and EAI_NODATA can't be distinguished there.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Asking, LookupOutcome, ResolverRule
from svcpath.models.resolvers.environment import Environment, to_ascii
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl

DOTNET_ERRORS = {
    "EAI_NONAME": ("HostNotFound", 11001, "Name or service not known"),
    "EAI_NODATA": ("HostNotFound", 11001, "Name or service not known"),
    "EAI_AGAIN": ("TryAgain", 11002, "Resource temporarily unavailable"),
    "EAI_FAIL": ("NoRecovery", 11003, "This is usually a temporary error"),
}
DOTNET = ResolverRule(
    "Dns.GetHostAddresses asks libc; EAI_NONAME and EAI_NODATA are both HostNotFound",
    ".NET pal_networking.c ConvertGetAddrInfoAndGetNameInfoErrorsToPal, NameResolutionPal.Unix.cs (8, read only)",
)


CODEC = ResolverRule(
    "names are encoded by the idna codec, which refuses such labels", "CPython Lib/encodings/idna.py (3.11)"
)
IDNA = "encoding with 'idna' codec failed (UnicodeError: {})"


class Python:
    """``socket.getaddrinfo`` and everything above it (requests, httpx, asyncio's default)."""

    key = "python"
    title = "CPython"

    def __init__(self, environment: Environment, libc: Glibc | Musl | None = None) -> None:
        self.libc = libc or Glibc(environment)

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        *labels, last = name.split(".")
        if any(not 0 < len(label) < 64 for label in labels) or len(last) >= 64:
            # The codec's words for the last label of an ASCII name are its own.
            alone = name.isascii() and all(0 < len(label) < 64 for label in labels)
            text = IDNA.format("label too long" if alone else "label empty or too long")
            return LookupOutcome(ok=False, code="UnicodeError", text=text, rule=CODEC)
        outcome = yield from self.libc.lookup(to_ascii(name), memory)
        if outcome.ok or outcome.crashed:
            return outcome
        if outcome.code == "EAI_SYSTEM":  # set_gaierror: errno speaks, as glibc leaves it when a source has no module
            return msgspec.structs.replace(
                outcome, code="OSError", number=16, text="[Errno 16] Device or resource busy"
            )
        return msgspec.structs.replace(outcome, text=f"[Errno {outcome.number}] {outcome.text}")


class DotNet:
    """``System.Net.Dns`` on Linux."""

    key = "dotnet"
    title = ".NET"

    def __init__(self, environment: Environment, libc: Glibc | Musl | None = None) -> None:
        self.libc = libc or Glibc(environment, canonname=True)

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        outcome = yield from self.libc.lookup(name, memory)
        if outcome.ok or outcome.crashed:
            return outcome
        code, number, text = DOTNET_ERRORS.get(outcome.code, (outcome.code, outcome.number or 0, outcome.text))
        return msgspec.structs.replace(
            outcome, code=code, number=number, text=f"SocketException ({number}): {text}", rule=DOTNET
        )
