"""A scene's fault waits for names and tables that have the scene: CoreDNS answers, kube-proxy has written."""

from __future__ import annotations

import ipaddress
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import dns.message
import dns.rcode
import dns.rrset
import pytest

from svcpath_lab import resources
from svcpath_lab.command import Completed
from svcpath_lab.errors import LabError
from svcpath_lab.faults import sound
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import NotOffered, Provider

SCENE = FaultScene.draw(random.Random(4))
DNS_SLICE = {
    "ports": [{"name": "dns-tcp", "port": 5353, "protocol": "TCP"}, {"name": "dns", "port": 5353, "protocol": "UDP"}],
    "endpoints": [
        {"addresses": ["10.244.0.2"], "conditions": {"ready": True}},
        {"addresses": ["10.244.1.2"], "conditions": {"ready": False}},
        {"addresses": ["10.244.2.2"]},
    ],
}
IPTABLES = "-A KUBE-SERVICES -d 10.96.5.5/32 -p tcp\n-A KUBE-SEP-X -p tcp -j DNAT --to-destination 10.244.1.9:8080\n"
NFT = "elements = { 10.96.5.5 . tcp . 80 : goto service-X }\n chain endpoint-Y { dnat to 10.244.1.9:8080 }\n"


def service(**spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}]
    return {"metadata": {"name": SCENE.service}, "spec": {"clusterIP": "10.96.5.5", "ports": ports, **spec}}


def endpoints(*addresses: str, name: str = "http", ready: bool = True) -> dict[str, Any]:
    return {
        "ports": [{"name": name, "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": ready}} for address in addresses],
    }


class FakeKubectl:
    """Answers as a cluster does whose CoreDNS says ``answers`` one after the other, the last one ever after."""

    def __init__(self, answers: Sequence[str], of: dict[str, Any], dns: bool = True) -> None:
        self.answers, self.of, self.dns = list(answers), of, dns
        self.asked: list[Sequence[str]] = []

    def get(self, *words: str) -> dict[str, Any]:
        return self.of

    def items(self, *words: str) -> list[dict[str, Any]]:
        if "services" in words:
            return [{}] if self.dns else []
        return [DNS_SLICE] if "kube-system" in words else [endpoints("10.244.1.9")]

    def exec(self, namespace: str, pod: str, argv: Sequence[str], **options: Any) -> Completed:
        self.asked.append(argv[3:])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Completed(("exec",), 0, "".join(f"{server} {answer}\n" for server in argv[4:]), "")


class FakeProvider:
    def __init__(self, *dumps: str) -> None:
        self.dumps = list(dumps)

    def nodes(self) -> tuple[str, ...]:
        return ("w1", "w2")

    def run_on_node(self, node: str, argv: Sequence[str], **options: Any) -> Completed:
        if not self.dumps:
            raise NotOffered("only netns and kind reach into nodes")
        return Completed(("sh",), 0, self.dumps.pop(0) if len(self.dumps) > 1 else self.dumps[0], "")


def ground(kubectl: FakeKubectl, *dumps: str) -> Ground:
    return Ground(cast(Provider, FakeProvider(*dumps)), cast(Kubectl, kubectl), SCENE)


def waited(kubectl: FakeKubectl, *dumps: str) -> int:
    """How often was waited before it was sound."""
    pauses: list[float] = []
    sound.wait(ground(kubectl, *dumps), seconds=60, sleep=pauses.append)
    return len(pauses)


@pytest.mark.parametrize("dump", [IPTABLES, NFT])
def test_a_scene_that_is_served_is_not_waited_for_and_ready_servers_alone_are_asked(dump: str) -> None:
    kubectl = FakeKubectl(["0 10.96.5.5"], service())
    assert waited(kubectl, dump) == 0
    name = f"{SCENE.service}.{SCENE.namespace}.svc.cluster.local"
    assert kubectl.asked == [[name, "10.244.0.2:5353", "10.244.2.2:5353"]]


@pytest.mark.parametrize("first", ["3", "silent", "0", "0 10.96.5.50"])
def test_a_coredns_that_denies_is_silent_or_is_behind_is_waited_for(first: str) -> None:
    assert waited(FakeKubectl([first, first, "0 10.96.5.5"], service()), IPTABLES) == 2


@pytest.mark.parametrize("dump", ["", "-d 10.96.5.5/32", IPTABLES.replace(".9:", ".90:")])
def test_a_node_whose_table_lacks_an_address_is_waited_for(dump: str) -> None:
    assert waited(FakeKubectl(["0 10.96.5.5"], service()), IPTABLES, dump, IPTABLES) == 1


def test_what_does_not_come_is_named_and_the_fault_is_not_made() -> None:
    with pytest.raises(LabError, match=r"not made: CoreDNS at 10\.244\.0\.2:5353 says rcode 3"):
        sound.wait(ground(FakeKubectl(["3"], service()), IPTABLES), seconds=0)
    with pytest.raises(LabError, match=r"kube-proxy of w1 has not written 10\.244\.1\.9, 10\.96\.5\.5"):
        sound.wait(ground(FakeKubectl(["0 10.96.5.5"], service()), ""), seconds=0)


