"""Logging in where no lab can show it: OpenID Connect, passwords, proxies; and which of several ways counts."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from svcpath.errors import CertificateRefused, CredentialsRefused, SourceUnavailable
from svcpath.evidence.sources.connection import proxy_of, tls_context, why_tls
from svcpath.evidence.sources.credentials import Credentials
from svcpath.evidence.sources.kubeconfig import AuthProvider, Cluster, ExecPlugin, Login, User
from tests.fixtures.looped import looped


def authorization(**user: Any) -> str:
    async def asked() -> str:
        return await Credentials(Login(Cluster("https://a"), User(**user)), 5).authorization()

    return looped(asked())


def id_token(**claims: Any) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".x"


def test_an_id_token_is_used_while_it_is_valid() -> None:
    token = id_token(exp=time.time() + 60)
    assert authorization(auth_provider=AuthProvider("oidc", {"id-token": token})) == f"Bearer {token}"


@pytest.mark.parametrize(
    ("provider", "why"),
    [
        (
            AuthProvider("oidc", {"id-token": id_token(exp=1e9)}),
            "expired at 2001-09-09T01:46:40Z: run any kubectl command, which renews it",
        ),
        (AuthProvider("oidc", {"id-token": "nothing"}), "no JSON Web Token"),
        (AuthProvider("oidc", None), "no id-token"),
        (AuthProvider("gcp", {}), "'gcp' was removed"),
    ],
)
def test_an_auth_provider_that_gives_nothing_says_what_to_do(provider: AuthProvider, why: str) -> None:
    with pytest.raises(CredentialsRefused, match=why):
        authorization(auth_provider=provider)


def test_a_token_goes_before_a_password_and_that_before_a_plugin(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("file\n")
    file, plugin = str(tmp_path / "token"), ExecPlugin("none")
    assert authorization(token="t", token_file=file, username="u", exec=plugin) == "Bearer file"
    assert authorization(token="t", username="u", exec=plugin) == "Bearer t"
    assert authorization(username="u", password="p", exec=plugin) == "Basic dTpw"
    assert authorization() == ""


def printing(text: str) -> ExecPlugin:
    command = ("-c", f"print({text!r})")
    return ExecPlugin(sys.executable, command, api_version="client.authentication.k8s.io/v1")


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        (printing("hello"), "printed no ExecCredential"),
        (printing('{"apiVersion": "client.authentication.k8s.io/v1beta1"}'), "answered in .*v1beta1"),
        (printing('{"apiVersion": "client.authentication.k8s.io/v1", "status": {}}'), "neither a token nor a certificate"),
        (ExecPlugin("x", api_version="client.authentication.k8s.io/v1alpha1"), "speaks .*v1alpha1"),
        (ExecPlugin("x", interactive_mode="Always"), "needs a terminal"),
        (ExecPlugin(sys.executable, ("-c", "import time; time.sleep(60)")), "did not end in"),
    ],
    ids=["no json", "another version", "nothing", "unknown version", "terminal", "hangs"],
)  # fmt: skip
def test_a_plugin_that_gives_nothing_says_why(plugin: ExecPlugin, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    credentials = Credentials(Login(Cluster("https://a"), User(exec=plugin)), 1.0)
    with pytest.raises(CredentialsRefused, match=why):
        looped(credentials.authorization())


def test_the_proxy_of_the_kubeconfig_goes_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://env:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    cluster = Cluster("https://far.example")
    assert proxy_of(cluster) == "http://env:3128"
    assert proxy_of(Cluster("https://near.example")) == ""
    assert proxy_of(msgspec.structs.replace(cluster, proxy_url="http://own:1")) == "http://own:1"
    with pytest.raises(SourceUnavailable, match="neither http nor https"):
        proxy_of(msgspec.structs.replace(cluster, proxy_url="socks5://own:1"))


def test_an_authority_that_is_none_is_said() -> None:
    with pytest.raises(CertificateRefused, match="authority can't be used"):
        tls_context(Cluster("https://a", certificate_authority_data=base64.b64encode(b"nothing").decode()))
    assert tls_context(Cluster("https://a", insecure_skip_tls_verify=True)).verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("certificate verify failed: certificate has expired", "renew it on the control plane"),
        ("sslv3 alert certificate expired", "log in again"),
        ("Hostname mismatch, certificate is not valid for 'a'", "tls-server-name"),
        ("certificate verify failed: unable to get local issuer certificate", "fetch the kubeconfig again"),
    ],
)
def test_what_a_handshake_failed_at_comes_with_advice(error: str, advice: str) -> None:
    assert advice in why_tls(ssl.SSLError(error))


def test_connecting_changes_nothing_of_the_process() -> None:
    code = (
        "import ssl, sys; before = (ssl.SSLContext, ssl.SSLContext.load_default_certs, sys.getswitchinterval())\n"
        "import asyncio; from svcpath.evidence.sources.connection import Connection\n"
        "from svcpath.evidence.sources.credentials import Credentials\n"
        "from svcpath.evidence.sources.kubeconfig import Cluster, Login, User\n"
        "async def go():\n"
        "    login = Login(Cluster('https://127.0.0.1:1', insecure_skip_tls_verify=True), User())\n"
        "    await (await Connection.open(login.cluster, Credentials(login, 1))).close()\n"
        "asyncio.run(go())\n"
        "assert before == (ssl.SSLContext, ssl.SSLContext.load_default_certs, sys.getswitchinterval())\n"
        "assert 'kubernetes_asyncio' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
