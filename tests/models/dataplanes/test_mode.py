"""Which data plane is in use is read off the evidence, and what another left behind is kept apart from it."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import KubeProxyConfig
from svcpath.models.dataplanes import Dialect, DifferenceKind, ServiceTable, drift, mode, parse
from tests.models.dataplanes.material import ORACLE, case_text, recorded, recorded_nodes, recorded_objects


def _tables(name: str, node: str) -> list[ServiceTable]:
    view = recorded_nodes(name)[node]
    tables: list[ServiceTable] = []
    for kind, file in ((Kind.IPTABLES_SAVE, "iptables-save.txt"), (Kind.NFT_LIST, "nft-ruleset.txt")):
        tables += parse(kind, recorded(name, f"{node}.{file}"), node=node, node_addresses=view.addresses)
    return tables


def test_the_log_line_names_the_proxier_and_the_release() -> None:
    for name in ("iptables", "nftables"):
        log = recorded(name, "w1.kube-proxy.log")
        assert mode.mode_of_log(log) == name
        assert mode.release_of_log(log) == (1, 35)
    assert mode.mode_of_log('server.go:1] "Using iptables Proxier"\nserver.go:1] "Using ipvs Proxier."') == "ipvs"
    assert mode.mode_of_log("no such line") == ""


def test_each_recording_s_tables_are_one_plane_without_leftovers() -> None:
    for name, dialect in (("iptables", Dialect.IPTABLES), ("nftables", Dialect.NFTABLES)):
        for node in ("w1", "w2"):
            for log in (recorded(name, f"{node}.kube-proxy.log"), ""):
                plane = mode.node_plane(_tables(name, node), log=log)
                assert plane.in_use is not None
                assert plane.in_use.dialect is dialect
                assert plane.mode == name
                assert not plane.leftovers
                assert plane.certain
                services, slices = recorded_objects(name)
                assert drift(plane.in_use, services, slices, recorded_nodes(name)[node]).clean


def test_rules_of_iptables_beside_an_nftables_table_are_leftovers() -> None:
    (new,) = parse(Kind.NFT_LIST, recorded("nftables", "w1.nft-ruleset.txt"))
    (old,) = parse(Kind.IPTABLES_SAVE, recorded("iptables", "w1.iptables-save.txt"))
    plane = mode.node_plane([new, old], log=recorded("nftables", "w1.kube-proxy.log"))
    assert plane.in_use is new
    assert plane.leftovers == (old,)
    services, slices = recorded_objects("nftables")
    view = recorded_nodes("nftables")["w1"]
    rows = drift(new, services, slices, view, leftovers=plane.leftovers).rows
    assert {row.kind for row in rows} == {DifferenceKind.LEFTOVER}
    unsure = mode.node_plane([new, old])
    assert not unsure.certain


def test_legacy_and_nft_rules_side_by_side_are_told_apart() -> None:
    (legacy,) = parse(Kind.IPTABLES_SAVE, (ORACLE / "iptables-legacy-save-c.txt").read_text())
    (nft,) = parse(Kind.IPTABLES_SAVE, recorded("iptables", "w1.iptables-save.txt"))
    plane = mode.node_plane([legacy, nft], config=KubeProxyConfig(mode="iptables"))
    assert plane.in_use is nft
    assert plane.leftovers == (legacy,)


def test_the_configuration_speaks_when_the_log_has_rotated_away() -> None:
    (table,) = parse(Kind.IPVSADM_LN, case_text("47", "ipvsadm-Ln.txt"))
    plane = mode.node_plane([table], config=KubeProxyConfig(mode="ipvs"))
    assert plane.in_use is table
    assert plane.evidence == ("kube-proxy configuration: mode ipvs",)
    assert mode.node_plane([table], mode="ipvs\n").evidence == ("/proxyMode: ipvs",)


def test_cilium_s_maps_are_in_use_where_they_hold_services() -> None:
    (table,) = parse(Kind.CILIUM_SERVICE_LIST, case_text("56", "service-list.txt"))
    (empty,) = parse(Kind.IPTABLES_SAVE, recorded("nftables", "w2.iptables-save.txt"))
    plane = mode.node_plane([empty, table])
    assert plane.in_use is table
    assert plane.mode == "cilium"
    assert not plane.leftovers


def test_no_table_of_the_declared_mode_is_said_and_not_guessed() -> None:
    plane = mode.node_plane([], log='"Using nftables Proxier"')
    assert plane.mode == "nftables"
    assert plane.in_use is None


def test_the_last_sync_is_read_from_a_verbose_log() -> None:
    log = 'I1130 02:06:49.452038       1 proxier.go:822] "SyncProxyRules complete" elapsed="12ms"\n'
    assert mode.last_sync_of_log(log, 2026) == 1796004409.452038
    assert mode.last_sync_of_log("nothing", 2026) is None
