"""A full diagnosis of a healthy Service on a lab, beside the commands that an engineer runs for it one after another.

SVCPATH_TEST_LAB=NAME python -m tests.bench live. The script is what one types, question by question,
with kubectl: the client's resolver file and two lookups, the cluster DNS (Pods, log, Corefile), Service, slices, both again beside
the sockets of each backend, one connection to each backend, the log, mode and tables of the client's node. What it would have to
look for by hand (the Pods' names and addresses) it is given; nothing is tried twice. Both are whole processes, taken in turn, so
that each sees the same machine; both must find the Service healthy. The claim is at most half the time.
"""

from __future__ import annotations

import compileall
import datetime
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import svcpath as package
from svcpath.errors import SvcpathError
from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.kubectl import Kubectl
from tests.bench._machine import RESULTS, machine
from tests.live.conftest import Lab, prepare

LIMIT = 0.5
ROUNDS = int(os.environ.get("SVCPATH_BENCH_ROUNDS", "9"))
NAMESPACE, SERVICE, CLIENT = "service-ops", "echo-server", "client"


def commands(kubectl: str, pods: list[dict[str, str]], proxy: str) -> list[str]:
    """The commands in the order of the six questions; ``pods`` are the backends with name and address."""
    k, ns = shlex.quote(kubectl), f"-n {NAMESPACE}"
    inside = f"{k} {ns} exec {CLIENT} --"
    host = f"{SERVICE}.{NAMESPACE}.svc.cluster.local"
    look = f"{k} -n kube-system exec {proxy} --"
    objects = [
        f"{k} {ns} get service {SERVICE} -o yaml",
        f"{k} {ns} get endpointslice -l kubernetes.io/service-name={SERVICE} -o yaml",
    ]
    return [
        f"{inside} cat /etc/resolv.conf",
        f"{inside} getent hosts {SERVICE}",
        f"{inside} nslookup {host}",
        f"{k} -n kube-system get pod -l k8s-app=kube-dns",
        f"{k} -n kube-system logs deployment/coredns --tail=200",
        f"{k} -n kube-system get configmap coredns -o yaml",
        *objects,
        *objects,
        *(f"{k} {ns} exec {pod['name']} -- cat /proc/net/tcp /proc/net/tcp6" for pod in pods),
        *(f"{inside} curl -sv --connect-timeout 2 http://{pod['address']}:8080/" for pod in pods),
        f"{k} {ns} get pod {CLIENT} -o wide",
        f"{k} -n kube-system get pod -l k8s-app=kube-proxy -o wide",
        f"{k} -n kube-system logs {proxy} --tail=200 | grep -E 'Using .* Proxier'",
        f"{look} curl -s http://localhost:10249/proxyMode",  # a log rotates away
        # Which mode is in use both have said; its table is read, and the others for what is left over.
        f"{look} iptables-save -t nat | {{ grep -E 'KUBE-SVC|KUBE-SEP' || true; }}",
        f"{look} nft list table ip kube-proxy || true",
        f"{look} cat /proc/net/ip_vs || true",
    ]


def timed(words: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of wall clock, and of processors on this side of the API server, that a process takes; raises when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(words, env=environment, capture_output=True, check=True, timeout=120)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(kubectl: Kubectl, kubeconfig: str, program: str) -> dict[str, object]:
    environment = {**os.environ, "KUBECONFIG": kubeconfig}
    items = kubectl.items("-n", NAMESPACE, "pods", "-l", f"app={SERVICE}")
    pods = [{"name": item["metadata"]["name"], "address": item["status"]["podIP"]} for item in items]
    node = kubectl.get("-n", NAMESPACE, "pod", CLIENT)["spec"]["nodeName"]
    proxies = kubectl.items("-n", "kube-system", "pods", "-l", "k8s-app=kube-proxy")
    proxy = next(proxy["metadata"]["name"] for proxy in proxies if proxy["spec"]["nodeName"] == node)
    log = kubectl.run("-n", "kube-system", "logs", proxy).out
    mode = "nftables" if "Using nftables Proxier" in log else "iptables"
    lines = commands(program, pods, proxy)
    script = ["sh", "-ec", "\n".join(lines)]
    svcpath = str(Path(sys.executable).with_name("svcpath"))
    # As pip leaves an installed package; PYTHONDONTWRITEBYTECODE would have every start compile it again.
    compileall.compile_dir(Path(package.__file__).parent, quiet=2)
    diagnosis = [svcpath, "diagnose", f"svc/{SERVICE}", "-n", NAMESPACE, "--from", f"pod/{CLIENT}", "-q"]
    calls = {"script": script, "diagnose": diagnosis}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for words in calls.values():
        timed(words, environment)  # what is cold
    for _ in range(ROUNDS):
        for name, words in calls.items():
            taken[name].append(timed(words, environment))
    found: dict[str, object] = {"proxy mode": mode, "kubectl calls": len(lines), "rounds": ROUNDS}
    for name, seconds in taken.items():
        walls, processors = zip(*seconds, strict=True)
        found |= {
            f"{name} s": round(statistics.median(walls), 3),
            f"{name} best s": round(min(walls), 3),
            f"{name} processor s": round(statistics.median(processors), 3),
        }
    # Each diagnosis beside the script that ran just before it: what else the machine did then, it did to both.
    pairs = [mine[0] / theirs[0] for theirs, mine in zip(taken["script"], taken["diagnose"], strict=True)]
    return {**found, "ratio of each round": [round(pair, 3) for pair in pairs]}


def main() -> None:
    name = os.environ.get("SVCPATH_TEST_LAB", "")
    try:
        if not name:
            raise SvcpathError("SVCPATH_TEST_LAB names no lab")
        home = homes.home(name)
        provider = labs.provider(home)
        kubectl = provider.kubectl()
        with tempfile.TemporaryDirectory() as scratch:
            prepare(Lab(kubectl, str(provider.kubeconfig()), Path(scratch), home.audit_log))
        server = json.loads(kubectl.run("version", "-o", "json").out)["serverVersion"]["gitVersion"]
    except SvcpathError as error:
        sys.stdout.write(f"live: not measured ({error}): svcpath lab up --lab NAME, then SVCPATH_TEST_LAB=NAME\n")
        return
    found = measure(kubectl, str(provider.kubeconfig()), str(kubectl.program))
    ratio = round(float(str(found["diagnose s"])) / float(str(found["script s"])), 3)
    figures = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {"svcpath": version("svcpath"), "kubernetes": server},
        **found,
        "ratios": {"diagnose to the script of kubectl calls": {"ratio": ratio, "limit": LIMIT}},
    }
    found_words = ", ".join(f"{key} {value}" for key, value in found.items())
    sys.stdout.write(f"  {found_words}\n")
    path = RESULTS / f"live-{found['proxy mode']}.json"
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(f"{path.relative_to(RESULTS.parent)}\n")
    sys.stdout.write(
        f"  {'holds' if ratio <= LIMIT else 'MISSED':6} {ratio:8.2f} of at most {LIMIT:5.2f}  diagnose to the script\n"
    )


if __name__ == "__main__":
    main()
