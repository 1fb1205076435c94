"""Worlds in which a finding about objects, slices or sockets is wrong."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Callable, Mapping

from svcpath.reports import records
from tests.fixtures.objects import Obj, endpoint_slice, pod, service
from tests.fixtures.proc_net import proc_net
from tests.walk.disproved.worlds import World, edit


def service_of(made: World, words: Mapping[str, str]) -> Obj:
    return made.get("Service", words["service"])


def _slices(made: World, words: Mapping[str, str]) -> list[Obj]:
    return [
        slice_
        for slice_ in made.of("EndpointSlice")
        if slice_["metadata"].get("labels", {}).get("kubernetes.io/service-name") == words["service"]
    ]


def add_slice(made: World, words: Mapping[str, str], address: str = "10.244.9.9") -> None:
    service = service_of(made, words)
    ports = [
        {"name": port.get("name", ""), "port": port["port"], "protocol": port.get("protocol", "TCP")}
        for port in service["spec"]["ports"]
    ]
    endpoints = [{"addresses": [address], "conditions": {"ready": True, "serving": True, "terminating": False}}]
    made.add(endpoint_slice(f"{words['service']}-new", words["service"], endpoints, ports, managed_by="staff"))
    made.of("EndpointSlice")[-1]["metadata"]["namespace"] = words["namespace"]


def _ready(replica: Obj) -> None:
    replica["status"]["phase"] = "Running"
    replica["metadata"].pop("deletionTimestamp", None)
    replica["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    for gate in replica["spec"].get("readinessGates", ()):
        replica["status"]["conditions"].append({"type": gate["conditionType"], "status": "True"})
    replica["status"]["containerStatuses"] = [
        {"name": container["name"], "ready": True, "restartCount": 0, "state": {"running": {}}}
        for container in replica["spec"]["containers"]
    ]
    if not replica["status"].get("podIPs"):
        replica["status"].update(podIP="10.244.9.1", podIPs=[{"ip": "10.244.9.1"}])
    replica["spec"]["nodeName"] = replica["spec"].get("nodeName") or "w1"


def _mine(made: World, words: Mapping[str, str]) -> list[Obj]:
    selector = service_of(made, words)["spec"].get("selector") or {}
    return [
        replica
        for replica in made.of("Pod")
        if all((replica["metadata"].get("labels") or {}).get(key) == value for key, value in selector.items())
    ]


@edit("SP301", "SP304")
def _sp301_sp304(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    if words["service"] not in {known["metadata"]["name"] for known in made.of("Service")}:
        made.add(service(words["service"]))["metadata"]["namespace"] = words["namespace"]
    selector = service_of(made, words)["spec"].setdefault("selector", {"app": "any"})
    pods = [replica for replica in made.of("Pod") if replica["metadata"].get("namespace") == words["namespace"]]
    if not pods:
        pods = [made.add(pod("fresh-1", ("10.244.9.8",)))]
        pods[0]["metadata"]["namespace"] = words["namespace"]
    for replica in pods:
        replica["metadata"]["labels"] = {**(replica["metadata"].get("labels") or {}), **selector}
        _ready(replica)
    for slice_ in _slices(made, words):
        made.objects.remove(slice_)
    made.settle()


@edit("SP302", "SP308")
def _sp302_sp308(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    add_slice(made, words)


@edit("SP303", "SP315", "SP409")
def _sp303_sp315_sp409(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    for slice_ in _slices(made, words):
        made.objects.remove(slice_)
    made.settle()


@edit("SP305", "SP314", "SP316", "SP505")
def _sp305_sp314_sp316_sp505(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    for replica in _mine(made, words):
        _ready(replica)
    service_of(made, words)["spec"].pop("publishNotReadyAddresses", None)
    for slice_ in _slices(made, words):
        made.objects.remove(slice_)
    made.settle()


@edit("SP306", "SP319")
def _sp306(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    address = _last_word(words)
    for slice_ in _slices(made, words):
        for endpoint in slice_["endpoints"]:
            if address in endpoint["addresses"]:
                name = endpoint.get("targetRef", {}).get("name", "outside-1")
                found = [p for p in made.of("Pod") if p["metadata"]["name"] == name]
                labels = service_of(made, words)["spec"]["selector"]
                new = found[0] if found else made.add(pod(name, (address,), labels=labels))
                new["status"].update(podIP=address, podIPs=[{"ip": address}])


def _last_word(words: Mapping[str, str]) -> str:
    return words["command"].rpartition(" ")[2]


@edit("SP307")
def _sp307(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    name = re.search(r"endpointslice ([\w.-]+) ", words["command"])
    assert name
    slice_ = made.get("EndpointSlice", name[1])
    slice_["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io"


@edit("SP309")
def _sp309(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    ghosts = [
        (slice_, endpoint)
        for slice_ in _slices(made, words)
        for endpoint in slice_["endpoints"]
        if endpoint["conditions"].get("terminating") or endpoint["targetRef"]["name"] == "web-9"
    ]
    for slice_, endpoint in ghosts:
        slice_["endpoints"].remove(endpoint)
        made.objects = [
            obj
            for obj in made.objects
            if obj["kind"] != "Pod" or obj["metadata"]["name"] != endpoint["targetRef"]["name"]
        ]


@edit("SP310")
def _sp310(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    for number, replica in enumerate(_mine(made, words), 1):
        replica["status"]["podIPs"].append({"ip": f"fd00:244:9::{number:x}"})
        replica["spec"].setdefault("nodeName", "w1")
        replica["status"].setdefault("conditions", [{"type": "Ready", "status": "True"}])
    for slice_ in _slices(made, words):
        made.objects.remove(slice_)
    made.settle()
    for name in made.sockets:
        made.sockets[name] = [("tcp", "::", 8080)]


@edit("SP311")
def _sp311(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    wanted = words["command"].rpartition(" ")[2]
    made.add(copy.deepcopy(service_of(made, words)))["metadata"]["name"] = wanted


@edit("SP312")
def _sp312(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    addresses = [
        {"ip": ip}
        for slice_ in _slices(made, words)
        for endpoint in slice_["endpoints"]
        for ip in endpoint["addresses"]
    ]
    made.get("Endpoints", words["service"])["subsets"][0]["addresses"] = addresses


@edit("SP313")
def _sp313(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    made.get("Endpoints", words["service"])["metadata"]["annotations"] = {}


@edit("SP401", "SP402")
def _sp401_sp402(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    service_port = next(
        port for port in service_of(made, words)["spec"]["ports"] if isinstance(port["targetPort"], str)
    )
    for replica in _mine(made, words):
        first = replica["spec"]["containers"][0]["ports"][0]
        first.update(name=service_port["targetPort"], protocol=service_port.get("protocol", "TCP"))
        replica["spec"].setdefault("nodeName", "w1")
        replica["status"].setdefault("phase", "Running")
        replica["status"].setdefault("conditions", [{"type": "Ready", "status": "True"}])
    for slice_ in _slices(made, words):
        made.objects.remove(slice_)
    made.settle()


@edit("SP406")
def _sp406(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    for replica in _mine(made, words):
        ports = [port for container in replica["spec"]["containers"] for port in container["ports"]]
        for number, port in enumerate(ports[1:], 1):
            port["name"] = f"other-{number}"


@edit("SP403", "SP404", "SP405", "SP408", "SP410")
def _sp403_sp404_sp405_sp408_sp410(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    number = re.search(r":([0-9A-F]{4}) ", words["command"])
    assert number
    protocol = "udp" if "/proc/net/udp" in words["command"] else "tcp"
    opened = (protocol, "::", int(number[1], 16))
    names = {endpoint["targetRef"]["name"] for slice_ in _slices(made, words) for endpoint in slice_["endpoints"]}
    if any(path.endswith("/ss-lntup.txt") for path in made.files):
        names = {shlex.split(words["command"])[4]}  # the others' are in their node's list
    for name in names:
        made.sockets[name] = [*(made.sockets.get(name) or ()), opened]
        made.files.pop(f"{name}.ss.txt", None)
        table = f"{protocol}6"
        path = next(
            (
                table_path
                for table_path in (f"{name}.proc-net-{table}.txt", f"proc-net-{table}.txt")
                if table_path in made.files
            ),
            "",
        )
        if path:
            row = proc_net(table, [opened]).splitlines()[1]
            made.sockets.pop(name)
            made.files[path] += f"{row}\n"
        elif f"{name}.proc-net-{protocol}.txt" in made.files or f"proc-net-{protocol}.txt" in made.files:
            made.sockets.pop(name)
            made.files[f"{name}.proc-net-{table}.txt"] = proc_net(table, [opened])
    made.files.pop("ss.txt", None)
    for name in list(made.files):
        if name.startswith("proc-net-") and len(names) == 1:
            made.files[f"{next(iter(names))}.{name}"] = made.files.pop(name)


@edit("SP407", "SP411")
def _sp407_sp411(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    wanted = service_of(made, words)["spec"]["ports"][0]
    for slice_ in _slices(made, words):
        for port in slice_["ports"]:
            port.update(name=wanted.get("name", ""), protocol=wanted.get("protocol", "TCP"))


@edit("SP119")
def _sp119(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    """The Service is in the namespace that the name means too."""
    words_of = shlex.split(words["command"])
    other = made.add(copy.deepcopy(made.get("Service", words["service"])))
    other["metadata"]["namespace"] = words_of[words_of.index("-n") + 1]


@edit("SP201")
def _sp201(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    made.add(copy.deepcopy(made.get("Service")))["metadata"]["name"] = words["service"]
    made.settle()


@edit("SP204")
def _sp204(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    spec = service_of(made, words)["spec"]
    spec["externalName"] = "db.example.com"
    spec.pop("selector", None)


@edit("SP206")
def _sp206(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    ports = service_of(made, words)["spec"]["ports"]
    ports[0]["port"] = 8443


@edit("SP504")
def _sp504(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    name = _last_word(words)
    made.get("Node", name)["status"]["conditions"][0]["status"] = "True"


@edit("SP702", "SP704")
def _sp702_sp704(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    deployment = made.get("Deployment")
    wanted = deployment["spec"]["replicas"]
    deployment["status"] = dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"), wanted)
    deployment["status"]["observedGeneration"] = deployment["metadata"]["generation"]


def rewrite(made: World, pattern: str, change: Callable[[str], str]) -> None:
    for path, text in made.files.items():
        if re.search(pattern, text):
            made.files[path] = change(text)


@edit("SP606", "SP703")
def _sp606_sp703(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    gone = re.search(r"src=([\d.]+)", words["command"])
    assert gone
    rewrite(made, r"src=.*dst=", lambda text: "".join(x for x in text.splitlines(True) if f"src={gone[1]} " not in x))


@edit("SP622")
def _sp622(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    add_slice(made, words)
    made.of("EndpointSlice")[-1]["endpoints"][0]["nodeName"] = finding.sentence.partition(":")[0].split(", ")[0]


@edit("SP611")
def _sp611(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    rewrite(made, "conn_reuse_mode", lambda text: text.replace("conn_reuse_mode = 1", "conn_reuse_mode = 0"))


@edit("SP617")
def _sp617(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    rewrite(made, "bridge-nf", lambda text: text.replace("iptables = 0", "iptables = 1"))
    rewrite(made, "rp_filter", lambda text: text.replace("rp_filter = 1", "rp_filter = 2"))
    rewrite(made, "_count", lambda text: text.replace("_count = 262144", "_count = 151"))


@edit("SP317")
def _sp317(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    add_slice(made, words, "192.0.2.7")
