"""What a kubeconfig's user is known by to the API server: a token, a password, a certificate, or what a plugin gives.

A token's file is read for each request, for it rotates; a plugin is run when its credential has expired, or when the API
server refused it, and what it gave is kept in the process. Sources: k8s.io/client-go/plugin/pkg/client/auth/exec and
transport (which of several ways counts), client.authentication.k8s.io v1 and v1beta1 (ExecCredential).
"""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from svcpath.errors import CredentialsRefused
from svcpath.evidence.sources.kubeconfig import AuthProvider, Cluster, ExecPlugin, Login, decoded

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
#: Seconds before its end at which a credential is no longer used.
_EARLY = 5.0


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str = ""


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class Certificate(msgspec.Struct, frozen=True):
    """A client certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Credentials:
    """Of one login, on one event loop. ``authorization`` and ``certificate`` raise CredentialsRefused."""

    def __init__(self, login: Login, timeout: float) -> None:
        self._login = login
        self._timeout = timeout
        self._lock = asyncio.Lock()
        self._given: _Status | None = None

    @property
    def renewable(self) -> bool:
        """Whether a refused credential can be asked for again."""
        return self._plugin is not None

    @property
    def _plugin(self) -> ExecPlugin | None:
        user = self._login.user
        return None if user.token or user.token_file or user.username else user.exec

    async def authorization(self) -> str:
        """The Authorization header, "" for none."""
        user = self._login.user
        token = _token_of(user.token_file, user.token) if user.token_file else user.token
        if token:
            return f"Bearer {token}"
        if user.username:
            return "Basic " + base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
        if self._plugin is not None:
            given = (await self._current(self._plugin)).token
            return f"Bearer {given}" if given else ""
        return f"Bearer {_id_token(user.auth_provider)}" if user.auth_provider is not None else ""

    async def certificate(self) -> Certificate | None:
        """The client certificate, of the kubeconfig or the plugin."""
        user = self._login.user
        if user.client_certificate or user.client_certificate_data:
            return Certificate(
                _content(user.client_certificate_data, user.client_certificate, "client-certificate"),
                _content(user.client_key_data, user.client_key, "client-key"),
            )
        if self._plugin is None:
            return None
        given = await self._current(self._plugin)
        if not given.client_certificate_data:
            return None
        return Certificate(given.client_certificate_data.encode(), given.client_key_data.encode())

    def forget(self) -> None:
        """The API server refused what the plugin gave."""
        self._given = None

    async def _current(self, plugin: ExecPlugin) -> _Status:
        async with self._lock:
            if self._given is None or _over(self._given.expiration_timestamp):
                self._given = await asyncio.to_thread(_run, plugin, self._login.cluster, self._timeout)
            return self._given


def _token_of(path: str, otherwise: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip() or otherwise
    except OSError as error:
        if otherwise:
            return otherwise
        raise CredentialsRefused(f"the token file {path} can't be read: {error.strerror}") from error


def _content(data: str, path: str, what: str) -> bytes:
    if data:
        return decoded(data, f"{what}-data")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CredentialsRefused(
            f"{what} {path or 'is not in the kubeconfig'} can't be read: {error.strerror}"
        ) from error


def _over(expires: str) -> bool:
    if not expires:
        return False
    try:
        return datetime.fromisoformat(expires).timestamp() - _EARLY <= time.time()
    except ValueError as error:
        raise CredentialsRefused(
            f"the credential plugin's expirationTimestamp {expires!r} is no RFC 3339 time"
        ) from error


# --- plugins ------------------------------------------------------------------------------------------------------


def _run(plugin: ExecPlugin, cluster: Cluster, timeout: float) -> _Status:
    if plugin.api_version not in _VERSIONS:
        raise CredentialsRefused(
            f"the credential plugin speaks {plugin.api_version}; {' and '.join(_VERSIONS)} are known"
        )
    terminal = plugin.interactive_mode != "Never" and sys.stdin is not None and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not terminal:
        raise CredentialsRefused(f"the credential plugin {plugin.command} needs a terminal (interactiveMode Always)")
    environment = {**os.environ, **{variable.name: variable.value for variable in plugin.env or ()}}
    environment["KUBERNETES_EXEC_INFO"] = msgspec.json.encode(_request(plugin, cluster, terminal)).decode()
    hint = f" ({plugin.install_hint.strip()})" if plugin.install_hint else ""
    try:
        done = subprocess.run(
            [plugin.command, *(plugin.args or ())],
            env=environment,
            stdin=None if terminal else subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        why = f"the credential plugin {plugin.command} is not installed or not in PATH"
        raise CredentialsRefused(f"{why}{hint or ': install it, then ask kubectl get --raw /version'}") from error
    except OSError as error:
        raise CredentialsRefused(
            f"the credential plugin {plugin.command} can't be run: {error.strerror}{hint}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise CredentialsRefused(
            f"the kubeconfig's credential plugin {plugin.command} did not end in {timeout:g} s"
        ) from error
    if done.returncode:
        output = done.stderr.decode("utf-8", "replace").strip()[-300:]
        why = f"the credential plugin {plugin.command} failed with exit code {done.returncode}"
        raise CredentialsRefused(f"{why}: {output or 'no output'}{hint}; run it by hand to see why")
    try:
        found = msgspec.json.decode(done.stdout, type=_ExecCredential)
    except msgspec.MsgspecError as error:
        raise CredentialsRefused(
            f"the credential plugin {plugin.command} printed no ExecCredential: {error}"
        ) from error
    if found.api_version != plugin.api_version:
        raise CredentialsRefused(
            f"the credential plugin {plugin.command} answered in {found.api_version or 'no version'}; the kubeconfig says "
            f"{plugin.api_version}: update the plugin or the kubeconfig"
        )
    status = found.status or _Status()
    if not status.token and not (status.client_certificate_data and status.client_key_data):
        raise CredentialsRefused(
            f"the credential plugin {plugin.command} gave neither a token nor a certificate with its key"
        )
    return status


def _request(plugin: ExecPlugin, cluster: Cluster, terminal: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {"interactive": terminal}
    if plugin.provide_cluster_info:
        authority = cluster.certificate_authority_data
        if not authority and cluster.certificate_authority:
            content = _content("", cluster.certificate_authority, "certificate-authority")
            authority = base64.b64encode(content).decode()
        known = {
            "server": cluster.server,
            "tls-server-name": cluster.tls_server_name,
            "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
            "certificate-authority-data": authority,
            "proxy-url": cluster.proxy_url,
            "config": next(
                (
                    entry.get("extension")
                    for entry in cluster.extensions or ()
                    if entry.get("name") == "client.authentication.k8s.io/exec"
                ),
                None,
            ),
        }
        spec["cluster"] = {key: value for key, value in known.items() if value}
    return {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}


# --- OpenID Connect -----------------------------------------------------------------------------------------------


class _Claims(msgspec.Struct, frozen=True):
    exp: float | None = None


def _id_token(provider: AuthProvider) -> str:
    """The ID token of the auth provider "oidc", which is used while it is valid.

    It is not renewed here: a provider may change the refresh token with each use, and who renews it has to write that into the
    kubeconfig.
    """
    renew = "run any kubectl command, which renews it, or log in with an exec plugin such as kubelogin"
    if provider.name != "oidc":
        raise CredentialsRefused(
            f"the kubeconfig's auth-provider {provider.name!r} was removed from Kubernetes: use its exec plugin"
        )
    token = str((provider.config or {}).get("id-token", ""))
    if not token:
        raise CredentialsRefused(f"the kubeconfig's oidc auth-provider has no id-token: {renew}")
    try:
        body = token.split(".")[1]
        claims = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=_Claims)
    except (IndexError, ValueError) as error:
        raise CredentialsRefused(f"the kubeconfig's oidc id-token is no JSON Web Token: {renew}") from error
    if claims.exp is not None and claims.exp <= time.time():
        ended = datetime.fromtimestamp(claims.exp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        raise CredentialsRefused(f"the kubeconfig's oidc id-token expired at {ended}: {renew}")
    return token
