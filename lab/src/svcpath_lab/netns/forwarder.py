"""Carry connections from 127.0.0.1 on the machine to the API server inside the lab.

The listening socket is made outside and handed over by number; this process itself runs in the control plane's network
namespace, so what it connects goes out there. Run as a file: ``python forwarder.py FD HOST PORT``.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction until its end, then pass that end on."""
    with contextlib.suppress(ConnectionError, OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def serve(listener: socket.socket, host: str, port: int) -> None:
    """Accept forever; a connection that can't be carried on is closed."""

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))
        finally:
            far_writer.close()
            writer.close()

    server = await asyncio.start_server(accepted, sock=listener)
    async with server:
        await server.serve_forever()


def main(arguments: list[str]) -> None:
    listener = socket.socket(fileno=int(arguments[0]))
    listener.setblocking(False)
    asyncio.run(serve(listener, arguments[1], int(arguments[2])))


if __name__ == "__main__":
    main(sys.argv[1:])
