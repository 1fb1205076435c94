"""Printed disproofs are run: what would refute a finding is absent where the finding holds, and there where it does not."""

from __future__ import annotations

import re
import string
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.findings.catalogue import catalogue, disproof
from svcpath.reports import records
from svcpath.reports.records import Report
from tests.cases.case import cases
from tests.cases.public.case import case, names
from tests.fixtures import fake_tools, fake_world
from tests.fixtures.cluster import cluster
from tests.fixtures.objects import port, service
from tests.fixtures.options import Options
from tests.walk.disproved.every import WHERE_WRONG, where_wrong
from tests.walk.layers.every_input import BROKEN

Shown = Callable[[str], bool]


def _some(output: str) -> bool:
    return bool(output.strip())


def _none(output: str) -> bool:
    return not output.strip()


def _equal_generations(output: str) -> bool:
    found = dict(re.findall(r"(observedGeneration|generation): (\d+)", output))
    return found.get("generation") == found.get("observedGeneration")


#: What each disproof's prose asks for, as a check of its output.
REFUTED: dict[str, Shown] = {
    "SP119": _some,
    "SP201": _some,
    "SP211": lambda output: len({":" in ip for ip in output.split()}) == 2,
    "SP204": lambda output: (
        "selector:" not in output and bool(re.search(r"(?m)externalName: [a-z][a-z0-9.-]*$", output))
    ),
    "SP206": lambda output: bool(re.search(r"\bport: 8443$", output, re.M)),
    "SP301": _some,
    "SP302": _some,
    "SP303": lambda output: "addresses:" in output,
    "SP304": _some,
    "SP305": _some,
    "SP306": _some,
    "SP307": lambda output: "endpointslice-controller.k8s.io" in output,
    "SP308": _some,
    "SP309": lambda output: len(output.strip().splitlines()) <= 1,
    "SP310": lambda output: "fd00:" in output,
    "SP312": lambda output: "192.0.2.7" not in output,
    "SP313": _none,
    "SP314": lambda output: bool(output) and not re.search(r"\b0/[1-9]", output),
    "SP315": _some,
    "SP316": lambda output: _none(output) or "false" in output,
    "SP317": _some,
    "SP318": _some,
    "SP319": _some,
    "SP401": _some,
    "SP402": _some,
    "SP403": _some,
    "SP404": _some,
    "SP405": _some,
    "SP406": lambda output: output.strip() in ("0", "1"),
    "SP407": lambda output: bool(re.search(r"name: ''$", output, re.M)),
    "SP408": _some,
    "SP409": lambda output: bool(re.search(r"\bport: 8080$", output, re.M)),
    "SP410": _some,
    "SP504": lambda output: bool(re.search(r"\bReady\b", output)) and "NotReady" not in output,
    "SP505": lambda output: bool(re.search(r"\b1/1 +Running\b", output)),
    "SP601": _some,
    "SP602": _none,
    "SP603": _none,
    "SP604": _some,
    "SP605": lambda output: "1999999999" in output,
    "SP607": _none,
    "SP608": _some,
    "SP610": lambda output: "10.244.1.80" not in output,
    "SP612": _some,
    "SP606": lambda output: output.strip() == "0",
    "SP611": lambda output: output.strip().endswith("= 0"),
    "SP617": lambda output: (
        not re.search(r"(bridge-nf-call-iptables|ip_forward) = 0|rp_filter = 1|_count = 262144", output)
    ),
    "SP620": _some,
    "SP622": _some,
    "SP702": _equal_generations,
    "SP703": lambda output: output.strip() == "0",
    "SP704": lambda output: "successfully" in output,
}