@pytest.mark.parametrize("spec", [{"clusterIP": "None"}, {"clusterIP": None, "type": "ExternalName"}])
def test_headless_and_external_names_are_not_waited_for(spec: dict[str, Any]) -> None:
    kubectl = FakeKubectl(["3"], service(**spec))
    assert waited(kubectl, "") == 0
    assert not kubectl.asked


def test_a_cluster_without_kube_dns_or_with_nodes_out_of_reach_is_asked_for_the_rest() -> None:
    assert waited(FakeKubectl(["3"], service(), dns=False), IPTABLES) == 0
    assert waited(FakeKubectl(["0 10.96.5.5"], service())) == 0


def test_a_scene_waits_for_nodes_that_take_no_pods_yet() -> None:
    def node(name: str, ready: str, *taints: str) -> dict[str, Any]:
        keys = [{"key": key, "effect": "NoExecute"} for key in taints]
        conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
        return {"metadata": {"name": name}, "spec": {"taints": keys}, "status": {"conditions": conditions}}

    own = "node-role.kubernetes.io/control-plane"
    assert sound.unready([node("cp", "True", own), node("w1", "True")]) == []
    gone = [node("w1", "Unknown", "node.kubernetes.io/unreachable"), node("w2", "True", "node.kubernetes.io/not-ready")]
    assert sound.unready(gone) == ["node w1 is not ready", "node w2 has taint node.kubernetes.io/not-ready"]


def test_every_node_must_have_ready_endpoints_unless_each_has_its_own() -> None:
    ready = [endpoints("10.244.1.9"), endpoints("10.244.2.9", ready=False), endpoints("fd00::9")]
    address = ipaddress.ip_address
    assert sound.programmed(service(), ready) == {address("10.96.5.5"), address("10.244.1.9")}
    both = service(clusterIPs=["10.96.5.5", "fd00:96::5"])
    assert sound.programmed(both, ready) == {*map(address, ("10.96.5.5", "fd00:96::5", "10.244.1.9", "fd00::9"))}
    assert sound.programmed(service(internalTrafficPolicy="Local"), ready) == {address("10.96.5.5")}
    assert sound.programmed(service(), [endpoints("10.244.1.9", name="other")]) == {address("10.96.5.5")}
    left = {**service(), "metadata": {"labels": {"service.kubernetes.io/service-proxy-name": "x"}}}
    assert sound.programmed(left, ready) == set()


def test_addresses_in_rules_are_read_as_values() -> None:
    text = "[12:345] -d fd00:0096:0::5/128 --to-destination [fd00:244:1::9]:8080 -s 10.96.5.5/32 at 10:11:12"
    read = sound.addresses_in(text)
    assert {ipaddress.ip_address(address) for address in ("fd00:96::5", "fd00:244:1::9", "10.96.5.5")} <= read


# --- ask_dns.py against servers -----------------------------------------------------------------------------------------


@contextmanager
def server(answer: Callable[[dns.message.Message], dns.message.Message | None]) -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(10)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                data, client = sock.recvfrom(4096)
                reply = answer(dns.message.from_wire(data)) if data else None
                if reply is not None:
                    sock.sendto(reply.to_wire(), client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{sock.getsockname()[1]}"
        finally:
            stop.set()
            sock.sendto(b"", sock.getsockname())
            thread.join()


def known(query: dns.message.Message) -> dns.message.Message:
    """Both addresses, behind an alias, so that names are compressed and other types come first."""
    reply = dns.message.make_response(query)
    name, kind = query.question[0].name, query.question[0].rdtype
    reply.answer.append(dns.rrset.from_text(name, 5, "IN", "CNAME", "real.shop.svc.cluster.local."))
    value = {1: "10.96.5.5", 28: "fd00:96::5"}[int(kind)]
    reply.answer.append(dns.rrset.from_text("real.shop.svc.cluster.local.", 5, "IN", kind.name, value))
    return reply


def missing(query: dns.message.Message) -> dns.message.Message:
    reply = dns.message.make_response(query)
    reply.set_rcode(dns.rcode.NXDOMAIN)
    return reply


def test_the_question_script_prints_what_each_server_answers() -> None:
    script = resources.folder() / "ask_dns.py"
    with server(known) as knowing, server(missing) as two, server(lambda query: None) as three:
        argv = [sys.executable, str(script), "web.shop.svc.cluster.local", knowing, two, three]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{knowing} 0 10.96.5.5 fd00:96::5", f"{two} 3", f"{three} silent"]
    assert sound.wrong_answers(done.stdout, ("10.96.5.5", "fd00:96:0::5")) == [
        f"CoreDNS at {two} says rcode 3",
        f"CoreDNS at {three} says nothing",
    ]
