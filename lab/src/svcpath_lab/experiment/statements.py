"""The statements of the reference experiment, each judged from the raw log alone: what it says, and what was observed.

Pure. A row that the log does not decide is "not seen", never a pass.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from svcpath_lab.experiment.log import Entry, of_kind

HOLDS, FAILS, NOT_SEEN = "holds", "FAILS", "not seen"


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement: its short name, what it says, how it stands, what was seen."""

    name: str
    statement: str
    outcome: str
    observed: str


@dataclass(frozen=True, slots=True)
class ReducedLog:
    """The log with what every judgement needs taken out of it."""

    entries: Sequence[Entry]

    def objects(self, resource: str) -> list[dict[str, Any]]:
        return [e["object"] for e in self.entries if e["what"] == "object" and e["resource"] == resource]

    def service(self, name: str) -> dict[str, Any]:
        return next((service for service in self.objects("services") if service["metadata"]["name"] == name), {})

    def slice_addresses(self, service: str) -> set[str]:
        return {
            address
            for slice_ in self.objects("endpointslices")
            if slice_["metadata"].get("labels", {}).get("kubernetes.io/service-name") == service
            for endpoint in slice_.get("endpoints") or ()
            for address in endpoint["addresses"]
        }

    def requests(self, label: str) -> list[Entry]:
        return [entry for entry in of_kind(self.entries, "request") if entry["label"] == label]

    def lookups(self, name: str) -> list[Entry]:
        return [entry for entry in of_kind(self.entries, "lookup") if entry["name"] == name]

    def one(self, what: str) -> Entry | None:
        found = of_kind(self.entries, what)
        return found[0] if found else None

    @property
    def target(self) -> str:
        found = self.one("target")
        return found["pod"] if found else ""

    @property
    def target_addresses(self) -> set[str]:
        found = self.one("target")
        return set(found["ips"]) if found else set()

    @property
    def watched(self) -> list[Entry]:
        return of_kind(self.entries, "watch")

    def target_states(self) -> list[tuple[float, dict[str, Any]]]:
        """Each change of the target's endpoint: time of receipt and endpoint, {} once no slice holds it."""
        by_slice: dict[str, dict[str, Any]] = {}
        states: list[tuple[float, dict[str, Any]]] = []
        for event in self.watched:
            item = event["object"]
            if event["resource"] != "endpointslices" or _service_of(item) != "echo-server":
                continue
            endpoints = () if event["type"] == "DELETED" else item.get("endpoints") or ()
            mine = [endpoint for endpoint in endpoints if (endpoint.get("targetRef") or {}).get("name") == self.target]
            by_slice[item["metadata"]["name"]] = mine[0] if mine else {}
            now = next((endpoint for endpoint in by_slice.values() if endpoint), {})
            if not states or states[-1][1] != now:
                states.append((event["at"], now))
        return states

    def target_pod_states(self) -> list[tuple[float, str, dict[str, Any]]]:
        return [
            (event["at"], event["type"], event["object"])
            for event in self.watched
            if event["resource"] == "pods" and event["object"]["metadata"]["name"] == self.target
        ]

    def accepted_at(self) -> float | None:
        """When the API server accepted the deletion: the deadline in deletionTimestamp minus the grace, whole seconds,
        so the first watch event that shows it, which is later by milliseconds, is taken."""
        for at, _, pod in self.target_pod_states():
            if pod["metadata"].get("deletionTimestamp"):
                return at
        return None


def judge(entries: Sequence[Entry]) -> tuple[StatementRow, ...]:
    """Every statement in the experiment's order."""
    seen = ReducedLog(entries)
    rows = _resolution(seen)
    rows += [judgement(seen) for judgement in _JUDGEMENTS]
    return tuple(rows)


def _resolution(seen: ReducedLog) -> list[StatementRow]:
    """A row per probe: every form of the name gives the cluster IP."""
    addresses = set(seen.service("echo-server").get("spec", {}).get("clusterIPs") or ())
    rows = []
    found = [lookup for lookup in of_kind(seen.entries, "lookup") if lookup["name"].startswith("echo-server")]
    for probe in dict.fromkeys(lookup["probe"] for lookup in found):
        mine = [lookup for lookup in found if lookup["probe"] == probe]
        wrong = [lookup for lookup in mine if not addresses or set(_addresses(lookup["answer"])) != addresses]
        rows.append(
            StatementRow(
                f"resolution {probe}",
                "short, with namespace, absolute, with trailing dot: each gives the cluster IP",
                HOLDS if mine and not wrong else FAILS,
                "; ".join(f"{lookup['name']}: {lookup['answer']}" for lookup in wrong)
                or f"{len(mine)} of {len(mine)} forms",
            )
        )
    for libc in ("musl", "glibc"):
        if not any(libc in row.name and "jvm" not in row.name for row in rows):
            rows.append(StatementRow(f"resolution {libc}", "every form resolves", NOT_SEEN, f"no {libc} probe ran"))
    return rows


