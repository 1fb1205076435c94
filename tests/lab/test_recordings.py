"""Each recorded fault of a real cluster, in both proxy modes, gets the verdict that its fault expects."""

from __future__ import annotations

import pytest

from svcpath.reports.score import Diagnosed
from svcpath_lab.faults.fault import Expect, Fault, shipped
from svcpath_lab.score.row import row
from tests.lab.recordings import MODES, recorded, report_of

pytestmark = [pytest.mark.timeout(120)]


def given(mode: str, fault: str) -> Diagnosed:
    """What diagnose says on the recording, in the words of the score."""
    verdict = report_of(mode, fault).verdict
    return Diagnosed(
        status=verdict.status,
        layer=verdict.layer or "",
        cause_layer=verdict.cause_layer or "",
        code=verdict.code or "",
        summary=verdict.summary,
    )


CASES = [(mode, fault) for mode in MODES for fault in sorted(recorded(mode))]


@pytest.mark.parametrize(("mode", "fault"), CASES, ids=[f"{mode}-{fault}" for mode, fault in CASES])
def test_a_recorded_fault_gets_the_verdict_that_it_expects(mode: str, fault: str) -> None:
    recording = recorded(mode)[fault]
    expect = recording.expected["expect"]
    made = Fault(
        about=recording.expected["about"],
        name=fault,
        expect=Expect(status=tuple(expect["status"]), layer=tuple(expect["layer"]), codes=tuple(expect["codes"])),
    )
    judged = row(made, mode, given(mode, fault), 0.0)
    assert judged.mark == "right", judged.given


@pytest.mark.parametrize("mode", MODES)
def test_recordings_hold_what_the_lab_expects_of_its_faults_now(mode: str) -> None:
    now = {fault.name: fault for fault in shipped()}
    for fault, recording in recorded(mode).items():
        expect = now[fault].expect
        assert set(recording.expected["expect"]["codes"]) <= set(expect.codes) or not expect.codes, fault
        assert set(recording.expected["expect"]["layer"]) <= set(expect.layers), fault
    assert {"healthy", "selector-typo"} <= set(recorded(mode))