#: Codes whose disproof needs traffic, a live node, or a reader: not run here.
NOT_RUN = {
    "SP101": "the client's own resolver",
    "SP108": "the DNS of a cluster is shown to a reader",
    "SP109": "the client's own resolver",
    "SP118": "the client's own resolver",
    "SP121": "the client's own resolver",
    "SP122": "the client's own resolver",
    "SP123": "the client's own resolver",
    "SP124": "the client's own resolver",
    "SP125": "the client's own resolver",
    "SP212": "the client's own resolver",
    "SP501": "a connection from the client",
    "SP502": "a connection from the client",
    "SP506": "a connection from the client",
    "SP507": "a node's routes",
    "SP508": "a connection from the client",
    "SP311": "a second finding beside SP302; its own disproof is that of SP201",
    "SP411": "a slice's ports are shown to a reader",
    "SP503": "a connection from the client",
    "SP609": "a request to a node",
    "SP613": "a node's /sys",
    "SP618": "a node's rules are shown to a reader",
}


@dataclass(frozen=True)
class Printed:
    """One disproof as a report prints it, with the evidence that the report is about."""

    where: str
    files: Mapping[str, bytes]
    finding: records.Finding
    report: Report
    options: Options

    def __str__(self) -> str:
        return f"{self.where} {self.finding.code}"


def _printed(where: str, files: Mapping[str, bytes], report: Report, **options: Unpack[Options]) -> Iterator[Printed]:
    for finding in report.findings:
        for hypothesis in finding.hypotheses[:1]:
            if hypothesis.disproof and finding.status != "pass":
                yield Printed(where, files, finding, report, options)


def _all() -> Iterator[Printed]:
    for mode in ("iptables", "nftables"):
        files = recording_files(mode)
        for name in ("echo-server", "echo-headless", "empty-service", "wrong-port"):
            options: Options = {"namespace": "service-ops", "client": "pod/client"}
            report = diagnose(BytesSource(files), f"svc/{name}", **options)
            yield from _printed(f"{mode} {name}", files, report, **options)
    for name in names(17, 59):
        yield from _printed(name, case(name).files, case(name).report)
    for broken in BROKEN:
        files = broken.build().evidence()
        options = {"namespace": "shop", **broken.options}
        yield from _printed(broken.name, files, broken.report, **options)


ALL = list(_all())

#: What no recorded evidence has for a tool to show: a node that only a list of nodes tells of; an option of a socket; two
#: clusters at once; what a terminal printed beside it; a file that is cut off; manifests that are not applied.
ELSEWHERE = {
    ("a_backend_in_no_slice_of_a_file_that_is_cut_off", "SP603"),
    ("manifests_whose_selector_misses_the_template", "SP301"),
    ("manifests_whose_target_port_the_template_does_not_name", "SP401"),
    ("two_clusters_side_by_side", "SP306"),
    ("two_clusters_of_whose_objects_the_uids_were_taken_off", "SP306"),
    ("warnings_of_kubectl_before_its_output", "SP403"),
    ("a_prompt_behind_documents_of_yaml", "SP403"),
    ("57-calico-bpf-dead-node-backend", "SP504"),
    ("a_list_of_nodes_with_one_that_is_not_ready", "SP504"),
    ("a_wildcard_socket_of_ipv6_alone", "SP405"),
}


#: Codes that have a case folder: what their disproof prints is given, and tried, there.
IN_A_FOLDER = {folder.written.expect.code for folder in cases()}

RUN = [
    printed
    for printed in ALL
    if printed.finding.code in REFUTED and (printed.where, printed.finding.code) not in ELSEWHERE
]


@pytest.mark.parametrize("printed", RUN, ids=str)
def test_a_disproof_is_silent_on_a_right_finding_and_speaks_on_a_wrong_one(printed: Printed, tmp_path: Path) -> None:
    command, shown = printed.finding.hypotheses[0].disproof, REFUTED[printed.finding.code]
    here = fake_world.run(command, printed.files, tmp_path / "broken")
    assert not shown(here), f"{command}\nwould refute a right finding by printing:\n{here}"
    other = where_wrong(printed.files, printed.finding, printed.report)
    there = fake_world.run(command, other.evidence(), tmp_path / "wrong")
    assert shown(there), f"{command}\nsays nothing where the finding is wrong:\n{there}"


