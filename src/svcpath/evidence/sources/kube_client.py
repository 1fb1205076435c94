"""Talks to one API server: reads, lists in pages, logs and execs, each bounded in time and bytes.

kubeconfig.py says where the cluster is, credentials.py who asks, connection.py sets up TLS; bodies stay bytes. aiohttp is
imported late, for it costs a quarter of a second. Everything that goes wrong leaves as one ApiTrouble with the reason in
words, and nothing waits longer than the time that is left of the whole look. What an exec's frames hold is in kube_exec.py.
"""

from __future__ import annotations

import asyncio
import email.utils
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec

from svcpath.errors import SourceUnavailable
from svcpath.evidence.facts.observation import Reason, Trouble
from svcpath.evidence.sources import kubeconfig
from svcpath.evidence.sources.connection import Connection, why_tls
from svcpath.evidence.sources.credentials import Credentials
from svcpath.evidence.sources.kube_exec import ApiStatus, Attached, Executed, Stream

if TYPE_CHECKING:
    import multidict

#: Requests and execs under way at one time. Each has a connection, and a handshake costs the server more than most requests.
PARALLEL, EXECS = 8, 12
#: Seconds for one request, whatever is left of the whole.
ONE_REQUEST = 15.0
#: Bytes of one response.
MAX_BODY = 64 * 1024 * 1024


class ApiTrouble(SourceUnavailable):
    """A request that did not end well. ``status`` is the HTTP status, 0 when there was no response; ``certificate``: TLS
    failed."""

    def __init__(
        self, message: str, reason: Reason | None = None, *, status: int = 0, certificate: bool = False
    ) -> None:
        super().__init__(message)
        self.certificate = certificate
        self.status = status
        self.reason = reason or (Reason.DENIED if status in (401, 403) else Reason.FAILED)

    @property
    def trouble(self) -> Trouble:
        return Trouble(self.reason, str(self))


class Access(msgspec.Struct, frozen=True):
    """How to reach the cluster: a kubeconfig, or ``api_url``, where a `kubectl proxy` listens. ``timeout`` is for everything
    together, in seconds."""

    context: str = ""
    kubeconfig: str = ""
    api_url: str = ""
    impersonate: str = ""
    as_groups: tuple[str, ...] = ()
    timeout: float = 60.0


class Call(msgspec.Struct, frozen=True):
    """One request as it was sent, for the audit line."""

    verb: str
    path: str


