"""All that a drain asks of a cluster, through the client of evidence/sources, which logs in as the kubeconfig says.

The client lives on an event loop of its own thread; who asks here waits for it, so that followers stay plain threads.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from svcpath.drain.command import Received
from svcpath.errors import SourceUnavailable
from svcpath.evidence.sources.kube_client import Access, ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_exec import Attached, Executed
from svcpath.evidence.sources.own_loop import LoopThread

T = TypeVar("T")
#: Seconds for one request, with a second try.
_REQUEST = 40.0


class Expired(Exception):
    """The resourceVersion is too old (HTTP 410): only a new list helps."""


class WatchCut(Exception):
    """The watch ended or could not be started; it can be taken up again where it was."""


class ClusterTransport:
    """Requests, streams and commands. Raises SourceUnavailable or UsageError where there is no cluster.

    Each method raises SourceUnavailable after ``close``, and ApiTrouble, which is one, for what the API server refused.
    """

    def __init__(self, access: Access) -> None:
        self._thread = LoopThread("cluster client")
        self._client = KubeClient(access)
        self._streams: set[asyncio.Task[None]] = set()
        self._closed = False
        try:
            self._run(self._client.connect())
        except BaseException:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._thread.closed:
            work.close()
            raise SourceUnavailable("the client is closed")
        return self._thread.run(work)

    @property
    def namespace(self) -> str:
        """The context's."""
        return self._client.namespace

    def request(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        """The body of one answer. ``kind`` is the body's Content-Type."""
        self._client.extend(_REQUEST)
        return self._run(self._client.request(method, path, (), body, kind))

    def get(self, path: str) -> bytes:
        """The body of a GET, with a second try where a server is busy. Raises Expired for 410."""
        self._client.extend(_REQUEST)
        try:
            return self._run(self._client.get(path))
        except ApiTrouble as error:
            if error.status == 410:
                raise Expired(str(error)) from error
            raise

    def execute(self, namespace: str, pod: str, container: str, command: Sequence[str], seconds: float) -> Executed:
        """Run a command in a container. Raises ApiTrouble when it could not be started at all."""
        self._client.extend(seconds)
        return self._run(self._client.execute(namespace, pod, container, command, seconds=seconds))

    def stream(self, path: str) -> Iterator[bytes]:
        """The lines of a watch, or of a log that is followed, until it ends. Raises WatchCut when it does, or Expired."""
        if self._closed:
            raise WatchCut("the client is closed")
        lines: queue.SimpleQueue[bytes | ApiTrouble | None] = queue.SimpleQueue()
        task = self._run(self._begun(self._read(path, lines), lambda: lines.put(None)))
        try:
            while (line := lines.get()) is not None:
                if isinstance(line, ApiTrouble):
                    raise (Expired if line.status == 410 else WatchCut)(str(line)) from line
                yield line
        finally:
            self._thread.soon(task.cancel)
        raise WatchCut("the watch ended")

    async def _read(self, path: str, lines: queue.SimpleQueue[bytes | ApiTrouble | None]) -> None:
        try:
            async for line in self._client.lines(path):
                lines.put(line)
        except ApiTrouble as error:
            lines.put(error)

    def start(self, namespace: str, pod: str, container: str, command: Sequence[str]) -> RemoteCommand:
        """Begin a command in a container, with its input open. Raises SourceUnavailable when it could not be started."""
        if self._closed:
            raise SourceUnavailable("the client is closed")
        return self._run(self._started(namespace, pod, container, command))

    async def _started(self, namespace: str, pod: str, container: str, command: Sequence[str]) -> RemoteCommand:
        begun: asyncio.Future[Attached] = asyncio.get_running_loop().create_future()
        received = Received()

        async def read() -> None:
            try:
                async with self._client.attached(namespace, pod, container, command) as attached:
                    begun.set_result(attached)
                    async for is_output, data in attached.frames():
                        (received.output if is_output else received.complaint)(data)
                    if attached.status is not None and attached.status.status != "Success":
                        received.error = attached.status.message
            except ApiTrouble as error:
                received.error = str(error)
                if not begun.done():
                    begun.set_exception(error)

        def ended() -> None:
            received.end()
            if not begun.done():
                begun.set_exception(SourceUnavailable("the client is closed"))

        task = await self._begun(read(), ended)
        return RemoteCommand(self._run, lambda: self._thread.soon(task.cancel), await begun, received)

    async def _begun(self, work: Coroutine[Any, Any, None], ended: Callable[[], None]) -> asyncio.Task[None]:
        """A task that ``close`` ends; ``ended`` is called however it ends."""

        def done(task: asyncio.Task[None]) -> None:
            self._streams.discard(task)
            ended()

        task = asyncio.ensure_future(work)
        self._streams.add(task)
        task.add_done_callback(done)
        if self._closed:
            task.cancel()
        return task

    def date(self) -> float | None:
        """The API server's clock in seconds since the epoch (whole seconds); None where it can't be read."""
        try:
            self.get("/version")
        except (SourceUnavailable, Expired):
            return None
        if not self._client.at:
            return None
        return datetime.fromisoformat(self._client.at).timestamp()

    def close(self) -> None:
        """End every stream, then the client; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._thread.close(self._shut())

    async def _shut(self) -> None:
        streams = list(self._streams)
        for task in streams:
            task.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
        await self._client.close()


class RemoteCommand:
    """A PodCommand in a container, over a ClusterTransport's client."""

    def __init__(
        self,
        run: Callable[[Coroutine[Any, Any, None]], None],
        cancel: Callable[[], None],
        attached: Attached,
        received: Received,
    ) -> None:
        self._run, self._cancel = run, cancel
        self._attached, self._received = attached, received

    @property
    def error(self) -> str:
        return self._received.error

    def lines(self) -> Iterator[bytes]:
        return self._received.lines()

    def complaints(self) -> Iterator[bytes]:
        return self._received.complaints()

    def write(self, data: bytes) -> None:
        self._run(self._attached.write(data))

    def end_input(self) -> None:
        self._run(self._attached.end_input())

    def close(self) -> None:
        self._cancel()
