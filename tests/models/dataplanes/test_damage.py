"""A damaged dump raises nothing but FormatError, and is never "no drift" when a Service's rule was hit."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import DriftReport, cilium, drift, ipvs, parse
from tests.models.dataplanes.material import (
    ORACLE,
    ORACLE_NODE,
    RECORDED,
    case_text,
    fullest,
    oracle_objects,
    recorded,
    recorded_nodes,
    recorded_objects,
)

IDS = [f"{mode}-{node}-{name}" for mode, node, name, _ in RECORDED]
#: Lines that carry a frontend or backend of a Service, in any of the text forms.
OF_A_SERVICE = re.compile(
    r"-A KUBE-(?:SVC|SVL|EXT|FW|SEP)-\S+ (?!.*other traffic to)|-A KUBE-\S+ .*--dport|saddr .*jump mark-for-masquerade"
    r"|dnat to|numgen|@affinity-| : goto (?:service|external|firewall)-| : drop| : goto reject-chain"
)


def _report(mode: str, node: str, kind: Kind, text: str) -> DriftReport:
    services, slices = recorded_objects(mode)
    view = recorded_nodes(mode)[node]
    return drift(fullest(kind, text, node, view.addresses), services, slices, view)


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED[:4], ids=IDS[:4])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_line_dropped_cut_or_garbled_is_never_silent(
    mode: str, node: str, name: str, kind: Kind, data: st.DataObject
) -> None:
    lines = recorded(mode, f"{node}.{name}").split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    what = data.draw(st.sampled_from(["drop", "cut", "garble"]))
    line = lines[place]
    end = 0
    if what == "drop":
        changed = lines[:place] + lines[place + 1 :]
    elif what == "cut":
        end = data.draw(st.integers(0, max(len(line) - 1, 0)))
        changed = [*lines[:place], line[:end], *lines[place + 1 :]]
    else:
        at = data.draw(st.integers(0, len(line)))
        changed = [*lines[:place], line[:at] + data.draw(st.text(max_size=4)) + line[at:], *lines[place + 1 :]]
    try:
        report = _report(mode, node, kind, "\n".join(changed))
    except FormatError:
        return
    if what != "garble" and OF_A_SERVICE.search(line) and not (what == "cut" and _same_rule(line, line[:end])):
        assert not report.clean, line


def _same_rule(line: str, cut: str) -> bool:
    """What is left means the same: only white space, or how a REJECT answers, was cut."""
    lost = line[len(cut) :].strip()
    return lost in ("", "}", ",") or (cut.rstrip().endswith("-j REJECT") and lost.startswith("--reject-with"))


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED[:4], ids=IDS[:4])
@given(place=st.integers(0, 400))
@settings(max_examples=15, deadline=None)
def test_a_line_twice_is_either_the_same_rules_or_not_silent(
    mode: str, node: str, name: str, kind: Kind, place: int
) -> None:
    lines = recorded(mode, f"{node}.{name}").split("\n")
    place %= len(lines)
    try:
        report = _report(mode, node, kind, "\n".join([*lines[: place + 1], *lines[place:]]))
    except FormatError:
        return
    if "--probability" in lines[place]:
        # The same choice offered twice shifts the shares.
        assert not report.clean


@pytest.mark.parametrize(("mode", "node", "name", "kind"), RECORDED, ids=IDS)
@given(share=st.floats(0.02, 0.98))
@settings(max_examples=25, deadline=None)
def test_a_dump_that_broke_off_is_never_clean(mode: str, node: str, name: str, kind: Kind, share: float) -> None:
    text = recorded(mode, f"{node}.{name}")
    cut = text[: int(len(text) * share)]
    assume(not cut.rstrip().endswith("\n}"))  # behind a whole table of nft stands a dump of one family
    try:
        report = _report(mode, node, kind, cut)
    except FormatError:
        return
    assert not report.clean


@given(text=st.text(alphabet=st.sampled_from(list('-A :*KUBESVCdnat{}"\n\t#,=@!1.0/')), max_size=300))
@settings(max_examples=50, deadline=None)
@pytest.mark.parametrize(
    "kind",
    [
        Kind.IPTABLES_SAVE,
        Kind.NFT_LIST,
        Kind.NFT_JSON,
        Kind.PROC_IP_VS,
        Kind.IPVSADM_LN,
        Kind.CILIUM_SERVICE_LIST,
        Kind.CILIUM_BPF_LB_LIST,
        Kind.CALICO_NAT_DUMP,
    ],
)
def test_any_text_gives_a_table_or_a_format_error(kind: Kind, text: str) -> None:
    for given_text in (text, f"*nat\n{text}\nCOMMIT\n", f"table ip nat {{\n\tchain x {{\n\t\t{text}\n\t}}\n}}\n"):
        try:
            parse(kind, given_text)
        except FormatError:
            continue


def _json_values() -> st.SearchStrategy[object]:
    words = ["rule", "expr", "match", "left", "right", "op", "chain", "set", "elem", "map", "vmap", "jump", "target"]
    leaves = st.one_of(st.none(), st.integers(-5, 70000), st.sampled_from([*words, "10.0.0.1", "tcp", "=="]))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(words), inner, max_size=3)
        ),
        max_leaves=12,
    )


@given(expression=_json_values(), element=_json_values())
@settings(max_examples=50, deadline=None)
def test_json_of_any_shape_gives_a_table_or_a_format_error(expression: object, element: object) -> None:
    rule = {"rule": {"family": "ip", "table": "nat", "chain": "a", "expr": expression}}
    items = [{"table": {"family": "ip", "name": "nat"}}, {"chain": {"family": "ip", "table": "nat", "name": "a"}}, rule]
    nft_map = {"map": {"family": "ip", "name": "m", "table": "nat", "type": "x", "map": "verdict", "elem": [element]}}
    for document in ({"nftables": [*items, nft_map]}, {"nftables": element}, element):
        for kind in (Kind.NFT_JSON, Kind.CILIUM_SERVICE_LIST, Kind.CALICO_NAT_DUMP):
            try:
                parse(kind, json.dumps(document))
            except FormatError:
                continue


@given(text=st.text(max_size=200))
@settings(max_examples=25, deadline=None)
def test_the_other_listings_too(text: str) -> None:
    for read in (ipvs.connections, ipvs.ipsets, cilium.backends, cilium.ct_entries):
        try:
            read(text)
        except FormatError:
            continue


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_damaged_line_of_the_oracle_is_never_silent(data: st.DataObject) -> None:
    name, kind = data.draw(
        st.sampled_from([("iptables-save.nf_tables.txt", Kind.IPTABLES_SAVE), ("nft-list-table.txt", Kind.NFT_LIST)])
    )
    services, slices = oracle_objects()
    lines = (ORACLE / name).read_text().split("\n")
    hit = [place for place, line in enumerate(lines) if OF_A_SERVICE.search(line)]
    place = data.draw(st.sampled_from(hit))
    changed = lines[:place] + lines[place + 1 :]
    try:
        table = fullest(kind, "\n".join(changed), "", ORACLE_NODE.addresses)
    except FormatError:
        return
    assert not drift(table, services, slices, ORACLE_NODE).clean, lines[place]


def test_cut_plain_listings_do_not_lose_a_backend_in_silence() -> None:
    text = case_text("57", "nat-dump.txt")
    (table,) = parse(Kind.CALICO_NAT_DUMP, "\n".join(text.splitlines()[:-1]))
    (entry,) = table.frontends.values()
    assert entry.outcome is not None
    assert entry.outcome.other
