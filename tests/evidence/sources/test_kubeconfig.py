"""Kubeconfigs are read and merged as client-go does it, and what is missing is said with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.sources import kubeconfig
from svcpath.evidence.sources.kubeconfig import login


def write(path: Path, **fields: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **fields}))
    return path


def whole(server: str = "https://a", **user: Any) -> dict[str, Any]:
    return {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
    }


def test_the_current_context_in_full(tmp_path: Path) -> None:
    found = login(str(write(tmp_path / "config", **whole(token="t", exec=None, preferences={}))))
    assert (found.context, found.namespace, found.cluster.server, found.user.token) == (
        "here",
        "shop",
        "https://a",
        "t",
    )


def test_the_first_file_that_names_an_entry_gives_the_whole_of_it(tmp_path: Path) -> None:
    first = write(tmp_path / "first", users=[{"name": "u", "user": {"username": "first"}}])
    second = write(tmp_path / "second", **whole(token="second"))
    names = f"{first}:{tmp_path / 'none'}::{second}"
    found = login(environment={"KUBECONFIG": names})
    assert (found.context, found.user.username, found.user.token) == ("here", "first", "")


def test_paths_are_relative_to_the_file_that_has_them(tmp_path: Path) -> None:
    fields = whole(tokenFile="token", exec={"command": "bin/plugin"})
    fields["clusters"][0]["cluster"]["certificate-authority"] = "/etc/ca.crt"
    found = login(str(write(tmp_path / "a" / "config", **fields)))
    assert found.user.token_file == str(tmp_path / "a" / "token")
    assert found.user.exec is not None
    assert found.user.exec.command == str(tmp_path / "a" / "bin" / "plugin")
    assert found.cluster.certificate_authority == "/etc/ca.crt"


@pytest.mark.parametrize(
    ("change", "context", "why"),
    [
        ({"current-context": None}, "", "no current context: choose one with --context"),
        ({}, "there", "no context 'there'"),
        ({"clusters": None}, "", "has no server"),
        ({"users": None}, "", "names user 'u'"),
        ({"users": [{"name": "u", "user": {"token": 5}}]}, "", "can't be used: Expected `str`"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, change: dict[str, Any], context: str, why: str) -> None:
    with pytest.raises((UsageError, SourceUnavailable), match=why):
        login(str(write(tmp_path / "config", **{**whole(), **change})), context)


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a: [")
    with pytest.raises(SourceUnavailable, match="config can't be used"):
        login(str(tmp_path / "config"))
    with pytest.raises(SourceUnavailable, match="no kubeconfig"):
        login(str(tmp_path / "none"))


def test_in_a_pod_the_service_account_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfig, "ACCOUNT", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("shop\n")
    found = login(environment={"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"})
    assert (found.cluster.server, found.namespace, found.context) == ("https://[fd00::1]:6443", "shop", "")
    assert found.user.token_file == str(tmp_path / "token")
    with pytest.raises(UsageError, match="set KUBECONFIG"):
        login(environment={})
