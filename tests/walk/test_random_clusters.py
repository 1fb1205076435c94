"""Random healthy clusters are healthy; one mutation of a known kind is found at the layer where it was made."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svcpath.reports.records import Report
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, endpoint, pod, port

NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)


@st.composite
def healthy(draw: st.DrawFn) -> Cluster:
    """One Service with one to three ports over one to five ready Pods, single or dual stack, named or numbered targets,
    and strangers beside it: Pods of other labels, a finished Pod, a policy for other Pods."""
    dual = draw(st.booleans())
    count = draw(st.integers(1, 3))
    numbers = draw(st.lists(st.integers(1, 65535), min_size=count, max_size=count, unique=True))
    targets = draw(st.lists(st.integers(1024, 65535), min_size=count, max_size=count, unique=True))
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    by_name = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    ports = [
        port(number, name if named else target, name if count > 1 else "")
        for number, target, name, named in zip(numbers, targets, names, by_name, strict=True)
    ]
    labels = draw(st.dictionaries(NAMES, NAMES, min_size=1, max_size=3))
    made = cluster(draw(st.integers(1, 5)), dual=dual, ports=ports, selector=dict(labels))
    for replica in made.of("Pod"):
        replica["metadata"]["labels"] = {**labels, **draw(st.dictionaries(NAMES, NAMES, max_size=2)), **labels}
        replica["spec"]["containers"][0]["ports"] = [
            {"name": name, "containerPort": target, "protocol": "TCP"}
            for name, target in zip(names, targets, strict=True)
        ]
        made.sockets[replica["metadata"]["name"]] = [
            ("tcp", "::" if dual or draw(st.booleans()) else "0.0.0.0", target) for target in targets
        ]
    if draw(st.booleans()):
        made.add(pod("stranger", ("10.244.1.200",), labels={"z-other": "x"}, ready=draw(st.booleans())))
    if draw(st.booleans()):
        made.add(pod("finished", ("10.244.1.201",), labels=dict(labels), phase="Succeeded", ready=False))
    made.dumps = draw(st.booleans())
    return made


def _verdict(report: Report) -> str:
    return f"{report.verdict.status} at {report.verdict.layer} {report.verdict.code}: {report.verdict.summary}"


RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@RELAXED
@given(healthy())
def test_a_healthy_cluster_is_healthy(made: Cluster) -> None:
    report = made.settle().diagnose()
    assert report.verdict.status == "healthy", _verdict(report)


# --- one mutation ---------------------------------------------------------------------------------------------------

Mutate = Callable[[Cluster, st.DataObject], None]


def _pod(made: Cluster, data: st.DataObject) -> Obj:
    mine = [replica for replica in made.of("Pod") if replica["metadata"]["name"].startswith("web-")]
    return data.draw(st.sampled_from(mine))


def _target(made: Cluster, data: st.DataObject) -> int:
    sockets = made.sockets["web-1"]
    assert sockets is not None
    return data.draw(st.sampled_from([socket[2] for socket in sockets]))


def _selector(made: Cluster, data: st.DataObject) -> None:
    selector = made.get("Service")["spec"]["selector"]
    selector[data.draw(st.sampled_from(sorted(selector)))] += "x"


def _named_port(made: Cluster, data: st.DataObject) -> None:
    made.get("Service")["spec"]["ports"][0]["targetPort"] = "no-such-name"


def _closed(made: Cluster, data: st.DataObject) -> None:
    name, target = _pod(made, data)["metadata"]["name"], _target(made, data)
    made.sockets[name] = [socket for socket in made.sockets[name] or () if socket[2] != target] or [
        ("tcp", "0.0.0.0", 1)
    ]


def _loopback(made: Cluster, data: st.DataObject) -> None:
    name = _pod(made, data)["metadata"]["name"]
    made.sockets[name] = [(proto, "127.0.0.1", number) for proto, _, number in made.sockets[name] or ()]


def _unready(made: Cluster, data: st.DataObject) -> None:
    for replica in made.of("Pod"):
        replica["status"]["conditions"][0]["status"] = "False"
        replica["status"]["containerStatuses"][0]["ready"] = False


def _ghost(made: Cluster, data: st.DataObject) -> None:
    made.settle()
    slice_ = made.get("EndpointSlice")
    address = "10.244.1.250" if slice_["addressType"] == "IPv4" else "fd00:244:1::250"
    slice_["endpoints"].append(endpoint(address, "web-gone"))


def _dead_node(made: Cluster, data: st.DataObject) -> None:
    used = sorted(
        {replica["spec"]["nodeName"] for replica in made.of("Pod") if replica["metadata"]["name"].startswith("web-")}
    )
    made.get("Node", data.draw(st.sampled_from(used)))["status"]["conditions"][0].update(
        status="Unknown", reason="Gone"
    )


def _vanished(made: Cluster, data: st.DataObject) -> None:
    made.get("Service")["metadata"]["name"] = "webx"


def _protocol(made: Cluster, data: st.DataObject) -> None:
    made.settle()
    for slice_ in made.of("EndpointSlice"):
        slice_["ports"][0]["protocol"] = "SCTP"


def _renamed(made: Cluster, data: st.DataObject) -> None:
    made.settle()
    for slice_ in made.of("EndpointSlice"):
        slice_["ports"][0]["name"] = "another-name"


#: Mutation -> status, layer and the codes it may be found by.
MUTATIONS: dict[str, tuple[Mutate, str, str, set[str]]] = {
    "selector": (_selector, "fault", "endpoints", {"SP301"}),
    "named port": (_named_port, "fault", "ports", {"SP401"}),
    "closed port": (_closed, "fault", "ports", {"SP403"}),
    "loopback": (_loopback, "fault", "ports", {"SP404"}),
    "no Pod ready": (_unready, "fault", "endpoints", {"SP304"}),
    "ghost": (_ghost, "fault", "endpoints", {"SP306"}),
    "dead node": (_dead_node, "fault", "pod", {"SP504"}),
    "no Service": (_vanished, "fault", "service", {"SP201"}),
    "protocol": (_protocol, "fault", "ports", {"SP407", "SP408", "SP411"}),
    "slice port name": (_renamed, "fault", "ports", {"SP407", "SP411"}),
}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(healthy(), st.sampled_from(sorted(MUTATIONS)), st.data())
def test_one_mutation_is_found_at_its_layer(made: Cluster, name: str, data: st.DataObject) -> None:
    mutate, status, layer, codes = MUTATIONS[name]
    made.dumps = False
    mutate(made, data)
    if not made.of("EndpointSlice"):  # a mutation of the slices themselves comes after the controller
        made.settle()
    report = made.diagnose()
    assert (report.verdict.status, report.verdict.layer) == (status, layer), f"{name}: {_verdict(report)}"
    assert report.verdict.code in codes, f"{name}: {_verdict(report)}"


@RELAXED
@given(healthy(), st.data())
def test_a_table_that_misses_or_keeps_a_backend_is_found_at_the_data_plane(made: Cluster, data: st.DataObject) -> None:
    made.settle()
    made.dumps = True
    files = made.evidence()
    made.dumps = False
    dump = files["w1.iptables-save.txt"].decode()
    lines = dump.splitlines()
    steps = [at for at, line in enumerate(lines) if "--to-destination" in line]
    at = data.draw(st.sampled_from(steps))
    before, _, place = lines[at].rpartition(" ")
    address, _, number = place.rpartition(":")
    lines[at] = f"{before} 10.244.7.7:{number}"
    made.files["w1.iptables-save.txt"] = "\n".join(lines) + "\n"
    report = made.diagnose()
    assert (report.verdict.status, report.verdict.layer) == ("fault", "dataplane"), _verdict(report)
    assert "10.244.7.7" in report.verdict.summary or address in report.verdict.summary, _verdict(report)
