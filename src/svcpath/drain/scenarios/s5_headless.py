"""5. Does a headless client resolve again and drop the old Pod IP?"""

from __future__ import annotations

import time

from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult, failed, name_of
from svcpath.drain.workload import WorkloadStopping

NUMBER = 5
TITLE = "does a headless client resolve again and drop the old Pod IP?"
DOES = "Opens 5 new connections a second to a headless name, and deletes the one of two Pods that answered last."
MEASURES = "How long connections to the old address were tried after the Pod had ended."
PASSES = "No connection fails later than 8 s after the Pod ended (CoreDNS answers with a TTL of 5 s)."

LIMIT = 8.0
VARIANTS = (
    ScenarioVariant("pass", True, "a client that asks again for each connection"),
    ScenarioVariant("fail", False, "a modelled client that keeps the first address forever"),
    ScenarioVariant("jvm-ttl-5", True, "a JVM 17 with networkaddress.cache.ttl=5"),
    ScenarioVariant("jvm-default", False, "a JVM 17 as it comes: 30 s"),
    ScenarioVariant("jvm-forever", False, "a JVM 17 with networkaddress.cache.ttl=-1"),
)
_JVM_TTL = {"jvm-ttl-5": "5", "jvm-default": "default", "jvm-forever": "-1"}
_SECONDS = 30
#: Where the lab's tools image has its JVM and this client (lab/resources/images/Sample.java).
_JAVA = ("/opt/jvm/bin/java", "-XX:TieredStopAtLevel=1", "-cp", "/opt/jvm/probe", "Sample")


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service, ttl = f"s5-{variant.name}", _JVM_TTL.get(variant.name)
    if ttl is not None and not stage.succeeds("client", "test", "-x", _JAVA[0]):
        sentence = "this lab's image has no JVM: the modelled client of the variant `fail` stands for it"
        return ScenarioResult(NUMBER, variant.name, None, sentence)
    pods = stage.deploy(service, WorkloadStopping(grace=6, hook=3, on_signal="exit"), headless=True)
    if ttl is not None:
        sample = stage.rows_of(*_JAVA, ttl, service, "8080", "5", str(_SECONDS), "2")
    else:
        host = service if variant.holds else str(pods[0]["status"]["podIP"])
        at = f"[{host}]" if ":" in host else host
        sample = stage.sample("new=5", f"seconds={_SECONDS}", "timeout=2", f"http://{at}:8080/hostname")
    sample.first(60)
    time.sleep(3)
    current = sample.rows[-1].peer if sample.rows else ""
    target = next((pod for pod in pods if name_of(pod) == current), pods[0])
    at_delete = stage.delete(target)
    ended, _ = stage.follow(target, 30)
    rows = sample.wait()
    end = ended if ended is not None else at_delete
    bad = [row.start - end for row in failed(rows) if row.start > at_delete]
    last = max(bad, default=0.0)
    sentence = (
        f"the Pod ended {end - at_delete:.2f} s after the delete; {len(bad)} of {len(rows)} connections failed, the last "
        f"{max(last, 0):.2f} s after its end"
    )
    measured: dict[str, float | int | None] = {
        "ended": end - at_delete,
        "failed": len(bad),
        "last_failure": last,
        "sampled": len(rows),
    }
    return ScenarioResult(NUMBER, variant.name, last <= LIMIT and bool(rows), sentence, measured)
