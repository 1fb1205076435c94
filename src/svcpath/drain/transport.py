"""What a recorder reads through: a GET's body and a watch's lines. ClusterTransport is one over the cluster client, HttpTransport
one over plain HTTP to a `kubectl proxy`; kubectl(1) itself sets up and plays what is tried on a cluster.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

from svcpath.errors import SourceUnavailable

_TIMEOUT = 30.0


class Expired(Exception):
    """The resourceVersion is too old (HTTP 410): only a new list helps."""


class WatchCut(Exception):
    """The watch ended or could not be started; it can be taken up again where it was."""


class Transport(Protocol):
    def get(self, path: str) -> bytes:
        """The body of a GET. Raises SourceUnavailable; Expired for 410."""

    def stream(self, path: str) -> Iterator[bytes]:
        """The lines of a watch until it ends. Raises WatchCut or Expired."""

    def date(self) -> float | None:
        """The API server's clock in seconds since the epoch (whole seconds); None where it can't be read."""

    def close(self) -> None:
        """End every stream that is open."""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that has pipes, whatever state it is in, and leave none of them open."""
    if process.poll() is None:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


@dataclass(slots=True)
class KubectlTransport:
    """kubectl commands, with the options that choose the cluster."""

    options: Sequence[str] = ()
    program: str = "kubectl"
    _open: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self, *arguments: str, stdin: bytes | None = None, timeout: float = 60.0
    ) -> subprocess.CompletedProcess[bytes]:
        """Any kubectl command. Raises SourceUnavailable when kubectl is not there or does not answer."""
        try:
            return subprocess.run(
                [self.program, *self.options, *arguments],
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except FileNotFoundError as error:
            raise SourceUnavailable(
                "kubectl is not installed: install it, or give --api-url of a kubectl proxy"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise SourceUnavailable(f"kubectl {arguments[0]} did not end within {timeout:g} s") from error

    def ok(self, *arguments: str, stdin: bytes | None = None, timeout: float = 60.0) -> bytes:
        """The output of a kubectl command that has to succeed."""
        done = self.run(*arguments, stdin=stdin, timeout=timeout)
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SourceUnavailable(f"kubectl {' '.join(arguments[:4])}: {lines[-1] if lines else 'no output'}")
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok("get", *arguments, "-o", "json"))

    def popen(self, *arguments: str, stdin: bytes | None = None, stdin_open: bool = False) -> subprocess.Popen[bytes]:
        """A long-running kubectl command, ended by ``close``; ``stdin`` is sent, or ``stdin_open`` left to the caller."""
        try:
            process = subprocess.Popen(
                [self.program, *self.options, *arguments],
                stdin=subprocess.DEVNULL if stdin is None and not stdin_open else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except FileNotFoundError as error:
            raise SourceUnavailable(
                "kubectl is not installed: install it, or give --api-url of a kubectl proxy"
            ) from error
        with self._lock:
            self._open.append(process)
        if stdin is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.close()
        return process

    def close(self) -> None:
        """End every long-running command; new ones may be started after it."""
        with self._lock:
            processes, self._open[:] = list(self._open), []
        for process in processes:
            end(process)


class HttpTransport:
    """Plain HTTP, as `kubectl proxy` serves it."""

    def __init__(self, url: str) -> None:
        parsed = urllib.parse.urlsplit(url)
        if parsed.scheme != "http" or not parsed.hostname:
            raise SourceUnavailable(f"--api-url {url!r}: give the http address of a kubectl proxy")
        self._host, self._port = parsed.hostname, parsed.port or 80
        self._open: set[socket.socket] = set()
        self._closed = False
        self._date: float | None = None

    def _request(
        self, path: str, timeout: float
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse, socket.socket]:
        """The socket is given too: a response that closes takes it from its connection."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        try:
            connection.request("GET", path)
            sock = connection.sock
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise SourceUnavailable(f"http://{self._host}:{self._port}: {error}") from error
        stamp = response.getheader("Date")
        if stamp:
            with contextlib.suppress(ValueError):
                self._date = parsedate_to_datetime(stamp).timestamp()
        return connection, response, sock

    def get(self, path: str) -> bytes:
        connection, response, _ = self._request(path, _TIMEOUT)
        try:
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise SourceUnavailable(f"GET {path}: {error}") from error
        finally:
            connection.close()
        if response.status == 410:
            raise Expired(path)
        if response.status != 200:
            raise SourceUnavailable(f"GET {path}: {response.status} {response.reason}")
        return body

    def stream(self, path: str) -> Iterator[bytes]:
        try:
            connection, response, sock = self._request(path, 3600.0)
        except SourceUnavailable as error:
            raise WatchCut(str(error)) from error
        self._open.add(sock)
        if self._closed:
            self._shut(sock)
        try:
            if response.status == 410:
                raise Expired(path)
            if response.status != 200:
                raise WatchCut(f"GET {path}: {response.status} {response.reason}")
            while line := response.readline():
                yield line
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            raise WatchCut(str(error)) from error
        finally:
            self._open.discard(sock)
            connection.close()
        raise WatchCut("the watch ended")

    def date(self) -> float | None:
        try:
            self.get("/version")
        except (SourceUnavailable, Expired):
            return None
        return self._date

    def close(self) -> None:
        self._closed = True
        for sock in list(self._open):
            self._shut(sock)

    def _shut(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
