"""kind and context, driven against executables that this test made and that note how they were called."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from svcpath.errors import UsageError
from svcpath_lab import home as homes
from svcpath_lab import labs, namespaces
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home, LabSpec
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers import public
from svcpath_lab.providers.base import NotOffered
from svcpath_lab.providers.context import ContextProvider
from svcpath_lab.providers.kind import KindProvider, cluster_config

KIND = """#!/bin/sh
echo "kind $*" >> {folder}/calls
case "$1 $2" in
"get clusters") cat {folder}/clusters 2>/dev/null; true;;
"get nodes") printf 'svcpath-one-control-plane\\nsvcpath-one-worker\\nsvcpath-one-worker2\\n';;
"create cluster")
    echo svcpath-one > {folder}/clusters
    while [ $# -gt 0 ]; do [ "$1" = --kubeconfig ] && echo "made by kind" > "$2"; shift; done;;
"export kubeconfig")
    while [ $# -gt 0 ]; do [ "$1" = --kubeconfig ] && echo "made by kind" > "$2"; shift; done;;
"delete cluster") rm -f {folder}/clusters;;
esac
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH but the shell's own tools, with a fake kind in it."""
    folder = tmp_path / "tools"
    folder.mkdir()
    _tool(folder, "kind", KIND.format(folder=folder))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def _tool(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def _calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines() if (folder / "calls").is_file() else []


def _quiet(line: str) -> None:
    del line


def test_the_kind_configuration_has_the_nodes_image_mode_and_family_asked_for() -> None:
    spec = LabSpec(provider="kind", proxy_mode="nftables", nodes=3, ip_family="dual")
    config = yaml.safe_load(cluster_config(spec, "kindest/node:v1.35.0"))
    assert config["networking"] == {"kubeProxyMode": "nftables", "ipFamily": "dual"}
    assert [node["role"] for node in config["nodes"]] == ["control-plane", "worker", "worker"]
    assert {node["image"] for node in config["nodes"]} == {"kindest/node:v1.35.0"}
    with pytest.raises(UsageError):
        cluster_config(LabSpec(provider="kind", proxy_mode="ipvs"), "x")


def test_up_creates_a_cluster_once_and_continues_it_the_second_time(tmp_path: Path, tools: Path) -> None:
    place = homes.home("one", tmp_path / "state")
    spec = LabSpec(provider="kind")
    provider = labs.bring_up(place, spec, _quiet)
    assert provider.kubeconfig().read_text() == "made by kind\n"
    labs.bring_up(place, spec, _quiet)
    assert [call.split()[1] for call in _calls(tools)] == ["get", "create", "get", "export"]
    create = _calls(tools)[1]
    assert f"--config {place.folder}/kind.yaml" in create
    assert "--name svcpath-one" in create


def test_down_deletes_the_cluster_and_the_folder(tmp_path: Path, tools: Path) -> None:
    place = homes.home("one", tmp_path / "state")
    labs.bring_up(place, LabSpec(provider="kind"), _quiet)
    labs.take_down(place, _quiet)
    assert _calls(tools)[-1] == "kind delete cluster --name svcpath-one"
    assert not place.folder.exists()
    assert not (tmp_path / "state").exists()


def test_commands_on_a_kind_node_go_through_the_container_engine(tmp_path: Path, tools: Path) -> None:
    _tool(tools, "docker", f'#!/bin/sh\necho "docker $*" >> {tools}/calls\necho from-docker\n')
    provider = KindProvider(homes.home("one", tmp_path), LabSpec(provider="kind"))
    assert provider.nodes() == ("svcpath-one-worker", "svcpath-one-worker2")
    assert provider.run_on_node("svcpath-one-worker", ["nft", "list", "ruleset"]).out == "from-docker\n"
    assert provider.on_node("svcpath-one-worker", ["cat"], terminal=False) == [
        *("docker", "exec", "-i", "svcpath-one-worker", "cat")
    ]
    assert "-t" in provider.on_node("svcpath-one-worker", ["bash"], terminal=True)
    provider.freeze_proxy("svcpath-one-worker2")
    calls = [call for call in _calls(tools) if call.startswith("docker")]
    assert calls == [
        "docker exec svcpath-one-worker nft list ruleset",
        "docker exec svcpath-one-worker2 pkill -STOP -x kube-proxy",
    ]
    with pytest.raises(UsageError, match="svcpath-one-worker2"):
        provider.run_on_node("w9", ["true"])


def test_without_kind_the_error_says_what_to_install(tmp_path: Path, tools: Path) -> None:
    (tools / "kind").unlink()
    provider = KindProvider(homes.home("one", tmp_path), LabSpec(provider="kind"))
    with pytest.raises(LabError, match="install kind"):
        provider.up(_quiet)


def test_public_images_are_named_by_digest() -> None:
    named = [*public.images().values(), public.kind_node("1.35"), public.kind_node("1.34")]
    assert all(re.fullmatch(r"docker\.io/[a-z]+/[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", name) for name in named), named


def test_public_images_can_be_named_by_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVCPATH_LAB_IMAGE_CLIENT", "registry.example/python@sha256:" + "0" * 64)
    assert public.images()["client"].startswith("registry.example/")
    assert "python" in public.images()["tools"]
    assert ":v1.35" in public.kind_node("")
    with pytest.raises(UsageError):
        public.kind_node("1.2")


@pytest.fixture
def cluster(tmp_path: Path, tools: Path) -> tuple[Home, Path]:
    """A home and a fake kubectl that knows namespaces from files: name -> value of the lab's label."""
    (tools / "namespaces").mkdir()
    _tool(
        tools,
        "kubectl",
        f"""#!/bin/sh
echo "kubectl $*" >> {tools}/calls
shift 2; [ "$1" = --context ] && shift 2
case "$1 $2" in
"get nodes") echo '{{"items": []}}';;
"get namespace")
    [ -e {tools}/namespaces/$3 ] || {{ echo "Error from server (NotFound): namespaces \\"$3\\" not found" >&2; exit 1; }}
    cat {tools}/namespaces/$3;;
"apply -f") cat > {tools}/applied;;
esac
""",
    )
    (tmp_path / "kubeconfig").write_text("apiVersion: v1\n")
    return homes.home("one", tmp_path / "state"), tools


def _context(home: Home, tmp_path: Path) -> ContextProvider:
    return ContextProvider(home, LabSpec(provider="context", context="prod", kubeconfig=str(tmp_path / "kubeconfig")))


def test_a_namespace_that_is_not_the_labs_is_never_touched(tmp_path: Path, cluster: tuple[Home, Path]) -> None:
    home, tools = cluster
    kubectl = _context(home, tmp_path).kubectl()
    (tools / "namespaces" / "shop").write_text("")
    (tools / "namespaces" / "other").write_text("two")
    for name in ("shop", "other"):
        with pytest.raises(LabError, match="not this lab's"):
            namespaces.ensure(kubectl, home.name, name)
        with pytest.raises(LabError, match="not this lab's"):
            namespaces.remove(kubectl, home.name, name)
    assert not [call for call in _calls(tools) if {"delete", "apply", "label"} & set(call.split())]


def test_a_namespace_is_made_with_the_labs_label_and_its_own_is_taken_as_it_is(
    tmp_path: Path, cluster: tuple[Home, Path]
) -> None:
    home, tools = cluster
    kubectl = _context(home, tmp_path).kubectl()
    namespaces.ensure(kubectl, home.name, "fresh")
    made = yaml.safe_load((tools / "applied").read_text())
    assert made["metadata"] == {"name": "fresh", "labels": {namespaces.LABEL: "one"}}
    (tools / "namespaces" / "mine").write_text("one")
    (tools / "applied").unlink()
    namespaces.ensure(kubectl, home.name, "mine")
    assert not (tools / "applied").exists()


def test_down_of_a_context_deletes_by_the_labs_label_alone(tmp_path: Path, cluster: tuple[Home, Path]) -> None:
    home, tools = cluster
    provider = _context(home, tmp_path)
    provider.up(_quiet)
    provider.down(_quiet)
    deletes = [call for call in _calls(tools) if "delete" in call.split()]
    assert len(deletes) == 1
    assert f"delete namespaces -l {namespaces.LABEL}=one" in deletes[0]
    assert "--context prod" in deletes[0]


def test_a_context_refuses_what_would_change_nodes(tmp_path: Path, cluster: tuple[Home, Path]) -> None:
    provider = _context(cluster[0], tmp_path)
    with pytest.raises(NotOffered, match="netns or kind"):
        provider.freeze_proxy("n1")
    with pytest.raises(NotOffered, match="netns or kind"):
        provider.set_proxy_mode("nftables", _quiet)
    with pytest.raises(NotOffered):
        provider.run_on_node("n1", ["true"])
    with pytest.raises(NotOffered):
        provider.on_node("n1", ["bash"], terminal=True)
    with pytest.raises(UsageError, match="--context"):
        ContextProvider(cluster[0], LabSpec(provider="context")).up(_quiet)


def test_every_kubectl_call_names_its_kubeconfig_and_context(tmp_path: Path, tools: Path) -> None:
    kubectl = Kubectl(Path("kubectl"), tmp_path / "k", "ctx")
    assert kubectl.argv(["get", "pods"])[:5] == ["kubectl", "--kubeconfig", str(tmp_path / "k"), "--context", "ctx"]
    _tool(tools, "kubectl", '#!/bin/sh\necho "${KUBECONFIG-unset}"; echo "not json"\n')
    assert kubectl.run("x").out.startswith("unset")
    with pytest.raises(LabError, match="JSON"):
        kubectl.get("pods")


def test_a_kubectl_answer_is_read_as_json(tmp_path: Path, tools: Path) -> None:
    _tool(tools, "kubectl", f"#!/bin/sh\necho '{json.dumps({'items': [{'metadata': {'name': 'a'}}]})}'\n")
    assert [pod["metadata"]["name"] for pod in Kubectl(Path("kubectl"), tmp_path / "k").items("pods")] == ["a"]


def test_the_labs_label_is_a_name_that_an_api_server_takes() -> None:
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?", namespaces.LABEL)
