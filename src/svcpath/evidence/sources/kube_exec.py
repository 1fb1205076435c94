"""The frames of an exec over a WebSocket, and what a command printed.

Exec speaks v5.channel.k8s.io or v4 (KEP-4006, k8s.io/client-go/tools/remotecommand): the first byte of a frame is the
channel, 1 stdout, 2 stderr, 3 the final ApiStatus. A stream that ends without an ApiStatus was cut.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Reason, Trouble


class Executed(msgspec.Struct, frozen=True):
    """What a command printed. ``trouble`` says why the stream did not end as it should; ``code`` is None then. ``silent``:
    the kubelet was not reached, or the time was over before anything came."""

    out: bytes
    err: bytes
    code: int | None
    trouble: Trouble | None = None
    truncated: bool = False
    silent: bool = False

    def because(self, trouble: Trouble) -> Executed:
        return msgspec.structs.replace(self, trouble=trouble)


class ApiStatus(msgspec.Struct):
    """meta/v1 ApiStatus, as far as it is read: how a command or a request ended."""

    status: str = ""
    message: str = ""
    reason: str = ""
    details: Any = None


class Attached:
    """An exec whose standard input is open. ``socket`` is aiohttp's WebSocket.

    v5 can close the input alone (channel 255 with the number of the closed one); v4 has no such frame, there the input ends with
    the whole stream, and what the command says afterwards is lost.
    """

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        #: How the command ended, once it has.
        self.status: ApiStatus | None = None

    async def write(self, data: bytes) -> None:
        await self._socket.send_bytes(b"\x00" + data)

    async def end_input(self) -> None:
        if self._socket.protocol == "v5.channel.k8s.io":
            await self._socket.send_bytes(b"\xff\x00")
        else:
            await self._socket.close()

    async def frames(self) -> AsyncIterator[tuple[bool, bytes]]:
        """What the command prints as it comes: whether it is standard output (else standard error), and the bytes."""
        async for message in self._socket:
            data = message.data
            if not isinstance(data, bytes) or len(data) < 2:
                continue
            if data[:1] in (b"\x01", b"\x02"):
                yield data[:1] == b"\x01", data[1:]
            elif data[:1] == b"\x03":
                self.status = _status(data[1:])
                return


class Stream:
    """Channels of one exec, up to ``limit`` bytes of output."""

    def __init__(self, limit: int) -> None:
        self.out = bytearray()
        self.err = bytearray()
        self.status: ApiStatus | None = None
        self.started = False
        self.truncated = False
        self._limit = limit

    def take(self, frame: bytes) -> bool:
        """Keep one frame; False when nothing more is wanted."""
        self.started = True
        channel, data = frame[:1], frame[1:]
        if channel == b"\x03":
            self.status = _status(data)
            return False
        kept = self.out if channel == b"\x01" else self.err if channel == b"\x02" else None
        if kept is not None:
            kept += data
        if len(self.out) + len(self.err) > self._limit:
            self.truncated = True
            return False
        return True

    def ended(self, trouble: Trouble | None, *, late: bool = False) -> Executed:
        """``late``: its time was over."""
        code: int | None = None
        silent = late and not (self.out or self.err)
        if self.truncated:
            trouble = Trouble(Reason.LIMIT, f"more than {self._limit // 1024 // 1024} MiB of output")
        elif self.status is not None:
            code = _exit_code(self.status)
            if code is None:
                trouble = _not_run(self.status.message)
                silent = trouble.reason is Reason.UNREACHED
        return Executed(bytes(self.out), bytes(self.err), code, trouble, self.truncated, silent)


def _status(data: bytes) -> ApiStatus:
    try:
        return msgspec.json.decode(data, type=ApiStatus)
    except msgspec.MsgspecError:
        return ApiStatus(status="Failure", message=data[:200].decode("utf-8", "replace"))


#: The API server's words for a kubelet that it can't connect to: the URL holds the whole command.
_NO_KUBELET = re.compile(r"error sending request: \w+ \"https?://([^/\"]+)/.*\": (.*)", re.S)


#: A container runtime's words for a program that is not in the container (runc, crun).
NO_PROGRAM = re.compile(
    r"executable file not found|no such file or directory|not found in \$PATH|permission denied", re.I
)


def _not_run(message: str) -> Trouble:
    """Why a command ended without an exit code, by the API server's or the kubelet's own words."""
    found = _NO_KUBELET.search(message)
    if found is None:
        reason = Reason.NO_TOOL if NO_PROGRAM.search(message) else Reason.FAILED
        return Trouble(reason, message or "the command could not be run")
    return Trouble(Reason.UNREACHED, f"the API server does not reach the kubelet at {found[1]}: {found[2]}")


def _exit_code(status: ApiStatus) -> int | None:
    if status.status == "Success":
        return 0
    causes = status.details.get("causes") if isinstance(status.details, dict) else None
    for cause in causes or ():
        if isinstance(cause, dict) and cause.get("reason") == "ExitCode" and str(cause.get("message", "")).isdecimal():
            return int(cause["message"])
    return None
