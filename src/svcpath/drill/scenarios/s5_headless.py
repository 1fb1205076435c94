"""5. Does a headless client resolve again and drop the old Pod IP?"""

from __future__ import annotations

import time

from svcpath.drill.stage import Result, Stage, failed

NUMBER = 5
TITLE = "does a headless client resolve again and drop the old Pod IP?"
DOES = "Opens 5 new connections a second to a headless name, and deletes one of two Pods."
MEASURES = "How long connections to the old address were tried after the Pod had ended."
PASSES = "No connection fails later than 8 s after the Pod ended (CoreDNS answers with a TTL of 5 s)."

LIMIT = 8.0


def run(stage: Stage, variant: str) -> Result:
    """pass: a client that asks again for each connection. fail: one that keeps the first address for ever (a modelled
    client: what a JVM with networkaddress.cache.ttl=-1 does)."""
    service = f"s5-{variant}"
    pods = stage.deploy(service, grace=6, hook=3, on_signal="exit", headless=True)
    target = pods[0]
    host = f"{service}:8080" if variant == "pass" else f"{target['status']['podIP']}:8080"
    sample = stage.sample("new=5", "seconds=30", "timeout=2", f"http://{host}/hostname")
    sample.first()
    time.sleep(3)
    at = stage.delete(target)
    ended, _ = stage.follow(target, 30)
    rows = sample.wait()
    end = ended if ended is not None else at
    bad = [one.start - end for one in failed(rows) if one.start > at]
    last = max(bad, default=0.0)
    said = (
        f"the Pod ended {end - at:.2f} s after the delete; {len(bad)} connections failed, the last {max(last, 0):.2f} s after "
        "its end"
    )
    return Result(NUMBER, variant, last <= LIMIT, said, {"ended": end - at, "failed": len(bad), "last_failure": last})