@pytest.mark.parametrize("printed", RUN, ids=str)
def test_where_the_disproof_speaks_the_finding_is_not_made(printed: Printed) -> None:
    other = where_wrong(printed.files, printed.finding, printed.report)
    target = f"svc/{printed.report.target.service}" if printed.report.target.service else ""
    options: Options = {"namespace": printed.report.target.namespace, **printed.options}
    again = diagnose(BytesSource(other.evidence()), target, **options)
    same = [
        finding.sentence
        for finding in again.findings
        if finding.code == printed.finding.code and finding.status == printed.finding.status
    ]
    assert not same, f"{printed.finding.hypotheses[0].disproof}\nstill: {same}"


def test_every_code_that_the_evidence_shows_is_run_or_named_as_not_run() -> None:
    codes = {printed.finding.code for printed in ALL}
    assert codes <= set(REFUTED) | set(NOT_RUN) | IN_A_FOLDER
    assert not set(REFUTED) & set(NOT_RUN)
    assert set(REFUTED) <= codes, "a check for a code that no evidence here shows"
    assert set(REFUTED) <= set(WHERE_WRONG)


#: Names no API server would take; evidence from elsewhere may hold anything.
HOSTILE = (
    "x'; touch pwned; '",
    '"; touch pwned; "',
    "$(touch pwned)",
    "`touch pwned`",
    "a\ntouch pwned\n",
    "-o x; touch pwned",
    "&& touch pwned",
)


def _quick(folder: Path) -> dict[str, str]:
    """Tools that read their input and print nothing: only the shell's own reading of the command is looked at."""
    (folder / "bin").mkdir()
    for tool in fake_tools.TOOLS:
        script = folder / "bin" / tool
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
    (folder / "cwd").mkdir()
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}


def _nothing_is_run(command: str, folder: Path, environment: dict[str, str]) -> None:
    subprocess.run(
        ["sh", "-c", command],
        env=environment,
        cwd=folder / "cwd",
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert not list((folder / "cwd").iterdir()), command


@pytest.mark.parametrize("code", [code for code, entry in catalogue().items() if entry.disproof])
def test_no_hostile_name_breaks_out_of_a_disproof(code: str, tmp_path: Path) -> None:
    template = catalogue()[code].disproof
    assert template is not None
    both = (template.command, template.refutes)
    fields = {name for text in both for _, name, _, _ in string.Formatter().parse(text) if name}
    safe = {"show": "iptables-save", "tables": "/proc/net/tcp", "reach": "(0{8})"}
    environment = _quick(tmp_path)
    for hostile in HOSTILE:
        values: dict[str, object] = {f"raw_{name}": safe[name] for name in fields & set(safe)}
        values.update(dict.fromkeys(fields - set(safe), hostile))
        made = disproof(code, **values)
        assert made is not None
        _nothing_is_run(made.command, tmp_path, environment)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_hostile_name_in_the_evidence_breaks_out_of_any_printed_command(hostile: str, tmp_path: Path) -> None:
    selecting = cluster(selector={"app": hostile, hostile: "x"})
    listening = cluster(ports=[port(80, 18080)])
    silent = cluster(ports=[port(80, 18080)])
    named = cluster(ports=[port(80, hostile, hostile)])
    commands: list[str] = []
    for made in (selecting, listening, silent, named):
        made.sockets.clear()
        for pod in made.of("Pod"):
            pod["metadata"]["name"] = hostile
            pod["spec"]["nodeName"] = hostile
        made.settle()
        if made is silent:
            made.drop("Pod")
        made.add(service(hostile))
        report = made.diagnose(symptom="Connection refused")
        commands += [hypothesis.disproof for finding in report.findings for hypothesis in finding.hypotheses]
        commands += [observation.command for finding in report.findings for observation in finding.evidence]
        commands += [gap.command for gap in report.not_looked_at]
        commands += [observation.command for observation in report.observations]
    assert any("touch pwned" in command for command in commands)
    environment = _quick(tmp_path)
    for command in dict.fromkeys(commands):
        if not command.startswith("on the client's node"):
            _nothing_is_run(command, tmp_path, environment)