@dataclass
class KubeClient:
    """Use from one event loop only. ``close`` ends its connections, TLS ones once the server agrees (own_loop.py)."""

    access: Access
    server: str = ""
    namespace: str = ""
    context: str = ""
    calls: list[Call] = field(default_factory=list)
    at: str = ""
    skew: float = 0.0
    _deadline: float = 0.0
    _login: kubeconfig.Login | None = None
    _credentials: Credentials | None = None
    _connection: Connection | None = None
    _requests: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL))
    _execs: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EXECS))

    async def connect(self) -> None:
        """Read the kubeconfig and get the credentials. Raises UsageError for a context or an address that can't be one,
        SourceUnavailable where there is no login that can be used."""
        self._deadline = time.monotonic() + self.access.timeout
        if self.access.api_url:
            found = kubeconfig.through_proxy(self.access.api_url)
        else:
            found = kubeconfig.login(self.access.kubeconfig, self.access.context)
        self.server, self.context, self.namespace = found.cluster.server.rstrip("/"), found.context, found.namespace
        self._login = found
        self._credentials = Credentials(found, self.access.timeout)
        self._connection = await Connection.open(found.cluster, self._credentials)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    def remaining(self) -> float:
        """Seconds that are left of the whole look."""
        return self._deadline - time.monotonic()

    def extend(self, seconds: float) -> None:
        """Grant ``seconds`` from now on, for clean-up after the time was used up."""
        self._deadline = max(self._deadline, time.monotonic() + seconds)

    async def get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> bytes:
        """The body of a GET. A 429 or a passing 5xx is tried again once; raises ApiTrouble for everything else."""
        try:
            return await self.request("GET", path, query)
        except ApiTrouble as error:
            if error.status not in (429, 500, 502, 503, 504) or self.remaining() < 1:
                raise
            await asyncio.sleep(0.5)
            return await self.request("GET", path, query)

    async def request(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
        content_type: str = "application/json",
        *,
        most: float = ONE_REQUEST,
    ) -> bytes:
        """The body of one request, in at most ``most`` seconds. Raises ApiTrouble."""
        try:
            return await self._once(method, path, query, body, content_type, most)
        except ApiTrouble as error:
            # A plugin's credential can be revoked before it expires.
            if error.status != 401 or self._credentials is None or not self._credentials.renewable:
                raise
            self._credentials.forget()
            return await self._once(method, path, query, body, content_type, most)

    async def _once(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        body: bytes | None,
        content_type: str,
        most: float,
    ) -> bytes:
        import aiohttp

        url = self.server + path + ("?" + urlencode(query) if query else "")
        headers = await self._headers()
        headers["Accept"] = "application/json"
        if body is not None:
            headers["Content-Type"] = content_type
        seconds = min(most, self.remaining())
        if seconds <= 0:
            raise ApiTrouble(f"not asked: the {self.access.timeout:g} s of --timeout are used up", Reason.LIMIT)
        self.calls.append(Call(method, path))
        try:
            async with (
                self._requests,
                asyncio.timeout(seconds),
                self._open().session.request(
                    method, url, headers=headers, data=body, **self._open().options
                ) as response,
            ):
                self._clock(response.headers.get("Date", ""))
                content = await _bounded(response, path)
                if response.status >= 400:
                    raise ApiTrouble(_message(response.status, content), status=response.status)
                return content
        except TimeoutError as error:
            raise ApiTrouble(f"no answer from the API server in {seconds:.0f} s", Reason.TIMED_OUT) from error
        except (aiohttp.ClientSSLError, ssl.SSLError) as error:
            raise ApiTrouble(
                f"the API server {self.server}: {why_tls(error)}", Reason.FAILED, certificate=True
            ) from error
        except aiohttp.ClientPayloadError as error:
            raise ApiTrouble("the API server's answer was cut off") from error
        except aiohttp.ClientError as error:
            raise ApiTrouble(f"the API server {self.server} can't be reached: {_short(error)}") from error
        except OSError as error:
            raise ApiTrouble(f"the API server {self.server} can't be reached: {error}") from error

    async def lines(self, path: str, query: Sequence[tuple[str, str]] = ()) -> AsyncIterator[bytes]:
        """The lines of a watch or of a log that is followed, each with its end, until the server ends it. Raises ApiTrouble.

        There is no limit in time: a watch is silent as long as nothing changes.
        """
        import aiohttp

        url = self.server + path + ("?" + urlencode(query) if query else "")
        self.calls.append(Call("GET", path))
        data = b""
        try:
            async with self._open().session.get(url, headers=await self._headers(), **self._open().options) as response:
                self._clock(response.headers.get("Date", ""))
                if response.status >= 400:
                    raise ApiTrouble(_message(response.status, await _bounded(response, path)), status=response.status)
                async for chunk in response.content.iter_any():
                    *whole, data = (data + chunk).split(b"\n")
                    for line in whole:
                        yield line + b"\n"
        except aiohttp.ClientPayloadError as error:
            raise ApiTrouble("the API server's answer was cut off") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ApiTrouble(f"the API server {self.server} can't be reached: {_short(error)}") from error

    @asynccontextmanager
    async def attached(
        self, namespace: str, pod: str, container: str, command: Sequence[str]
    ) -> AsyncIterator[Attached]:
        """A command in a container with its standard input open, for as long as the block runs. Raises ApiTrouble.

        There is no limit in time; without input, ``execute`` runs a command to its end.
        """
        import aiohttp

        path, query = _exec(namespace, pod, container, command, ("stdin", "stdout", "stderr"))
        self.calls.append(Call("EXEC", path))
        try:
            async with self._open().session.ws_connect(
                "ws" + self.server.removeprefix("http") + path + "?" + urlencode(query),
                headers=await self._headers(),
                protocols=("v5.channel.k8s.io", "v4.channel.k8s.io"),
                max_msg_size=0,
                heartbeat=30,
                **self._open().options,
            ) as socket:
                yield Attached(socket)
        except aiohttp.WSServerHandshakeError as error:
            raise _not_begun(error.status) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ApiTrouble(f"the exec stream broke: {_short(error)}") from error

    async def execute(
        self,
        namespace: str,
        pod: str,
        container: str,
        command: Sequence[str],
        *,
        seconds: float = 15.0,
        limit: int = 16 * 1024 * 1024,
    ) -> Executed:
        """Run a command in a container that is there. Raises ApiTrouble when it could not be started at all."""
        import aiohttp

        path, query = _exec(namespace, pod, container, command, ("stdout", "stderr"))
        url = "ws" + self.server.removeprefix("http") + path + "?" + urlencode(query)
        seconds = min(seconds, self.remaining())
        if seconds <= 0:
            raise ApiTrouble(f"not asked: the {self.access.timeout:g} s of --timeout are used up", Reason.LIMIT)
        self.calls.append(Call("EXEC", path))
        stream = Stream(limit)
        try:
            async with (
                self._execs,
                asyncio.timeout(seconds),
                self._open().session.ws_connect(
                    url,
                    headers=await self._headers(),
                    protocols=("v5.channel.k8s.io", "v4.channel.k8s.io"),
                    max_msg_size=limit,
                    **self._open().options,
                ) as socket,
            ):
                async for message in socket:
                    if message.type is aiohttp.WSMsgType.BINARY and not stream.take(message.data):
                        break
        except TimeoutError:
            late = Trouble(Reason.UNREACHED, f"the command did not end in {seconds:.0f} s")
            return stream.ended(late, late=True)
        except aiohttp.WSServerHandshakeError as error:
            raise _not_begun(error.status) from error
        except aiohttp.ClientError as error:
            if stream.started:
                return stream.ended(Trouble(Reason.FAILED, f"the exec stream broke: {_short(error)}"))
            raise ApiTrouble(f"the exec could not be started: {_short(error)}") from error
        except OSError as error:
            return stream.ended(Trouble(Reason.FAILED, f"the exec stream broke: {error}"))
        cut = Trouble(Reason.FAILED, "the exec stream was cut off")
        return stream.ended(None if stream.status is not None else cut)

    def _open(self) -> Connection:
        if self._connection is None:
            raise ApiTrouble("not connected")
        return self._connection

    async def _headers(self) -> multidict.CIMultiDict[str]:
        import multidict

        assert self._credentials is not None
        assert self._login is not None
        headers: multidict.CIMultiDict[str] = multidict.CIMultiDict({"User-Agent": "svcpath"})
        try:
            if authorization := await self._credentials.authorization():
                headers["Authorization"] = authorization
            await self._open().refresh(self._credentials)
        except SourceUnavailable as error:
            raise ApiTrouble(str(error), Reason.DENIED) from error
        user = self._login.user
        if name := self.access.impersonate or user.impersonate:
            headers["Impersonate-User"] = name
            own = not self.access.impersonate
            for group in self.access.as_groups or (user.as_groups or () if own else ()):
                headers.add("Impersonate-Group", group)
            if own and user.as_uid:
                headers["Impersonate-Uid"] = user.as_uid
            for key, values in (user.as_user_extra or {}).items() if own else ():
                for value in values:
                    headers.add(f"Impersonate-Extra-{quote(key, safe='')}", value)
        return headers

    def _clock(self, date: str) -> None:
        if not date:
            return
        try:
            when = email.utils.parsedate_to_datetime(date)
        except ValueError:
            return
        self.at = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.skew = time.time() - when.timestamp()


