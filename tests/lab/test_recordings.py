"""Each recorded fault of a real cluster, in both proxy modes, gets the verdict that its fault expects."""

from __future__ import annotations

import functools

import pytest

import svcpath
from svcpath.evidence.sources.memory import BytesSource
from svcpath.lab.faults.fault import Expect, Fault, shipped
from svcpath.lab.score.row import row
from svcpath.reports.score import Given
from tests.lab.recordings import MODES, Recording
from tests.lab.recordings import shipped as recordings

pytestmark = [pytest.mark.timeout(120)]


@functools.cache
def recorded(mode: str) -> dict[str, Recording]:
    return {one.fault: one for one in recordings(mode)}


def given(one: Recording) -> Given:
    """What diagnose says on the recording, asked as the score asks."""
    target = one.told["target"]
    report = svcpath.diagnose(
        BytesSource(one.files),
        f"svc/{target['service']}",
        namespace=target["namespace"],
        client=f"pod/{target['from']}",
        port=target.get("port", ""),
        as_name=target.get("as", ""),
        resolver=target.get("resolver", ""),
    )
    verdict = report.verdict
    return Given(
        status=verdict.status,
        layer=verdict.layer or "",
        cause_layer=verdict.cause_layer or "",
        code=verdict.code or "",
        summary=verdict.summary,
    )


CASES = [(mode, fault) for mode in MODES for fault in sorted(recorded(mode))]


@pytest.mark.parametrize(("mode", "fault"), CASES, ids=[f"{mode}-{fault}" for mode, fault in CASES])
def test_a_recorded_fault_gets_the_verdict_that_it_expects(mode: str, fault: str) -> None:
    one = recorded(mode)[fault]
    expect = one.told["expect"]
    made = Fault(
        about=one.told["about"],
        name=fault,
        expect=Expect(status=tuple(expect["status"]), layer=tuple(expect["layer"]), codes=tuple(expect["codes"])),
    )
    judged = row(made, mode, given(one), 0.0)
    assert judged.mark == "right", judged.given


@pytest.mark.parametrize("mode", MODES)
def test_recordings_hold_what_the_lab_expects_of_its_faults_now(mode: str) -> None:
    now = {each.name: each for each in shipped()}
    for fault, one in recorded(mode).items():
        expect = now[fault].expect
        assert set(one.told["expect"]["codes"]) <= set(expect.codes) or not expect.codes, fault
        assert set(one.told["expect"]["layer"]) <= set(expect.layers), fault
    assert {"healthy", "selector-typo"} <= set(recorded(mode))
