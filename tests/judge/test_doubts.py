"""A finding that fails by what is missing fails only where the place of it was read whole."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from svcpath.evidence.facts.kubernetes import Endpoint, EndpointSlice
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Reason
from svcpath.findings.finding import LayerName
from svcpath.status import Confidence, Status
from tests.judge.build import WHOLE, damage, found, judged, layer, looked, mixed_clusters, present, unread

SLICE_UNREAD: dict[str, Any] = {"unread": (unread(Kind.ENDPOINT_SLICE),)}
SLICE_NOT_RECORDED: dict[str, Any] = {"unread": (unread(Kind.ENDPOINT_SLICE, Reason.NOT_RECORDED),)}
POD_UNREAD: dict[str, Any] = {"unread": (unread(Kind.POD),)}
ONLY_SLICE_UNREAD: dict[str, Any] = {**SLICE_UNREAD, "quality": msgspec.structs.replace(WHOLE, some_slice=False)}
OBJECTS_CUT: dict[str, Any] = {"quality": msgspec.structs.replace(WHOLE, damages=(damage("endpoints", "all.json"),))}
LINES_LOST: dict[str, Any] = {
    "quality": msgspec.structs.replace(WHOLE, damages=(damage("endpoints", "all.json", cut=False),))
}
TABLE_CUT: dict[str, Any] = {"quality": msgspec.structs.replace(WHOLE, damages=(damage("dataplane", "w1.nft"),))}
MIXED: dict[str, Any] = {"quality": msgspec.structs.replace(WHOLE, mixed=(mixed_clusters(),))}
FAIL, OPEN = Status.FAIL, Status.INCONCLUSIVE

#: By what a code rests on. SP305: a slice. SP201: objects. SP301: both. SP603: a slice, by the dataplane. SP601: a table.
#: SP604: a slice and a table. SP403: nothing that is missing.
TABLE: list[tuple[str, LayerName, dict[str, Any], Status]] = [
    ("SP305", "endpoints", SLICE_UNREAD, OPEN),
    ("SP305", "endpoints", SLICE_NOT_RECORDED, FAIL),
    ("SP305", "endpoints", POD_UNREAD, FAIL),
    ("SP305", "endpoints", ONLY_SLICE_UNREAD, FAIL),
    ("SP305", "endpoints", OBJECTS_CUT, OPEN),
    ("SP305", "endpoints", LINES_LOST, FAIL),
    ("SP305", "endpoints", TABLE_CUT, FAIL),
    ("SP201", "service", SLICE_UNREAD, FAIL),
    ("SP201", "service", OBJECTS_CUT, OPEN),
    ("SP301", "endpoints", SLICE_UNREAD, OPEN),
    ("SP301", "endpoints", OBJECTS_CUT, OPEN),
    ("SP603", "dataplane", SLICE_UNREAD, OPEN),
    ("SP603", "dataplane", OBJECTS_CUT, OPEN),
    ("SP603", "dataplane", TABLE_CUT, FAIL),
    ("SP601", "dataplane", TABLE_CUT, OPEN),
    ("SP601", "dataplane", SLICE_UNREAD, FAIL),
    ("SP601", "dataplane", OBJECTS_CUT, FAIL),
    ("SP604", "dataplane", TABLE_CUT, OPEN),
    ("SP604", "dataplane", SLICE_UNREAD, OPEN),
    ("SP403", "ports", SLICE_UNREAD, FAIL),
    ("SP403", "ports", OBJECTS_CUT, FAIL),
    ("SP403", "ports", TABLE_CUT, FAIL),
    ("SP403", "ports", MIXED, OPEN),
    ("SP305", "endpoints", MIXED, OPEN),
]


@pytest.mark.parametrize(("code", "where", "evidence", "status"), TABLE)
def test_what_rests_on_evidence_that_was_not_read_whole_decides_nothing(
    code: str, where: LayerName, evidence: dict[str, Any], status: Status
) -> None:
    finding = found(code, where, FAIL, present("rules", Kind.NFT_LIST, "w1.nft"), confidence=Confidence.PROVEN)
    result = layer(judged({where: looked(finding)}, **evidence), where)
    (weighed,) = (finding for finding in result.findings if finding.code == code)
    assert weighed.status is status
    assert weighed.hypotheses[0].confidence is (Confidence.PROVEN if status is FAIL else Confidence.POSSIBLE)


def test_a_dump_that_is_cut_off_leaves_another_nodes_finding_alone() -> None:
    finding = found("SP601", "dataplane", FAIL, present("rules", Kind.NFT_LIST, "w2.nft"))
    assert judged({"dataplane": looked(finding)}, **TABLE_CUT).verdict.status == "fault"


def test_a_warning_stays_a_warning_in_doubt() -> None:
    diagnosis = judged({"endpoints": looked(found("SP305", "endpoints", Status.WARN))}, **SLICE_UNREAD)
    assert layer(diagnosis, "endpoints").findings[0].status is Status.WARN


def test_a_refuted_cause_stays_refuted_in_doubt() -> None:
    finding = found("SP305", "endpoints", confidence=Confidence.REFUTED)
    result = layer(judged({"endpoints": looked(finding)}, **SLICE_UNREAD), "endpoints")
    assert result.findings[0].hypotheses[0].confidence is Confidence.REFUTED


@pytest.mark.parametrize(
    ("code", "endpoints", "status"),
    [
        ("SP301", (), FAIL),
        ("SP304", (), FAIL),
        ("SP301", (Endpoint(addresses=("10.244.1.1",)),), OPEN),
        ("SP303", (), OPEN),  # its catalogue entry says nothing of empty slices
    ],
)
def test_an_empty_slice_shows_that_nothing_is_selected_whatever_else_was_lost(
    code: str, endpoints: tuple[Endpoint, ...], status: Status
) -> None:
    finding = found(code, "endpoints", FAIL, present(EndpointSlice(endpoints=endpoints)))
    assert layer(judged({"endpoints": looked(finding)}, **OBJECTS_CUT), "endpoints").findings[0].status is status


def test_damage_and_two_clusters_are_said_of_the_evidence_itself() -> None:
    cut = judged({}, **OBJECTS_CUT)
    assert (cut.verdict.status, cut.verdict.code) == ("inconclusive", "SP001")
    assert judged({}, **LINES_LOST).verdict.status == "warning"
    mixed = judged({}, **MIXED)
    assert (mixed.verdict.status, mixed.verdict.code) == ("inconclusive", "SP002")
