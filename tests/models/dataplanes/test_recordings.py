"""A real cluster's tables: no drift as recorded, one difference for one change, never silence for a lost rule."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec
import pytest

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import Backend, DifferenceKind, DriftReport, NodeView, drift
from tests.models.dataplanes.material import (
    ORACLE,
    ORACLE_NODE,
    RECORDED,
    fullest,
    oracle_objects,
    recorded,
    recorded_nodes,
    recorded_objects,
    without_endpoint,
)

IDS = [f"{mode}-{node}-{name}" for mode, node, name, _ in RECORDED]
#: Chains whose rules are some Service's own.
OF_A_SERVICE = re.compile(
    r"-A KUBE-(?:SVC|SVL|EXT|XLB|FW|SEP)-\S+ (?!.*other traffic to)"
    r"|-A KUBE-(?:SERVICES|NODEPORTS|PROXY-FIREWALL|EXTERNAL-SERVICES) .*--dport"
)
CHAIN_OF_A_SERVICE = re.compile(r"(?:service|endpoint|external|firewall)-[A-Z2-7]{8}-")
#: One element of a verdict map, as `nft list` prints it.
ELEMENT = re.compile(r"[0-9a-z.:]+(?: \. \w+)+(?: comment \"[^\"]*\")? : (?:goto [^\s,]+|drop)(?=,| \})")


def _drift(mode: str, node: str, kind: Kind, text: str) -> DriftReport:
    services, slices = recorded_objects(mode)
    view = recorded_nodes(mode)[node]
    return drift(fullest(kind, text, node, view.addresses), services, slices, view)


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED, ids=IDS)
def test_a_healthy_recording_has_no_drift(mode: str, node: str, name: str, kind: Kind) -> None:
    report = _drift(mode, node, kind, recorded(mode, f"{node}.{name}"))
    assert report.clean
    assert report.frontends == 6
    assert report.backends == 7


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED, ids=IDS)
def test_one_endpoint_less_in_the_slice_is_one_stale_backend(mode: str, node: str, name: str, kind: Kind) -> None:
    services, slices = recorded_objects(mode)
    fewer = without_endpoint(slices, "echo-server", "10.244.1.9")
    view = recorded_nodes(mode)[node]
    text = recorded(mode, f"{node}.{name}")
    report = drift(fullest(kind, text, node, view.addresses), services, fewer, view)
    (row,) = report.rows
    assert report.decided
    assert row.kind is DifferenceKind.STALE
    assert row.node == node
    assert row.backend == Backend("10.244.1.9", 8080)
    assert str(row.share) == "1/2"
    assert "10.244.1.9" in row.text
    assert row.slice.startswith("echo-server")


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED[:2], ids=IDS[:2])
def test_no_iptables_rule_of_a_service_is_lost_in_silence(mode: str, node: str, name: str, kind: Kind) -> None:
    lines = recorded(mode, f"{node}.{name}").split("\n")
    seen = set()
    for place, line in enumerate(lines):
        if OF_A_SERVICE.match(line) is None:
            continue
        report = _drift(mode, node, kind, "\n".join(lines[:place] + lines[place + 1 :]))
        assert report.rows, line
        assert report.decided, line
        owners = {row.service for row in report.rows}
        assert len(owners) == 1, (line, owners)
        comment = re.search(r'--comment "([^" ]+)', line)
        assert comment is not None
        assert owners == {comment.group(1)}, line
        seen |= {row.kind for row in report.rows}
    assert seen == {
        DifferenceKind.MISSING,
        DifferenceKind.FRONTEND_MISSING,
        DifferenceKind.REJECT_MISSING,
        DifferenceKind.MASQUERADE_MISSING,
        DifferenceKind.HAIRPIN_MISSING,
        DifferenceKind.AFFINITY_MISSING,
    }


def _nft_cuts(text: str) -> Iterator[tuple[str, str]]:
    """Every rule in a chain of a Service, every element that names one, taken out one by one."""
    lines = text.split("\n")
    chain = ""
    for place, line in enumerate(lines):
        if line.startswith("\tchain "):
            chain = line.split()[1]
        elif line == "\t}":
            chain = ""
        elif CHAIN_OF_A_SERVICE.match(chain):
            yield line, "\n".join(lines[:place] + lines[place + 1 :])
        elif " : goto " in line or " : drop" in line:
            for element in ELEMENT.findall(line):
                shorter = line.replace(f"{element},", "").replace(f"{element} }}", "}")
                assert shorter != line
            yield element, "\n".join([*lines[:place], shorter, *lines[place + 1 :]])


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED[2:4], ids=IDS[2:4])
def test_no_nftables_rule_or_element_of_a_service_is_lost_in_silence(
    mode: str, node: str, name: str, kind: Kind
) -> None:
    count = 0
    for what, text in _nft_cuts(recorded(mode, f"{node}.{name}")):
        count += 1
        report = _drift(mode, node, kind, text)
        assert report.rows, what
        assert report.decided, what
        assert len({row.service for row in report.rows}) == 1, what
    assert count == 34  # 28 rules and 6 elements


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED[4:], ids=IDS[4:])
def test_no_json_rule_or_element_of_a_service_is_lost_in_silence(mode: str, node: str, name: str, kind: Kind) -> None:
    items = json.loads(recorded(mode, f"{node}.{name}"))["nftables"]
    for place, item in enumerate(items):
        chain = item.get("rule", {}).get("chain", "")
        if chain.startswith(("service-", "endpoint-", "external-")) and chain != "service-endpoints-check":
            left = [*items[:place], *items[place + 1 :]]
            report = _drift(mode, node, kind, json.dumps({"nftables": left}))
            assert report.rows, item
            assert len({row.service for row in report.rows}) == 1
        for name_of in ("set", "map"):
            named = item.get(name_of, {})
            for number in range(len(named.get("elem", ())) if named.get("name") != "nodeport-ips" else 0):
                fewer = {**named, "elem": named["elem"][:number] + named["elem"][number + 1 :]}
                left = [*items[:place], {name_of: fewer}, *items[place + 1 :]]
                report = _drift(mode, node, kind, json.dumps({"nftables": left}))
                assert report.rows, named["elem"][number]


@pytest.mark.parametrize("name", ["iptables-save.nf_tables.txt", "iptables-legacy-save-c.txt"])
def test_no_rule_of_any_kind_of_service_is_lost_in_silence(name: str) -> None:
    services, slices = oracle_objects()
    lines = (ORACLE / name).read_text().split("\n")
    kinds = set()
    for place, line in enumerate(lines):
        if OF_A_SERVICE.match(line.removeprefix("[0:0] ")) is None:
            continue
        text = "\n".join(lines[:place] + lines[place + 1 :])
        report = drift(fullest(Kind.IPTABLES_SAVE, text, "", ORACLE_NODE.addresses), services, slices, ORACLE_NODE)
        assert report.rows, line
        assert report.decided, line
        kinds |= {row.kind for row in report.rows}
    assert {
        DifferenceKind.SOURCE_RANGE_OPEN,
        DifferenceKind.DROP_MISSING,
        DifferenceKind.HEALTH_CHECK_RULE_MISSING,
    } & kinds


@pytest.mark.parametrize("name", ["nft-list-table.txt", "nft-a-list-table.txt"])
def test_no_nftables_rule_of_any_kind_of_service_is_lost_in_silence(name: str) -> None:
    services, slices = oracle_objects()
    for what, text in _nft_cuts((ORACLE / name).read_text()):
        report = drift(fullest(Kind.NFT_LIST, text, "", ORACLE_NODE.addresses), services, slices, ORACLE_NODE)
        assert report.rows, what
        assert report.decided, what


def test_a_listing_that_lost_the_targets_of_iptables_is_undecided_and_not_clean() -> None:
    report = _drift("iptables", "w2", Kind.NFT_LIST, recorded("iptables", "w2.nft-ruleset.txt"))
    assert not report.rows
    assert not report.decided
    assert {item.chain for item in report.undecided} >= {"KUBE-POSTROUTING", "KUBE-SEP-PCDGDOPBFEZZG6Z5"}


def test_a_dump_without_its_filter_table_does_not_accuse_a_missing_reject() -> None:
    text = recorded("iptables", "w1.iptables-save.txt")
    report = _drift("iptables", "w1", Kind.IPTABLES_SAVE, text[text.index("*nat") :])
    assert not report.rows
    assert not report.decided


def test_text_that_is_no_dump_is_a_format_error_with_a_line() -> None:
    for kind in (Kind.IPTABLES_SAVE, Kind.NFT_LIST, Kind.NFT_JSON):
        with pytest.raises(FormatError) as caught:
            fullest(kind, "permission denied\n")
        assert caught.value.line == 1


def test_rows_are_the_same_for_the_same_input() -> None:
    services, slices = recorded_objects("nftables")
    view: NodeView = recorded_nodes("nftables")["w1"]
    table = fullest(Kind.NFT_JSON, recorded("nftables", "w1.nft.json"), "w1", view.addresses)
    fewer = without_endpoint(slices, "echo-server", "10.244.1.9")
    first, second = (msgspec.json.encode(drift(table, services, fewer, view).rows[0].text) for _ in range(2))
    assert first == second
