"""Worlds in which a finding about a node is wrong: its tables, its kube-proxy's times, its connection entries."""

from __future__ import annotations

import re
from collections.abc import Callable

from svcpath.reports import records
from tests.walk.disproved.objects import add_slice, rewrite, service_of
from tests.walk.disproved.worlds import World, edit

_SAVED = r"(?m)^\*nat$"


def _without(pattern: str) -> Callable[[str], str]:
    return lambda text: "".join(line for line in text.splitlines(True) if not re.search(pattern, line))


@edit("SP601")
def _sp601(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    """The frontend has the rule that the cluster IP has."""
    address = finding.sentence.partition("no rule takes ")[2].partition(":")[0]
    own = service_of(made, words)["spec"]["clusterIP"]

    def change(text: str) -> str:
        lines = _without(r"-j DROP")(text).splitlines(True)
        return "".join(
            line.replace(f"-d {own}/", f"-d {address}/") + line if f"-A KUBE-SERVICES -d {own}/" in line else line
            for line in lines
        )

    for port in service_of(made, words)["spec"]["ports"]:
        port.pop("nodePort", None)
    rewrite(made, _SAVED, change)


@edit("SP602", "SP607")
def _sp602_sp607(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    """No rule refuses or drops; no rule of another mode is left."""
    own = re.escape(f"-d {service_of(made, words)['spec']['clusterIP']}/")
    left = r"-j (DROP|REJECT)" if finding.code == "SP602" else rf"KUBE-SERVICES -d|{own}"
    rewrite(made, _SAVED, _without(left))


@edit("SP603")
def _sp603(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    """The Service's own chain does not send there; another Service's may go on doing so."""
    gone = r"(10\.244\.1\.13|\[fd00:244:1::d\]):8080"
    rewrite(made, _SAVED, _without(rf'"{words["namespace"]}/{words["service"]} -> {gone}"'))
    rewrite(made, r"(?m)^ID +Frontend", _without(r"=> 10\.244\.1\.99:"))


@edit("SP604")
def _sp604(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    backend = finding.sentence.partition("the dump does not have ")[2].partition(" ")[0]
    step = re.search(r"KUBE-SEP-\w+", words["command"])
    assert step

    def change(text: str) -> str:
        chain = re.search(rf"-A (KUBE-SVC-\w+) .*{words['service']}\S* -> ", text)
        assert chain
        first = f"-A {chain[1]} -m statistic --mode random --probability 0.5 -j {step[0]}\n"
        jump = f"-A {step[0]} -p tcp -m tcp -j DNAT --to-destination {backend}\n"
        return text.replace(f"-A {chain[1]} -m comment", f"{first}{jump}-A {chain[1]} -m comment", 1)

    rewrite(made, _SAVED, change)


@edit("SP605")
def _sp605(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    pattern = r"(?m)^(kubeproxy_sync_proxy_rules_last_(?:queued_)?timestamp_seconds) .*$"
    rewrite(made, "kubeproxy_sync", lambda text: re.sub(pattern, r"\1 1999999999", text))


@edit("SP608")
def _sp608(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    add_slice(made, words)
    name = words["command"].rpartition("-- ")[2]
    made.of("EndpointSlice")[-1]["endpoints"][0]["nodeName"] = name
    rewrite(made, _SAVED, _without("-j DROP"))


@edit("SP610")
def _sp610(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    rewrite(made, "IPVS connection entries", _without(r"10\.244\.1\.80"))


@edit("SP612")
def _sp612(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    rewrite(made, r"(?m)^ID +BACKEND", lambda text: f"{text}412   tcp://10.196.158.9:8443\n")


@edit("SP620")
def _sp620(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    add_slice(made, words)
    name = finding.sentence.partition(" ")[0]
    made.of("EndpointSlice")[-1]["endpoints"][0]["nodeName"] = name
