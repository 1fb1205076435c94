"""4. Does a client pool keep using old connections to a removed backend?"""

from __future__ import annotations

import time

from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult, failed, name_of, why
from svcpath.drain.workload import WorkloadStopping

NUMBER = 4
TITLE = "does a client pool keep using old connections to a removed backend?"
DOES = (
    "Sends 5 requests a second over one kept connection (HTTP/1.1, WebSocket, gRPC), and deletes the Pod at its other end "
    "(preStop 10 s)."
)
MEASURES = "When the last request went over the old connection after the slice had removed the Pod, and what it cost."
PASSES = "The connection moves within 5 s after the removal, and no request fails."

VARIANTS = (
    ScenarioVariant("pass", True, "HTTP/1.1, the server closes connections that are older than 2 s"),
    ScenarioVariant("fail", False, "HTTP/1.1, no cap on a connection's age, so the pool stays to the end"),
    ScenarioVariant("websocket-capped", True, "WebSocket, the server says Close 1001 after 2 s"),
    ScenarioVariant("websocket", False, "WebSocket, no cap on its age"),
    ScenarioVariant("grpc-capped", True, "gRPC, MAX_CONNECTION_AGE 2 s: GOAWAY, then another connection"),
    ScenarioVariant("grpc", False, "gRPC, no MAX_CONNECTION_AGE"),
)
_KINDS = {"websocket": "websocket", "grpc": "grpc"}
LIMIT = 5.0


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service = f"s4-{variant.name}"
    protocol = variant.name.partition("-")[0]
    kind = _KINDS.get(protocol, "keepalive")
    stopping = WorkloadStopping(grace=20, hook=10, on_signal="exit", max_age=2 if variant.holds else 0)
    pods = stage.deploy(service, stopping, server="grpc" if kind == "grpc" else "http")
    sample = stage.sample(f"{kind}=5", "seconds=22", f"http://{service}/hostname")
    sample.first()
    time.sleep(3)
    current = sample.rows[-1].peer if sample.rows else ""
    target = next((pod for pod in pods if name_of(pod) == current), pods[0])
    at = stage.delete(target)
    removed = stage.removed(service, target)
    stage.follow(target, 40)
    rows = sample.wait()
    after = removed if removed is not None else at
    stayed = max((row.start - after for row in rows if row.peer == name_of(target)), default=0.0)
    bad = failed(rows)
    opened = sum(connection.opened for connection in rows)
    passed = stayed <= LIMIT and not bad and bool(rows)
    sentence = (
        f"the slice removed the Pod {after - at:.2f} s after the delete, the pool went on to it for {max(stayed, 0):.2f} s; "
        f"{len(bad)} of {len(rows)} requests failed{why(rows, at)}"
    )
    measured: dict[str, float | int | None] = {
        "removed": after - at,
        "stayed": stayed,
        "failed": len(bad),
        "sampled": len(rows),
    }
    return ScenarioResult(
        NUMBER, variant.name, passed, sentence, {**measured, "opened": opened} if kind != "grpc" else measured
    )
