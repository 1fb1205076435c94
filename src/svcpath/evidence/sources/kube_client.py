"""Talks to one API server: reads, lists in pages, logs and execs, each bounded in time and bytes.

kubernetes_asyncio reads the kubeconfig (contexts, exec plugins, in-cluster accounts) and sets up TLS; bodies stay bytes.
It is imported late, for it costs half a second. Everything that goes wrong leaves as one ApiTrouble with the reason in
words, and nothing waits longer than the time that is left of the whole look. What an exec's frames hold is in kube_exec.py.
"""

from __future__ import annotations

import asyncio
import email.utils
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.facts.observation import Reason, Trouble
from svcpath.evidence.sources.kube_exec import ApiStatus, Executed, Stream
from svcpath.evidence.sources.kube_library import library

#: Requests and execs under way at one time. Each has a connection, and a handshake costs the server more than most requests.
PARALLEL, EXECS = 8, 12
#: Seconds for one request, whatever is left of the whole.
ONE_REQUEST = 15.0
#: Bytes of one response.
MAX_BODY = 64 * 1024 * 1024


class ApiTrouble(SourceUnavailable):
    """A request that did not end well. ``status`` is the HTTP status, 0 when there was no response."""

    def __init__(self, message: str, reason: Reason | None = None, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason or (Reason.DENIED if status in (401, 403) else Reason.FAILED)

    @property
    def trouble(self) -> Trouble:
        return Trouble(self.reason, str(self))


class Access(msgspec.Struct, frozen=True):
    """How to reach the cluster. ``timeout`` is for everything together, in seconds."""

    context: str = ""
    kubeconfig: str = ""
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
    _rest: Any = None
    _configuration: Any = None
    _requests: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL))
    _execs: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EXECS))

    async def connect(self) -> None:
        """Read the configuration. Raises UsageError for a context that is not there, SourceUnavailable without any."""
        self._deadline = time.monotonic() + self.access.timeout
        try:
            parts = library()
        except ImportError as error:
            raise UsageError("a live cluster needs kubernetes_asyncio: pip install 'svcpath[kube]'") from error
        # A plain Configuration: the class's metaclass would hand out a shared default.
        configuration = type.__call__(parts.configuration)
        config = parts.config
        named = self.access.kubeconfig or None
        try:
            if named is None and not _has_kubeconfig() and _in_cluster():
                config.load_incluster_config(client_configuration=configuration)
                self.namespace = _own_namespace()
            elif named is None and not _has_kubeconfig():
                raise _configuration_error("", self.access)
            else:
                loader = await asyncio.wait_for(
                    config.load_kube_config(
                        config_file=named,
                        context=self.access.context or None,
                        client_configuration=configuration,
                        persist_config=False,
                    ),
                    self.access.timeout,
                )
                current: Any = loader.current_context or {}
                self.context = str(current.get("name", ""))
                inner = current.get("context")
                held = getattr(inner, "value", inner) or {}
                self.namespace = str(held.get("namespace") or "default")
        except TimeoutError as error:
            raise SourceUnavailable(
                f"the kubeconfig's credential plugin did not end in {self.access.timeout:g} s"
            ) from error
        except config.ConfigException as error:
            raise _configuration_error(str(error), self.access) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SourceUnavailable(f"the kubeconfig can't be used: {error}") from error
        self.server = str(configuration.host).rstrip("/")
        try:
            self._rest = parts.transport(configuration, maxsize=PARALLEL + EXECS)
        except (OSError, ssl.SSLError) as error:
            raise SourceUnavailable(f"the kubeconfig's certificates can't be used: {error}") from error
        self._configuration = configuration

    async def close(self) -> None:
        if self._rest is not None:
            await self._rest.close()

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
                self._rest.pool_manager.request(
                    method, url, headers=headers, data=body, proxy=self._rest.proxy, **self._tls()
                ) as response,
            ):
                self._clock(response.headers.get("Date", ""))
                content = await _bounded(response, path)
                if response.status >= 400:
                    raise ApiTrouble(_message(response.status, content), status=response.status)
                return content
        except TimeoutError as error:
            raise ApiTrouble(f"no answer from the API server in {seconds:.0f} s", Reason.TIMED_OUT) from error
        except aiohttp.ClientPayloadError as error:
            raise ApiTrouble("the API server's answer was cut off") from error
        except aiohttp.ClientError as error:
            raise ApiTrouble(f"the API server {self.server} can't be reached: {_short(error)}") from error
        except OSError as error:
            raise ApiTrouble(f"the API server {self.server} can't be reached: {error}") from error

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

        query = [("command", word) for word in command]
        query += [("stdout", "true"), ("stderr", "true")]
        if container:
            query.append(("container", container))
        path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/exec"
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
                self._rest.pool_manager.ws_connect(
                    url,
                    headers=await self._headers(),
                    protocols=("v5.channel.k8s.io", "v4.channel.k8s.io"),
                    proxy=self._rest.proxy,
                    max_msg_size=limit,
                    **self._tls(),
                ) as socket,
            ):
                async for message in socket:
                    if message.type is aiohttp.WSMsgType.BINARY and not stream.take(message.data):
                        break
        except TimeoutError:
            late = Trouble(Reason.UNREACHED, f"the command did not end in {seconds:.0f} s")
            return stream.ended(late, late=True)
        except aiohttp.WSServerHandshakeError as error:
            words, reason = _message(error.status, b""), None
            if error.status in (500, 502, 503, 504):
                words += ": it does not reach the kubelet of the Pod's node, or the kubelet could not start the command"
                reason = Reason.UNREACHED
            raise ApiTrouble(words, reason, status=error.status) from error
        except aiohttp.ClientError as error:
            if stream.started:
                return stream.ended(Trouble(Reason.FAILED, f"the exec stream broke: {_short(error)}"))
            raise ApiTrouble(f"the exec could not be started: {_short(error)}") from error
        except OSError as error:
            return stream.ended(Trouble(Reason.FAILED, f"the exec stream broke: {error}"))
        cut = Trouble(Reason.FAILED, "the exec stream was cut off")
        return stream.ended(None if stream.status is not None else cut)

    async def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": "svcpath"}
        settings = await self._configuration.auth_settings()
        token = settings.get("BearerToken")
        if token and token["value"]:
            headers["Authorization"] = token["value"]
        if self.access.impersonate:
            headers["Impersonate-User"] = self.access.impersonate
        for group in self.access.as_groups:
            headers["Impersonate-Group"] = group
        return headers

    def _tls(self) -> dict[str, Any]:
        name = self._rest.server_hostname
        return {"server_hostname": name} if name else {}

    def _clock(self, date: str) -> None:
        if not date:
            return
        try:
            when = email.utils.parsedate_to_datetime(date)
        except ValueError:
            return
        self.at = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.skew = time.time() - when.timestamp()


