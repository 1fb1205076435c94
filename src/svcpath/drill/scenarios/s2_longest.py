"""2. After a delete, does the longest running request finish?"""

from __future__ import annotations

import time

from svcpath.drill.stage import Result, Stage, failed, name_of, why

NUMBER = 2
TITLE = "after a delete, does the longest running request finish?"
DOES = "Starts requests of 5 s, two a second, and deletes one of two Pods while they run."
MEASURES = "The end of every request that the deleted Pod had accepted."
PASSES = "All of them end with 200, and no request to the Service fails."


def run(stage: Stage, variant: str) -> Result:
    """pass: preStop waits 8 s. fail: no preStop, and the application exits on its signal."""
    service = f"s2-{variant}"
    pods = stage.deploy(service, grace=20, hook=8 if variant == "pass" else 0, on_signal="exit")
    sample = stage.sample("slow=2", "slow_seconds=5", "seconds=14", f"http://{service}/hostname")
    time.sleep(5)
    at = stage.delete(pods[0])
    ended, codes = stage.follow(pods[0], 60)
    rows = sample.wait()
    mine = [one for one in rows if one.peer == name_of(pods[0])]
    bad = failed(rows)
    last = max((one.end - at for one in mine), default=0.0)
    said = (
        f"{len(mine)} requests ended on the deleted Pod, the last {last:.2f} s after the delete; {len(bad)} of {len(rows)} "
        f"were cut or refused{why(rows, at)}; exit codes {codes}"
    )
    measured = {"last_request": last, "failed": len(bad), "sampled": len(rows), "ended": ended - at if ended else None}
    return Result(NUMBER, variant, not bad and bool(mine), said, measured)
