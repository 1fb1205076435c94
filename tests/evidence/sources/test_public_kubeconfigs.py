"""Kubeconfigs as public reports have them, each with its link: what another client stumbled over is read as kubectl reads it."""

from __future__ import annotations

import json
import os
import ssl
import stat
from pathlib import Path
from typing import Any

import pytest

from svcpath.errors import CredentialsRefused, SourceUnavailable
from svcpath.evidence.sources.connection import proxy_of, tls_context
from svcpath.evidence.sources.credentials import Credentials
from svcpath.evidence.sources.kubeconfig import Login, login
from tests.fixtures.looped import looped

SERVER = "https://192.0.2.100:6443"
GIVEN = '{"apiVersion": "%s", "kind": "ExecCredential", "status": {"token": "%s"%s}}'


def kubeconfig(user: dict[str, Any], cluster: dict[str, Any] | None = None, **context: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "current-context": "mock",
        "clusters": [{"name": "mock", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "none", "user": user}],
        "contexts": [{"name": "mock", "context": {"cluster": "mock", "user": "none", **context}}],
    }


def read(path: Path, content: dict[str, Any]) -> Login:
    path.write_text(json.dumps(content))
    return login(str(path))


def plugin(folder: Path, text: str) -> Path:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def execution(command: Path | str, version: str = "v1beta1", **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": f"client.authentication.k8s.io/{version}", "command": str(command), **more}}


def authorization(found: Login) -> str:
    return looped(Credentials(found, 10).authorization())


def test_a_v1_plugin_without_an_interactive_mode(tmp_path: Path) -> None:
    """https://github.com/kyverno/chainsaw/issues/2263"""
    command = plugin(tmp_path, f"echo '{GIVEN % ('client.authentication.k8s.io/v1', 't', '')}'")
    found = read(tmp_path / "config", kubeconfig(execution(command, "v1", env=None, provideClusterInfo=False)))
    assert authorization(found) == "Bearer t"


def test_a_plugin_is_given_the_cluster_with_its_proxy_and_its_own_settings(tmp_path: Path) -> None:
    """https://github.com/metalbear-co/mirrord/issues/2037"""
    asked = tmp_path / "asked"
    given = GIVEN % ("client.authentication.k8s.io/v1", "t", "")
    command = plugin(tmp_path, f"printf %s \"$KUBERNETES_EXEC_INFO\" > {asked}\necho '{given}'")
    settings = {"displayName": "prod", "role": "cluster-admin"}
    cluster = {
        "proxy-url": "http://127.0.0.1:1234",
        "certificate-authority-data": "QUJD",
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": settings}],
    }
    found = read(tmp_path / "config", kubeconfig(execution(command, "v1", provideClusterInfo=True), cluster))
    assert authorization(found) == "Bearer t"
    assert json.loads(asked.read_text())["spec"]["cluster"] == {
        "server": SERVER,
        "certificate-authority-data": "QUJD",
        "proxy-url": "http://127.0.0.1:1234",
        "config": settings,
    }


def test_what_a_plugin_complains_of_reaches_the_user(tmp_path: Path) -> None:
    """https://github.com/pulumi/pulumi-kubernetes/issues/4212"""
    command = plugin(tmp_path, "echo 'The SSO session has expired: aws sso login' >&2\nexit 255")
    found = read(tmp_path / "config", kubeconfig(execution(command)))
    with pytest.raises(CredentialsRefused, match="exit code 255: The SSO session has expired: aws sso login"):
        authorization(found)


def test_no_authority_beside_a_plugin_means_the_machines(tmp_path: Path) -> None:
    """https://github.com/kube-rs/kube/issues/1431"""
    found = read(tmp_path / "config", kubeconfig(execution("kubelogin")))
    assert tls_context(found.cluster).verify_mode is ssl.CERT_REQUIRED


def test_a_token_that_stands_beside_a_plugin_goes_first(tmp_path: Path) -> None:
    """https://github.com/kubernetes/kubernetes/issues/61857"""
    found = read(tmp_path / "config", kubeconfig({"token": "stale", **execution("never-run")}))
    assert authorization(found) == "Bearer stale"


def test_files_of_a_certificate_lie_beside_the_kubeconfig(tmp_path: Path) -> None:
    """https://github.com/infobloxopen/konk/pull/624"""
    user = {"client-certificate": "tls.crt", "client-key": "tls.key"}
    (tmp_path / "tls.crt").write_text("first")
    (tmp_path / "tls.key").write_text("key")
    found = read(tmp_path / "config", kubeconfig(user, {"certificate-authority": "ca.crt"}))
    assert found.cluster.certificate_authority == str(tmp_path / "ca.crt")
    credentials = Credentials(found, 10)
    before = looped(credentials.certificate())
    (tmp_path / "tls.crt").write_text("renewed")
    after = looped(credentials.certificate())
    assert before is not None
    assert after is not None
    assert (before.certificate, after.certificate) == (b"first", b"renewed")


def test_several_files_of_which_one_is_missing(tmp_path: Path) -> None:
    """https://github.com/kubernetes-client/python-base/issues/62"""
    contexts, rest = kubeconfig({"token": "t"}), kubeconfig({"token": "t"})
    (tmp_path / "contexts").write_text(json.dumps({key: contexts[key] for key in ("contexts", "current-context")}))
    (tmp_path / "rest").write_text(json.dumps({key: rest[key] for key in ("clusters", "users")}))
    paths = os.pathsep.join(str(tmp_path / name) for name in ("missing", "contexts", "rest"))
    found = login(environment={"KUBECONFIG": paths})
    assert (found.cluster.server, found.user.token) == (SERVER, "t")


def test_a_proxy_of_the_cluster(tmp_path: Path) -> None:
    """https://github.com/tomplus/kubernetes_asyncio/issues/377"""
    found = read(tmp_path / "config", kubeconfig({}, {"proxy-url": "http://192.0.2.103:3128"}))
    assert proxy_of(found.cluster) == "http://192.0.2.103:3128"


def test_a_socks_proxy_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """https://github.com/metalbear-co/mirrord/issues/2037 has one too: kubectl speaks SOCKS, svcpath does not."""
    found = read(tmp_path / "config", kubeconfig({}, {"proxy-url": "socks5://127.0.0.1:1234"}))
    with pytest.raises(SourceUnavailable, match="neither http nor https: give such a one"):
        proxy_of(found.cluster)


def test_a_plugin_runs_again_when_its_credential_has_expired_and_not_before(tmp_path: Path) -> None:
    """https://github.com/ManageIQ/kubeclient/pull/363"""
    runs = tmp_path / "runs"
    expired = GIVEN % ("client.authentication.k8s.io/v1beta1", "t", ', "expirationTimestamp": "2020-01-01T00:00:00Z"')
    lasting = GIVEN % ("client.authentication.k8s.io/v1beta1", "u", "")
    command = plugin(
        tmp_path, f"echo run >> {runs}\n[ $(wc -l < {runs}) -gt 1 ] && echo '{lasting}' || echo '{expired}'"
    )
    credentials = Credentials(read(tmp_path / "config", kubeconfig(execution(command))), 10)

    async def three() -> list[str]:
        return [await credentials.authorization() for _ in range(3)]

    assert looped(three()) == ["Bearer t", "Bearer u", "Bearer u"]
    assert runs.read_text().count("run") == 2


def test_a_plugin_that_is_not_installed_is_named_with_its_hint(tmp_path: Path) -> None:
    """https://github.com/kbterm/kubeterm/issues/52"""
    user = execution(
        "aws-vault-of-nowhere", args=["exec", "prod", "--", "aws"], env=None, interactiveMode="IfAvailable"
    )
    user["exec"]["installHint"] = "brew install aws-vault"
    with pytest.raises(CredentialsRefused, match=r"aws-vault-of-nowhere is not installed or not in PATH.*brew install"):
        authorization(read(tmp_path / "config", kubeconfig(user)))
