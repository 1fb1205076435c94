"""The scripted DNS server of one namespace: answers by rule, writes down every query it sees.

It listens on the addresses it is given, port 53, UDP and TCP, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import cast

import dns.exception
import dns.message
import dns.rdatatype

from svcpath.models.resolvers.environment import fold
from tests.differential import wire

ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "::1")


class Script:
    """``actions`` by "server index/name/type", "name/type" or "name"; ``delays`` in seconds by server index."""

    def __init__(self, actions: Mapping[str, str], default: str = "NXDOMAIN", delays: Sequence[float] = ()) -> None:
        self.actions = actions
        self.default = default
        self.delays = delays

    def action(self, server: int, name: str, kind: str) -> str:
        lower = fold(name)
        for key in (f"{server}/{lower}/{kind}", f"{lower}/{kind}", lower):
            if key in self.actions:
                return self.actions[key]
        return self.default

    def delay(self, server: int) -> float:
        return self.delays[server] if server < len(self.delays) else 0.0


class ScriptedServer:
    def __init__(self, addresses: Sequence[str] = ADDRESSES, port: int = 53) -> None:
        self.addresses = addresses
        self.port = port
        self.script = Script({})
        self.log: list[tuple[float, int, str, str, str, str]] = []
        self.started = time.monotonic()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the scripted DNS server did not start")

    def reset(self, script: Script) -> None:
        self.script = script
        self.log = []
        self.started = time.monotonic()

    def settle(self) -> None:
        """Return once everything that has arrived is read."""
        asyncio.run_coroutine_threadsafe(_turns(), self._loop).result(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._ready.set()
        self._loop.run_forever()

    async def _listen(self) -> None:
        for index, address in enumerate(self.addresses):
            await self._loop.create_datagram_endpoint(functools.partial(_Udp, self, index), (address, self.port))
            listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self.port))
            listener.listen(64)
            listener.setblocking(False)
            self._tasks.append(self._loop.create_task(self._accept(index, listener)))

    async def _accept(self, server: int, listener: socket.socket) -> None:
        while True:
            connection, _ = await self._loop.sock_accept(listener)
            connection.setblocking(False)
            self._tasks.append(self._loop.create_task(self._stream(server, connection)))

    def decide(self, server: int, body: bytes, transport: str) -> tuple[bytes | None, float]:
        """The reply to a query (None: silence) and how long to wait before it is sent."""
        elapsed = round((time.monotonic() - self.started) * 1000, 1)
        script = self.script
        try:
            query = dns.message.from_wire(body)
            question = query.question[0]
        except (dns.exception.DNSException, IndexError, ValueError):
            self.log.append((elapsed, server, transport, "?", "?malformed", "FORMERR"))
            return (body[:2] + b"\x81\x81" + b"\0" * 8 if len(body) >= 2 else None), 0.0
        name = wire.presentation(question.name)
        kind = dns.rdatatype.to_text(question.rdtype)
        action = script.action(server, name, kind)
        self.log.append((elapsed, server, transport, kind, name, action))
        delay = script.delay(server)
        if action.startswith("DELAY:"):
            _, milliseconds, action = action.split(":", 2)
            delay += int(milliseconds) / 1000
        return wire.reply(query, action, transport), delay

    async def _stream(self, server: int, connection: socket.socket) -> None:
        """One query at a time, read to the byte: what is unread when the connection is closed makes the kernel reset it."""
        try:
            while True:
                size = int.from_bytes(await self._exactly(connection, 2), "big")
                body, delay = self.decide(server, await self._exactly(connection, size), "tcp")
                if body is None:
                    if not self._closes():
                        await self._exactly(connection, 1 << 16)
                    break
                if delay:
                    await asyncio.sleep(delay)
                await self._loop.sock_sendall(connection, len(body).to_bytes(2, "big") + body)
        except (EOFError, OSError):
            pass
        finally:
            connection.close()

    def _closes(self) -> bool:
        """Whether the last query's silence is a closed connection (TCDROP) rather than an open one (DROP)."""
        return self.log[-1][5].startswith("TCDROP") or self.log[-1][3] == "?"

    async def _exactly(self, connection: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = await self._loop.sock_recv(connection, size - len(data))
            if not part:
                raise EOFError
            data += part
        return data


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0.002)


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: ScriptedServer, index: int) -> None:
        self.server = server
        self.index = index
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast: asyncio's own transport of datagrams is no DatagramTransport by its class.
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self.transport is not None
        body, delay = self.server.decide(self.index, data, "udp")
        if body is None:
            return
        if delay:
            asyncio.get_running_loop().call_later(delay, self.transport.sendto, body, addr)
        else:
            self.transport.sendto(body, addr)