def _exec(
    namespace: str, pod: str, container: str, command: Sequence[str], streams: Sequence[str]
) -> tuple[str, list[tuple[str, str]]]:
    query = [("command", word) for word in command] + [(stream, "true") for stream in streams]
    if container:
        query.append(("container", container))
    return f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/exec", query


def _not_begun(status: int) -> ApiTrouble:
    """An exec that the API server answered with an HTTP status."""
    words, reason = _message(status, b""), None
    if status in (500, 502, 503, 504):
        words += ": it does not reach the kubelet of the Pod's node, or the kubelet could not start the command"
        reason = Reason.UNREACHED
    return ApiTrouble(words, reason, status=status)


async def _bounded(response: Any, path: str) -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_chunked(1 << 18):
        data += chunk
        if len(data) > MAX_BODY:
            raise ApiTrouble(f"{path}: more than {MAX_BODY // 1024 // 1024} MiB in one answer", Reason.LIMIT)
    return bytes(data)


_WORDS = {
    400: "the API server calls it a bad request",
    401: "not logged in: the API server takes the credentials for no one's (the token or the client certificate may have "
    "expired: log in again, then kubectl auth whoami)",
    403: "forbidden",
    404: "not found",
    410: "the list's continuation is too old (410)",
    429: "the API server is too busy (429)",
}


def _message(status: int, content: bytes) -> str:
    text = ""
    if content:
        try:
            text = msgspec.json.decode(content, type=ApiStatus).message
        except msgspec.MsgspecError:
            text = ""
    words = _WORDS.get(status, f"the API server answered {status}")
    return f"{words}: {text[:300]}" if text else words


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]