def _headless(seen: ReducedLog) -> StatementRow:
    wanted = seen.slice_addresses("echo-headless")
    answers = seen.lookups("echo-headless")
    wrong = [lookup for lookup in answers if set(_addresses(lookup["answer"])) != wanted]
    reached = [request for request in seen.requests("headless") if request["status"] == 200]
    ok = bool(answers and wanted and not wrong and reached)
    text = f"{' '.join(sorted(wanted))}; {len(reached)} requests answered"
    return StatementRow(
        "headless Service",
        "the headless name gives the Pod addresses, the normal one the cluster IP",
        (HOLDS if ok else FAILS) if answers else NOT_SEEN,
        "; ".join(f"{lookup['probe']}: {lookup['answer']}" for lookup in wrong) or text,
    )


def _empty(seen: ReducedLog) -> StatementRow:
    slices = [slice_ for slice_ in seen.objects("endpointslices") if _service_of(slice_) == "empty-service"]
    return _control(
        seen,
        "empty-service",
        "resolves, has a slice without endpoints, is refused",
        bool(slices) and not seen.slice_addresses("empty-service"),
        f"{len(slices)} slices, {len(seen.slice_addresses('empty-service'))} endpoints",
    )


def _wrong_port(seen: ReducedLog) -> StatementRow:
    addresses = seen.slice_addresses("wrong-port")
    statement = "resolves, slice has addresses, is refused"
    return _control(seen, "wrong-port", statement, bool(addresses), f"{len(addresses)} endpoints")


def _control(seen: ReducedLog, name: str, statement: str, as_stated: bool, slices: str) -> StatementRow:
    wanted = set(seen.service(name).get("spec", {}).get("clusterIPs") or ())
    answers, tried = seen.lookups(name), seen.requests(name)
    resolves = bool(answers) and all(set(_addresses(lookup["answer"])) == wanted for lookup in answers)
    refused = [request for request in tried if request["exit"] == 7 and "refused" in request["body"].lower()]
    ok = resolves and as_stated and len(refused) == len(tried)
    outcomes = ", ".join(
        sorted({f"{request['status']}" if request["status"] else request["body"] for request in tried})
    )
    text = f"{'resolves' if resolves else 'does not resolve'}, {slices}, {len(refused)} of {len(tried)} refused"
    return StatementRow(
        f"control {name}", statement, (HOLDS if ok else FAILS) if tried else NOT_SEEN, f"{text} ({outcomes})"
    )


def _conditions(seen: ReducedLog) -> StatementRow:
    states = [state for _, state in seen.target_states() if state.get("conditions", {}).get("terminating")]
    statement = "the Pod's endpoint turns ready=false serving=true terminating=true"
    if not states:
        return StatementRow("conditions", statement, NOT_SEEN, "no terminating endpoint was seen")
    first = states[0]["conditions"]
    ok = first.get("ready") is False and first.get("serving") is True
    text = " ".join(f"{name}={str(first.get(name)).lower()}" for name in ("ready", "serving", "terminating"))
    accepted = seen.accepted_at()
    at = next(at for at, state in seen.target_states() if state is states[0])
    return StatementRow(
        "conditions", statement, HOLDS if ok else FAILS, text + (f" at {at - accepted:+.2f} s" if accepted else "")
    )


def _new_connections(seen: ReducedLog) -> StatementRow:
    tried, statement = seen.requests("after"), "new connections after the change all reach other Pods"
    if not tried or not seen.target:
        return StatementRow("new connections", statement, NOT_SEEN, "none were made")
    old = [request for request in tried if request["body"] == seen.target]
    failed = [request for request in tried if request["status"] != 200]
    pinned = [request for request in seen.requests("pin") if request["body"] == seen.target]
    others = ", ".join(sorted({request["body"] for request in tried if request["status"] == 200} - {seen.target}))
    text = f"{len(tried) - len(old) - len(failed)} of {len(tried)} to {others or 'no Pod'}"
    if old:
        text += f", {len(old)} to the old Pod"
    if failed:
        text += f", {len(failed)} failed ({failed[0]['body']})"
    text += f"; the client was pinned to the old Pod by {len(pinned)} before"
    return StatementRow("new connections", statement, HOLDS if not old and not failed and pinned else FAILS, text)


def _slow(seen: ReducedLog) -> StatementRow:
    statement = "a request accepted before the deletion ends with 200"
    accepted = seen.accepted_at()
    finished = of_kind(seen.entries, "slow-finished")
    started = {request["number"]: request["at"] for request in of_kind(seen.entries, "slow-started")}
    mine = [
        finished_request
        for finished_request in finished
        if accepted is not None and started[finished_request["number"]] < accepted < finished_request["at"]
    ]
    if not mine:
        return StatementRow("slow request", statement, NOT_SEEN, "none was under way")
    good = [finished_request for finished_request in mine if finished_request["status"] == 200]
    text = ", ".join(
        f"{finished_request['status'] or finished_request['body']} after {finished_request['total']:.2f} s"
        for finished_request in mine
    )
    return StatementRow("slow request", statement, HOLDS if len(good) == len(mine) else FAILS, text)


