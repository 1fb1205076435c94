"""Every way of logging in that a kubeconfig has and a lab can show, against its API server: it says who asked."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from svcpath.errors import CertificateRefused, ClusterUnreachable, CredentialsRefused
from svcpath.evidence.sources.kube import ClusterSource
from svcpath.evidence.sources.kube_client import Access, KubeClient
from svcpath_lab.netns.pki import Authority
from tests.fixtures.looped import looped
from tests.live.conftest import NAMESPACE, Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120, func_only=True)]

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:default"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def admin(lab: Lab) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(Path(lab.kubeconfig).read_text())
    return config


def token(lab: Lab) -> str:
    return lab.kubectl.run("-n", NAMESPACE, "create", "token", "default").out.strip()


def access(lab: Lab, tmp_path: Path, user: dict[str, Any] | None = None, **cluster: Any) -> Access:
    """The lab's kubeconfig with another user, or with fields of its cluster changed."""
    config = admin(lab)
    if user is not None:
        config["users"][0]["user"] = user
    config["clusters"][0]["cluster"].update(cluster)
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return Access(kubeconfig=str(path), timeout=20)


async def ask(client: KubeClient) -> str:
    data = await client.request(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=msgspec.json.encode(REVIEW)
    )
    return str(json.loads(data)["status"]["userInfo"]["username"])


def whoami(chosen: Access) -> str:
    async def asked() -> str:
        client = KubeClient(chosen)
        await client.connect()
        try:
            return await ask(client)
        finally:
            await client.close()

    return looped(asked())


def plugin(tmp_path: Path, status: dict[str, str], version: str = "v1", code: int = 0) -> dict[str, Any]:
    """A plugin that notes each call with what it was given, and prints ``status``."""
    printed = {"apiVersion": f"client.authentication.k8s.io/{version}", "kind": "ExecCredential", "status": status}
    script = tmp_path / "plugin.py"
    script.write_text(
        "import os, sys\n"
        f"open({str(tmp_path / 'calls')!r}, 'a').write(os.environ['KUBERNETES_EXEC_INFO'] + os.environ['MARK'] + '\\n')\n"
        f"print({json.dumps(printed)!r}) if not {code} else print('no session', file=sys.stderr)\n"
        f"sys.exit({code})\n"
    )
    return {
        "exec": {
            "apiVersion": printed["apiVersion"],
            "command": sys.executable,
            "args": [str(script)],
            "env": [{"name": "MARK", "value": "marked"}],
            "interactiveMode": "Never",
            "provideClusterInfo": True,
        }
    }


def test_a_client_certificate_of_the_kubeconfig_or_of_files(lab: Lab, tmp_path: Path) -> None:
    name = whoami(access(lab, tmp_path))
    user = admin(lab)["users"][0]["user"]
    for field, file in (("client-certificate", "user.crt"), ("client-key", "user.key")):
        (tmp_path / file).write_bytes(base64.b64decode(user[f"{field}-data"]))
    assert whoami(access(lab, tmp_path, {"client-certificate": "user.crt", "client-key": "user.key"})) == name


def test_a_token(lab: Lab, tmp_path: Path) -> None:
    assert whoami(access(lab, tmp_path, {"token": token(lab)})) == ACCOUNT


def test_a_token_file_is_read_again_when_it_rotates(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("expired")

    async def asked() -> str:
        client = KubeClient(access(lab, tmp_path, {"tokenFile": "token"}))
        await client.connect()
        try:
            with pytest.raises(Exception, match="not logged in"):
                await ask(client)
            (tmp_path / "token").write_text(token(lab) + "\n")
            return await ask(client)
        finally:
            await client.close()

    assert looped(asked()) == ACCOUNT


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_plugin_gives_a_token_once(lab: Lab, tmp_path: Path, version: str) -> None:
    status = {"token": token(lab), "expirationTimestamp": "2999-01-01T00:00:00Z"}
    chosen = access(lab, tmp_path, plugin(tmp_path, status, version))
    with ClusterSource(chosen) as source:
        assert source.version.startswith("v1.")
        source.rights(NAMESPACE)
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.endswith("marked")
    given = json.loads(call.removesuffix("marked"))
    assert given["spec"]["cluster"]["server"] == admin(lab)["clusters"][0]["cluster"]["server"]
    assert whoami(chosen) == ACCOUNT


def test_a_plugin_whose_credential_has_expired_runs_again(lab: Lab, tmp_path: Path) -> None:
    status = {"token": token(lab), "expirationTimestamp": "2020-01-01T00:00:00Z"}
    with ClusterSource(access(lab, tmp_path, plugin(tmp_path, status))) as source:
        source.rights(NAMESPACE)
    assert len((tmp_path / "calls").read_text().splitlines()) > 1


def test_a_plugin_gives_a_certificate(lab: Lab, tmp_path: Path) -> None:
    user = admin(lab)["users"][0]["user"]
    status = {
        "clientCertificateData": base64.b64decode(user["client-certificate-data"]).decode(),
        "clientKeyData": base64.b64decode(user["client-key-data"]).decode(),
    }
    assert whoami(access(lab, tmp_path, plugin(tmp_path, status))) == whoami(access(lab, tmp_path))


def test_impersonation_by_flag_and_by_kubeconfig(lab: Lab, tmp_path: Path) -> None:
    chosen = access(lab, tmp_path)
    assert whoami(msgspec.structs.replace(chosen, impersonate="jane", as_groups=("a", "b"))) == "jane"
    user = admin(lab)["users"][0]["user"]
    assert whoami(access(lab, tmp_path, {**user, "as": "joe", "as-groups": ["c"]})) == "joe"


def test_a_server_that_is_not_there_is_unreachable(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(ClusterUnreachable, match="can't be reached"):
        ClusterSource(access(lab, tmp_path, server="https://127.0.0.1:1"))


def test_a_wrong_authority_is_said_and_can_be_skipped(lab: Lab, tmp_path: Path) -> None:
    Authority(tmp_path / "pki").ensure()
    wrong = base64.b64encode((tmp_path / "pki" / "ca.crt").read_bytes()).decode()
    fields: dict[str, Any] = {"certificate-authority-data": wrong}
    with pytest.raises(CertificateRefused, match="not signed by the kubeconfig's authority"):
        ClusterSource(access(lab, tmp_path, **fields))
    fields = {"certificate-authority-data": None, "insecure-skip-tls-verify": True}
    assert whoami(access(lab, tmp_path, **fields))


def test_a_name_that_the_certificate_does_not_have(lab: Lab, tmp_path: Path) -> None:
    other: dict[str, Any] = {"tls-server-name": "other.example"}
    with pytest.raises(CertificateRefused, match="tls-server-name"):
        ClusterSource(access(lab, tmp_path, **other))
    own: dict[str, Any] = {"tls-server-name": "kubernetes.default.svc"}
    assert whoami(access(lab, tmp_path, **own))


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"token": "nothing"}, "not logged in"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "svcpath-no-plugin", "installHint": "Get it"}}, "Get it"),
        ({"tokenFile": "none"}, "can't be read"),
    ],
    ids=["401", "no plugin", "no token file"],
)  # fmt: skip
def test_credentials_that_are_none_say_what_to_do(lab: Lab, tmp_path: Path, user: dict[str, Any], why: str) -> None:
    with pytest.raises(CredentialsRefused, match=why):
        ClusterSource(access(lab, tmp_path, user))


def test_a_plugin_that_fails_is_quoted(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="exit code 3: no session"):
        ClusterSource(access(lab, tmp_path, plugin(tmp_path, {}, code=3)))
