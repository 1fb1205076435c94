"""When kube-proxy counts as synced: its first family with Services, another family also without any."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from svcpath_lab.netns import addons
from svcpath_lab.netns.layout import layout

FILLED = "map service-ips { elements = { 10.96.0.1 . tcp . 443 : goto x } }"
EMPTY = "map service-ips { type ipv6_addr . inet_proto . inet_service : verdict }"


def succeeds(tmp_path: Path, mode: str, family: str, outputs: dict[str, str]) -> bool:
    """Whether the test succeeds where each tool prints what ``outputs`` has for its command line, and else fails."""
    for tool in ("nft", "iptables-save", "ip6tables-save"):
        cases = "".join(f"'{line}') echo '{out}';;\n" for line, out in outputs.items())
        (tmp_path / tool).write_text(f'#!/bin/sh\ncase "{tool} $*" in\n{cases}*) exit 1;; esac\n')
        (tmp_path / tool).chmod(0o755)
    script = addons.synced(layout(1, family), mode)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    return subprocess.run(["sh", "-c", script], env=environment, check=False).returncode == 0


NFT4, NFT6 = "nft list map ip kube-proxy service-ips", "nft list map ip6 kube-proxy service-ips"
SAVE4, SAVE6 = "iptables-save -t nat", "ip6tables-save -t nat"


@pytest.mark.parametrize(
    ("mode", "family", "outputs", "ready"),
    [
        ("nftables", "ipv4", {NFT4: FILLED}, True),
        ("nftables", "ipv4", {NFT4: EMPTY}, False),
        ("nftables", "ipv6", {NFT6: EMPTY}, False),
        ("nftables", "dual", {NFT4: FILLED, NFT6: EMPTY}, True),
        ("nftables", "dual", {NFT4: FILLED}, False),
        ("nftables", "dual", {NFT4: FILLED, NFT6: EMPTY, SAVE6: ":KUBE-SVC-X - [0:0]"}, False),
        ("iptables", "dual", {SAVE4: ":KUBE-SVC-X - [0:0]", SAVE6: ":KUBE-SERVICES - [0:0]"}, True),
        ("iptables", "dual", {SAVE4: ":KUBE-SERVICES - [0:0]", SAVE6: ":KUBE-SERVICES - [0:0]"}, False),
        ("iptables", "dual", {SAVE4: ":KUBE-SVC-X - [0:0]"}, False),
        ("iptables", "ipv4", {SAVE4: ":KUBE-SVC-X - [0:0]", "nft list tables ip": "table ip kube-proxy"}, False),
    ],
)
def test_every_family_is_written_and_the_other_mode_is_gone(
    tmp_path: Path, mode: str, family: str, outputs: dict[str, str], ready: bool
) -> None:
    assert succeeds(tmp_path, mode, family, outputs) is ready
