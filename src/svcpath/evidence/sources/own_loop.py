"""An event loop that knows the connections made on it, so that none outlives it, and the thread that it runs in.

A TLS connection that was given up stays open until the server has said good-bye too, which a busy or a dead one does late
or never; asyncio has no public list of them. What the loop made it can end.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

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


class LoopThread:
    """An OwnLoop that runs in a thread of its own until ``close``; the other methods are for the threads beside it."""

    def __init__(self, name: str) -> None:
        self._loop = OwnLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result, once it is there."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def soon(self, action: Callable[[], object]) -> None:
        """Call it on the loop; nothing where that is closed."""
        if not self.closed:
            self._loop.call_soon_threadsafe(action)

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Run ``last``, then end every connection and the thread."""
        try:
            asyncio.run_coroutine_threadsafe(self._shut(last), self._loop).result(5)
        except TimeoutError:
            pass  # a server that does not even close is left to the end of the process
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            if not self._thread.is_alive():
                self._loop.close()

    async def _shut(self, last: Coroutine[Any, Any, None]) -> None:
        await last
        await self._loop.abort_connections()
