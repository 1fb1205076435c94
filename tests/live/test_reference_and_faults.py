"""The reference experiment and a part of the faults on the lab, in both proxy modes: what must hold, and no false accusation.

The part turns with the date, so that some days of CI have tried every fault: SVCPATH_FAULT_SEED=YYYYMMDD repeats a day's,
SVCPATH_FAULTS=N takes more. A part that runs out of its share of time is cut, and says so; only results fail a test.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.experiment import play, statements
from svcpath_lab.experiment.log import read
from svcpath_lab.faults.fault import shipped
from svcpath_lab.home import Home
from svcpath_lab.namespaces import LABEL
from tests.live.conftest import NAMESPACE, Lab
from tests.live.turns import SEED, turn

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900, func_only=True)]

#: Seconds for one play of the experiment and for one mode's faults; each may take its last step to the end.
SHARE_OF_PLAY = float(os.environ.get("SVCPATH_PLAY_SHARE", "150"))
SHARE_OF_FAULTS = float(os.environ.get("SVCPATH_FAULTS_SHARE", "240"))
COUNT = int(os.environ.get("SVCPATH_FAULTS", "8"))
MODES = ("nftables", "iptables")
#: Seconds that an interrupted command has to undo what it did.
_WAY_BACK = 90.0

Say = Callable[[str], None]


@pytest.fixture(scope="module")
def place(lab: Lab) -> Iterator[Home]:
    """The lab in whatever mode; afterwards in the mode it had."""
    place = homes.home(os.environ["SVCPATH_TEST_LAB"])
    spec = place.read_spec()
    lab.kubectl.run("label", "namespace", NAMESPACE, f"{LABEL}={place.name}", "--overwrite")
    yield place
    if place.read_spec().proxy_mode != spec.proxy_mode:
        labs.set_mode(place, spec.proxy_mode, lambda _: None)


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest, place: Home) -> str:
    wanted = str(request.param)
    if place.read_spec().proxy_mode != wanted:
        labs.set_mode(place, wanted, lambda _: None)
    return wanted


def _lab(place: Home, words: list[str], share: float) -> tuple[bool, str]:
    """Run ``svcpath lab WORDS``; whether it ended in its share of time, and the last that it said."""
    argv = [sys.executable, "-c", "from svcpath.cli.main import main; main()", "lab", *words, "--lab", place.name]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        try:
            _, statement = running.communicate(timeout=share)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGTERM)
            try:
                _, statement = running.communicate(timeout=_WAY_BACK)
            except subprocess.TimeoutExpired:
                running.kill()
                _, statement = running.communicate()
            return False, statement.strip()[-300:]
    return True, statement.strip()[-300:]


@pytest.mark.parametrize("change", play.CHANGES)
def test_every_statement_of_the_reference_experiment_holds(
    place: Home, mode: str, change: str, tmp_path: Path, say_in_summary: Say
) -> None:
    title = f"reference experiment, {mode}, Pod goes by {change}"
    wrong: list[str] = []
    for attempt in (1, 2):
        folder = tmp_path / str(attempt)
        ended, statement = _lab(place, ["run", "reference", "--change", change, "--logs", str(folder)], SHARE_OF_PLAY)
        log = folder / f"reference-{mode}-{change}.jsonl"
        if not ended:
            say_in_summary(f"{title}: cut after its {SHARE_OF_PLAY:g} s")
            return
        assert log.is_file(), statement
        rows = statements.judge(read(log))
        wrong = [f"{row.name}: {row.statement}: {row.observed}" for row in rows if row.outcome != statements.HOLDS]
        say_in_summary(f"{title}: {len(rows) - len(wrong)} of {len(rows)} statements hold")
        if not wrong:
            return
        say_in_summary("\n".join(wrong) + ("\nplayed again, since other load can delay a node" if attempt == 1 else ""))
    assert not wrong, "\n".join(wrong)


def test_faults_made_on_purpose_are_never_found_where_they_are_not(
    place: Home, mode: str, tmp_path: Path, say_in_summary: Say
) -> None:
    spec = place.read_spec()
    possible = [
        fault.name for fault in shipped() if fault.possible(mode=mode, family=spec.ip_family, provider=spec.provider)
    ]
    chosen = turn(possible, COUNT, MODES.index(mode) / 2)
    report = tmp_path / "score.json"
    words = ["score", "--mode", mode, "--seed", str(SEED), "--within", f"{SHARE_OF_FAULTS:g}", "-o", f"json={report}"]
    for name in chosen:
        words += ["--fault", name]
    ended, statement = _lab(place, words, SHARE_OF_FAULTS + 120)
    if not ended:
        say_in_summary(f"faults, {mode}: cut after {SHARE_OF_FAULTS + 120:g} s, seed {SEED}: {', '.join(chosen)}")
        return
    assert report.is_file(), statement
    found = json.loads(report.read_text())
    totals, cut = found["totals"], found["facts"].get("not made", "")
    judged = {row["fault"] for row in found["rows"]}
    say_in_summary(
        f"faults, {mode}: {len(judged)} of {len(possible)}, seed {SEED}, {totals['rows']} diagnoses, "
        f"{totals['right_layer']} right layer, {totals['right_cause']} right cause, {totals['inconclusive']} undecided, "
        f"{totals['false_accusations']} false accusations"
    )
    for row in found["rows"]:
        if row["mark"] != "right":
            outcome = " ".join(filter(None, (row["given"]["status"], row["given"]["layer"], row["given"]["code"])))
            say_in_summary(f"  {row['mark']:9} {row['fault']} ({row['evidence']}): {outcome}")
    if cut:
        say_in_summary(f"  not made: {cut}")
    accused = [f"{row['fault']} ({row['evidence']}): {row['given']}" for row in found["rows"] if row["mark"] == "FALSE"]
    assert not accused, "\n".join(accused)