def _prestop(seen: ReducedLog) -> StatementRow:
    run = seen.one("run")
    seconds = run["variant"]["prestop"] if run else 0
    statement = "preStop runs to its end before the signal"
    accepted = seen.accepted_at()
    signals = [
        e for e in of_kind(seen.entries, "pod-log") if e["pod"] == seen.target and " signal SIGTERM" in e["line"]
    ]
    if accepted is None or not signals:
        return StatementRow("preStop", statement, NOT_SEEN, "the server's log shows no SIGTERM")
    after = _stamp(signals[0]["line"]) - accepted
    return StatementRow(
        "preStop", statement, HOLDS if after >= seconds - 0.5 else FAILS, f"{seconds} s hook, SIGTERM at {after:+.1f} s"
    )


def _rollout(seen: ReducedLog) -> StatementRow:
    statement = "the rollout reports success while the old Pod is still Terminating"
    status = seen.one("rollout-status")
    if status is None:
        return StatementRow("rollout", statement, NOT_SEEN, "no status was read")
    success = status["code"] == 0 and "successfully rolled out" in status["said"]
    left = status["terminating"]
    accepted = seen.accepted_at()
    when = f"at {status['at'] - accepted:+.1f} s, " if accepted else ""
    text = f"{status['said']}; {when}{len(left)} old Pod{'s' if len(left) != 1 else ''} Terminating"
    return StatementRow("rollout", statement, HOLDS if success and left else FAILS, text)


def _removal(seen: ReducedLog) -> StatementRow:
    """Order of receipt over two watches is only good to a fraction of a second; half a second is allowed for."""
    statement = "the endpoint goes when its Pod turns Succeeded or Failed, or is deleted"
    gone = [at for at, state in seen.target_states() if not state]
    had = [at for at, state in seen.target_states() if state]
    ended = [
        (at, "deleted" if kind == "DELETED" else pod["status"]["phase"])
        for at, kind, pod in seen.target_pod_states()
        if kind == "DELETED" or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    ]
    gone = [at for at in gone if had and at > had[-1]]
    if not gone or not ended:
        return StatementRow("endpoint removal", statement, NOT_SEEN, "the endpoint's or the Pod's end was not seen")
    (at, how), removed = ended[0], gone[0]
    accepted = seen.accepted_at() or at
    text = f"Pod {how} at {at - accepted:+.1f} s, endpoint gone at {removed - accepted:+.1f} s"
    return StatementRow("endpoint removal", statement, HOLDS if removed >= at - 0.5 else FAILS, text)


def _convergence(seen: ReducedLog) -> StatementRow:
    statement = "in the end slices and every node's table hold the new Pods and not the old one"
    after = [e["object"] for e in of_kind(seen.entries, "object-after")]
    tables = of_kind(seen.entries, "table")
    if not after or not tables:
        return StatementRow("convergence", statement, NOT_SEEN, "no table was read")
    ready = {
        address
        for slice_ in after
        for endpoint in slice_.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint["addresses"]
    }
    old = seen.target_addresses
    stale = sorted(table["node"] for table in tables if old & _mentioned(table["text"], old))
    incomplete = sorted(table["node"] for table in tables if ready - _mentioned(table["text"], ready))
    ok = len(ready) >= 2 and not old & ready and not stale and not incomplete
    text = f"{len(ready)} ready addresses, {len(tables)} tables"
    text += f"; stale on {', '.join(stale)}" if stale else ""
    text += f"; incomplete on {', '.join(incomplete)}" if incomplete else ""
    return StatementRow("convergence", statement, HOLDS if ok else FAILS, text)


_JUDGEMENTS: tuple[Callable[[ReducedLog], StatementRow], ...] = (
    _headless,
    _empty,
    _wrong_port,
    _conditions,
    _new_connections,
    _slow,
    _prestop,
    _rollout,
    _removal,
    _convergence,
)

_WORD = re.compile(r"[0-9A-Fa-f:.]*[0-9A-Fa-f]")


def _service_of(item: dict[str, Any]) -> str:
    return str((item["metadata"].get("labels") or {}).get("kubernetes.io/service-name", ""))


def _addresses(answer: str) -> list[str]:
    """The addresses of a lookup's answer; none for "CODE TEXT"."""
    found = []
    for word in answer.split():
        try:
            found.append(str(ipaddress.ip_address(word)))
        except ValueError:
            return []
    return found


def _mentioned(text: str, addresses: set[str]) -> set[str]:
    """Which of the addresses stand in a rule dump, as values: 10.244.1.4 is not in 10.244.1.41."""
    wanted = {ipaddress.ip_address(address): address for address in addresses}
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        for candidate in (word, word.rpartition(":")[0]):  # 10.244.1.4:8080 in iptables' DNAT targets
            try:
                value = ipaddress.ip_address(candidate)
            except ValueError:
                continue
            if value in wanted:
                found.add(wanted[value])
    return found


def _stamp(line: str) -> float:
    """The time at the start of a server's log line."""
    return datetime.datetime.fromisoformat(line.split(" ", 1)[0].replace("Z", "+00:00")).timestamp()
