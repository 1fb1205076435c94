"""An event loop that knows the connections made on it, so that none outlives it.

A TLS connection that was given up stays open until the server has said good-bye too, which a busy or a dead one does late
or never; asyncio has no public list of them. What the loop made it can end.
"""

from __future__ import annotations

import asyncio
import sys
import weakref
from typing import Any

if sys.platform == "win32":
    _Platform = asyncio.ProactorEventLoop
else:
    _Platform = asyncio.SelectorEventLoop


class OwnLoop(_Platform):
    """The platform's loop; ``abort_connections`` before ``stop`` leaves nothing behind."""

    def __init__(self) -> None:
        super().__init__()
        self._made: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()

    async def create_connection(self, *given: Any, **named: Any) -> Any:
        transport, protocol = await super().create_connection(*given, **named)
        self._made.add(transport)
        return transport, protocol

    async def start_tls(self, *given: Any, **named: Any) -> Any:
        transport = await super().start_tls(*given, **named)
        if transport is not None:
            self._made.add(transport)
        return transport

    async def abort_connections(self) -> None:
        """End every connection at once, without a good-bye, and wait until their sockets are closed."""
        for transport in tuple(self._made):
            transport.abort()
        # TLS passes the end on to the socket's transport in one turn, which closes it in the next.
        for _ in range(4):
            await asyncio.sleep(0)
