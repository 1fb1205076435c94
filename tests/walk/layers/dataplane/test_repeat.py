"""The commands that look at a table again print what belongs to the frontend or backend that they name, and nothing else."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from svcpath.evidence.sources.recordings import recording_files
from svcpath.models.dataplanes import Backend, Dialect, Frontend
from svcpath.walk.layers.dataplane import repeat
from tests.cases.public.case import case
from tests.fixtures import fake_world

IPVS = case("43-ipvs-affinity-persistence-weight0").files
CILIUM = case("56-cilium-terminating-but-serving-not-stale").files
CALICO = case("57-calico-bpf-dead-node-backend").files

NFT = recording_files("nftables")
SAVED = recording_files("iptables")
ECHO, WRONG, EMPTY = (Frontend(f"10.96.{ending}", "TCP", 80) for ending in ("28.101", "225.249", "78.144"))
POD = "10.244.2.4"


def _one(files: Mapping[str, bytes], word: str) -> dict[str, bytes]:
    return {path: raw for path, raw in files.items() if word in path}


#: dialect, files, Service port, frontend, a backend it has, and one that it has not though another frontend may
BACKENDS = [
    (Dialect.NFTABLES, _one(NFT, "w1.nft-ruleset"), "service-ops/wrong-port", WRONG, Backend(POD, 18080), 8080),
    (Dialect.NFTABLES, _one(NFT, "w1.nft-ruleset"), "service-ops/echo-server", ECHO, Backend(POD, 8080), 18080),
    (Dialect.IPTABLES, _one(SAVED, "w1.iptables"), "service-ops/wrong-port", WRONG, Backend(POD, 18080), 8080),
    (Dialect.IPTABLES, _one(SAVED, "w1.iptables"), "service-ops/echo-server", ECHO, Backend(POD, 8080), 808),
    (Dialect.IPVS, IPVS, "shop/x", Frontend("10.96.40.80", "TCP", 80), Backend("10.244.2.80", 8080), 80),
    (Dialect.CILIUM, CILIUM, "shop/mqtt", Frontend("10.96.60.31", "TCP", 1883), Backend("10.244.0.11", 1883), 18),
    (Dialect.CALICO, CALICO, "shop/x", Frontend("10.96.77.14", "TCP", 80), Backend("10.244.1.71", 80), 8080),
]


def _run(command: str, files: Mapping[str, bytes], folder: Path) -> str:
    environment = fake_world.install(folder, files)
    done = subprocess.run(
        ["sh", "-c", command], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize(("dialect", "files", "service", "frontend", "backend", "other"), BACKENDS)
def test_a_backend_is_shown_for_its_own_frontend_alone(
    dialect: Dialect,
    files: Mapping[str, bytes],
    service: str,
    frontend: Frontend,
    backend: Backend,
    other: int,
    tmp_path: Path,
) -> None:
    assert backend.address in _run(repeat.of_backend(dialect, service, frontend, backend), files, tmp_path / "has") or (
        dialect is Dialect.IPTABLES
        and _run(repeat.of_backend(dialect, service, frontend, backend), files, tmp_path / "b")
    )
    missing = Backend(backend.address, other)
    assert not _run(repeat.of_backend(dialect, service, frontend, missing), files, tmp_path / "port")
    if dialect in (Dialect.IPVS, Dialect.CILIUM, Dialect.CALICO):
        elsewhere = Frontend(frontend.address, frontend.protocol, frontend.port + 1)
        assert not _run(repeat.of_backend(dialect, service, elsewhere, backend), files, tmp_path / "frontend")
    else:
        assert not _run(repeat.of_backend(dialect, f"{service}x", frontend, backend), files, tmp_path / "service")


FRONTENDS = [(row[0], row[1], row[3]) for row in BACKENDS] + [
    (Dialect.NFTABLES, _one(NFT, "w1.nft-ruleset"), EMPTY),
    (Dialect.IPTABLES, _one(SAVED, "w1.iptables"), EMPTY),
]


@pytest.mark.parametrize(("dialect", "files", "frontend"), FRONTENDS)
def test_a_frontend_is_shown_and_no_other_port_of_its_address(
    dialect: Dialect, files: Mapping[str, bytes], frontend: Frontend, tmp_path: Path
) -> None:
    assert frontend.address in _run(repeat.of_frontend(dialect, frontend), files, tmp_path / "has")
    for port in (frontend.port + 1, frontend.port * 10):
        other = Frontend(frontend.address, frontend.protocol, port)
        assert not _run(repeat.of_frontend(dialect, other), files, tmp_path / str(port))


@pytest.mark.parametrize("address", ["fd00:96::10", "::"])
def test_ipv6_rules_are_looked_for_where_they_stand(address: str) -> None:
    assert repeat.listing(Dialect.IPTABLES, Frontend(address, "TCP", 80)) == "ip6tables-save"
    assert repeat.listing(Dialect.IPTABLES, Frontend("0.0.0.0", "TCP", 80)) == "iptables-save"