async def _bounded(response: Any, path: str) -> bytes:
    held = bytearray()
    async for chunk in response.content.iter_chunked(1 << 18):
        held += chunk
        if len(held) > MAX_BODY:
            raise ApiTrouble(f"{path}: more than {MAX_BODY // 1024 // 1024} MiB in one answer", Reason.LIMIT)
    return bytes(held)


_WORDS = {
    400: "the API server calls it a bad request",
    401: "not logged in: the API server takes the credentials for nobody's",
    403: "forbidden",
    404: "not found",
    410: "the list's continuation is too old (410)",
    429: "the API server is too busy (429)",
}


def _message(status: int, content: bytes) -> str:
    said = ""
    if content:
        try:
            said = msgspec.json.decode(content, type=ApiStatus).message
        except msgspec.MsgspecError:
            said = ""
    words = _WORDS.get(status, f"the API server answered {status}")
    return f"{words}: {said[:300]}" if said else words


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]


def _has_kubeconfig() -> bool:
    import os

    return bool(os.environ.get("KUBECONFIG")) or Path("~/.kube/config").expanduser().exists()


_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def _in_cluster() -> bool:
    return (_ACCOUNT / "token").exists()


def _own_namespace() -> str:
    try:
        return (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip() or "default"
    except OSError:
        return "default"


def _configuration_error(message: str, access: Access) -> Exception:
    if access.context and ("context" in message.lower() or access.context in message):
        return UsageError(f"no context {access.context!r} in the kubeconfig: kubectl config get-contexts lists them")
    if not access.kubeconfig and not _has_kubeconfig():
        return UsageError(
            "no evidence and no kubeconfig: give files or folders with --evidence PATH, or set KUBECONFIG"
        )
    return SourceUnavailable(f"no cluster: {message} (give --evidence PATH, or a kubeconfig)")
