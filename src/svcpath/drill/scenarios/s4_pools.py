"""4. Does a client pool keep using old connections to a removed backend?"""

from __future__ import annotations

import time

from svcpath.drill.stage import Result, Stage, failed, name_of, why

NUMBER = 4
TITLE = "does a client pool keep using old connections to a removed backend?"
DOES = "Sends 5 requests a second over one kept HTTP/1.1 connection, and deletes the Pod at its other end."
MEASURES = "When the last request went over the old connection after the slice had removed the Pod, and what it cost."
PASSES = "The connection moves within 4 s after the removal, and no request fails."

LIMIT = 4.0


def run(stage: Stage, variant: str) -> Result:
    """pass: the server closes connections that are older than 2 s. fail: no cap, so that the pool stays to the end."""
    service = f"s4-{variant}"
    pods = stage.deploy(service, grace=20, hook=10, on_signal="exit", max_age=2 if variant == "pass" else 0)
    sample = stage.sample("keepalive=5", "seconds=22", f"http://{service}/hostname")
    sample.first()
    time.sleep(3)
    current = sample.rows[-1].peer
    target = next((one for one in pods if name_of(one) == current), pods[0])
    at = stage.delete(target)
    removed = stage.removed(service, target)
    stage.follow(target, 40)
    rows = sample.wait()
    after = removed if removed is not None else at
    stayed = max((one.start - after for one in rows if one.peer == name_of(target)), default=0.0)
    bad = failed(rows)
    passed = stayed <= LIMIT and not bad
    said = (
        f"the slice removed the Pod {after - at:.2f} s after the delete, the pool went on to it for {max(stayed, 0):.2f} s; "
        f"{len(bad)} of {len(rows)} requests failed{why(rows, at)}"
    )
    return Result(
        NUMBER,
        variant,
        passed,
        said,
        {"removed": after - at, "stayed": stayed, "failed": len(bad), "sampled": len(rows)},
    )
