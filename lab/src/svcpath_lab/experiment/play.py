"""Play the reference experiment on a cluster and write down what happens; nothing here judges.

Order of a run: the objects settle; names are resolved from a musl and a glibc client; the headless Service and both controls
are tried; a slow request is started and its Pod goes (by delete or by ``rollout restart``); new connections are made; the
old Pod and its endpoint are followed to their end; the nodes' tables are read once more.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from svcpath.evidence.sources.scripts import one_line
from svcpath_lab import namespaces
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.experiment import manifests
from svcpath_lab.experiment.log import Entry, RawLog
from svcpath_lab.experiment.manifests import NAMESPACE, RunVariant
from svcpath_lab.experiment.watch import logging, watching
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import Provider

SLOW_SECONDS = 6
NEW_CONNECTIONS = 6
#: Seconds until every node has the change: kube-proxy writes at most once a second (minSyncPeriod), and takes its time.
PROGRAMMED = 2.0
CLIENT = "client-glibc"
CHANGES = ("delete", "restart")


@dataclass
class ExperimentRun:
    """One run under way."""

    provider: Provider
    kubectl: Kubectl
    lab: str
    log: RawLog
    say: Say

    def client(self, argv: Sequence[str], pod: str = CLIENT, *, timeout: float = 90) -> Iterator[str]:
        done = self.kubectl.exec(NAMESPACE, pod, argv, timeout=timeout)
        if done.code not in (0, 1):
            self.log.add("trouble", command=done.line, code=done.code, error=done.err.strip()[-300:])
        return iter(done.out.splitlines())

    def request(self, url: str, count: int, label: str) -> list[Entry]:
        lines = self.client(["python3", "/app/request.py", url, str(count)])
        return [self.log.add("request", label=label, **parse_request(line)) for line in lines]


def parse_request(line: str) -> dict[str, Any]:
    """A line of request.py as values; the body may hold blanks, the last five words are fixed."""
    words = line.split()
    named = dict(word.split("=", 1) for word in words[-5:] if "=" in word)
    return {
        "sent": words[0],
        "url": words[1],
        "body": " ".join(words[2:-5]),
        "status": int(named.get("code", "0") or 0),
        "exit": int(named.get("exit", "-1")),
        "remote": named.get("remote", ""),
        "connect": float(named.get("connect", "0")),
        "total": float(named.get("total", "0")),
    }


def play(
    provider: Provider, lab: str, log_path: Path, *, change: str, variant: RunVariant, say: Say, mode: str = ""
) -> list[Entry]:
    """Run the experiment once; returns (and keeps in ``log_path``) the raw log."""
    kubectl = provider.kubectl()
    log = RawLog(log_path)
    stage = ExperimentRun(provider, kubectl, lab, log, say)
    try:
        version = json.loads(kubectl.run("version", "-o", "json").out)
        log.add(
            "run",
            change=change,
            variant=asdict(variant),
            proxy_mode=mode,
            server=version.get("serverVersion", {}).get("gitVersion", ""),
            nodes=list(provider.nodes()),
        )
        say("objects of the experiment")
        _settle(stage, variant)
        say("names, from musl and glibc")
        _names(stage)
        say("the headless Service and the controls")
        _controls(stage)
        with contextlib.ExitStack() as watches:
            for resource in ("endpointslices", "pods", "events"):
                watches.enter_context(watching(kubectl, log, NAMESPACE, resource))
            time.sleep(1.0)
            say(f"a slow request, then {'its Pod is deleted' if change == 'delete' else 'a rollout restart'}")
            _drain(stage, change, variant)
        log.add("end")
    finally:
        log.close()
    return log.entries


def _settle(stage: ExperimentRun, variant: RunVariant) -> None:
    kubectl = stage.kubectl
    namespaces.ensure(kubectl, stage.lab, NAMESPACE)
    objects = manifests.with_variant(manifests.rendered(kubectl), variant, stage.provider.images)
    kubectl.apply(objects, namespace=NAMESPACE)
    kubectl.wait_rollout(NAMESPACE, "deployment/echo-server")
    for client in ("client-glibc", "client-musl"):
        kubectl.run("-n", NAMESPACE, "wait", "--for=condition=Ready", f"pod/{client}", "--timeout=90s")
    _wait(
        "the experiment's Pods to be the two of the present Deployment",
        lambda: len(kubectl.items("-n", NAMESPACE, "pods", "-l", "app=echo-server")) == 2,
        90,
    )
    for kind in ("services", "endpointslices", "pods"):
        for item in kubectl.items("-n", NAMESPACE, kind):
            stage.log.add("object", resource=kind, object=item)


def probes(stage: ExperimentRun, pod: str) -> list[tuple[str, list[str]]]:
    """The resolvers a client Pod offers: static musl probes, its Python on whatever libc it has, a JVM on that libc."""
    script = one_line("probes.sh", "svcpath_lab.resources")
    found: list[tuple[str, list[str]]] = []
    for line in stage.kubectl.exec(NAMESPACE, pod, ["sh", "-c", script]).out.splitlines():
        if line.startswith("/usr/local/bin/resolve-"):
            found.append((line.rsplit("/resolve-", 1)[1], [line]))
        elif line.startswith(("python-musl ", "glibc ")):
            found.append((line.replace(" ", "-"), ["python3", "/app/resolve.py"]))
    wanted = "musl" if pod.endswith("musl") else "glibc"
    return [probe for probe in found if wanted in probe[0]]


def _names(stage: ExperimentRun) -> None:
    absolute = f"echo-server.{NAMESPACE}.svc.cluster.local"
    forms = ["echo-server", f"echo-server.{NAMESPACE}", absolute, f"{absolute}."]
    for pod in ("client-musl", "client-glibc"):
        resolv = stage.kubectl.exec(NAMESPACE, pod, ["cat", "/etc/resolv.conf"]).out
        stage.log.add("resolv.conf", pod=pod, text=resolv)
        for probe, argv in probes(stage, pod):
            for line in stage.client([*argv, *forms, "echo-headless", "empty-service", "wrong-port"], pod):
                name, _, answer = line.partition(" -> ")
                stage.log.add("lookup", pod=pod, probe=probe, name=name, answer=answer)


def _controls(stage: ExperimentRun) -> None:
    stage.request("http://echo-headless:8080/hostname", 3, "headless")
    stage.request("http://empty-service/hostname", 3, "empty-service")
    stage.request("http://wrong-port/hostname", 3, "wrong-port")


def _drain(stage: ExperimentRun, change: str, variant: RunVariant) -> None:
    kubectl, log = stage.kubectl, stage.log
    pinned = stage.request("http://echo-server/hostname", 3, "pin")
    target = pinned[-1]["body"] if pinned else ""
    if not target.startswith("echo-server-"):
        raise LabError(f"the Service does not answer before anything was done to it: {target or 'no reply'}")
    pod = kubectl.get("-n", NAMESPACE, "pod", target)
    client_node = kubectl.get("-n", NAMESPACE, "pod", CLIENT)["spec"]["nodeName"]
    log.add("target", pod=target, ips=[ip["ip"] for ip in pod["status"]["podIPs"]], client_node=client_node)
    with contextlib.ExitStack() as cleanup:
        cleanup.enter_context(logging(kubectl, log, NAMESPACE, target))
        if variant.stale_proxy:
            stage.provider.freeze_proxy(client_node)
            cleanup.callback(stage.provider.thaw_proxy, client_node)
            log.add("frozen", node=client_node)
        slow = _SlowRequests(stage)
        slow.start()
        time.sleep(1.0)
        log.add("change-asked", change=change)
        if change == "delete":
            kubectl.run("-n", NAMESPACE, "delete", "pod", target, "--wait=false")
        else:
            kubectl.run("-n", NAMESPACE, "rollout", "restart", "deployment/echo-server")
        rollout = threading.Thread(target=_follow_rollout, args=(stage,), daemon=True)
        if change == "restart":
            rollout.start()
            while not _deleting(stage, target):
                slow.start()
                time.sleep(1.0)
        log.add("deletion-seen", pod=target)
        if change == "delete":
            rollout.start()
        time.sleep(PROGRAMMED)
        stage.request("http://echo-server/hostname", NEW_CONNECTIONS, "after")
        slow.join()
        rollout.join(180)
        _wait("the old Pod to go", lambda: not _there(stage, target), variant.grace + 60)
        log.add("gone", pod=target)
        if change == "restart":
            _wait("two Pods", lambda: len(kubectl.items("-n", NAMESPACE, "pods", "-l", "app=echo-server")) == 2, 90)
        time.sleep(2.0)
        for item in kubectl.items("-n", NAMESPACE, "endpointslices", "-l", "kubernetes.io/service-name=echo-server"):
            log.add("object-after", resource="endpointslices", object=item)
        _tables(stage)


class _SlowRequests:
    """Slow requests under way, each in its own client process so that it lives on while other things are done."""

    def __init__(self, stage: ExperimentRun) -> None:
        self._stage = stage
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        number = len(self._threads)
        argv = self._stage.kubectl.argv(
            [
                *("-n", NAMESPACE, "exec", CLIENT, "--", "python3", "/app/request.py"),
                f"http://echo-server/slow?seconds={SLOW_SECONDS}",
            ]
        )
        self._stage.log.add("slow-started", number=number)
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        def finish() -> None:
            out, _ = process.communicate(timeout=120)
            for line in out.splitlines():
                self._stage.log.add("slow-finished", number=number, **parse_request(line))

        thread = threading.Thread(target=finish, daemon=True)
        thread.start()
        self._threads.append(thread)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(120)


def _follow_rollout(stage: ExperimentRun) -> None:
    done = stage.kubectl.run(
        "-n", NAMESPACE, "rollout", "status", "deployment/echo-server", "--timeout=170s", check=False, timeout=180
    )
    pods = stage.kubectl.items("-n", NAMESPACE, "pods", "-l", "app=echo-server")
    terminating = [item["metadata"]["name"] for item in pods if item["metadata"].get("deletionTimestamp")]
    last = (done.out.strip().splitlines() or [done.err.strip()])[-1]
    stage.log.add("rollout-status", code=done.code, said=last, terminating=terminating)


def _deleting(stage: ExperimentRun, pod: str) -> bool:
    done = stage.kubectl.run(
        "-n", NAMESPACE, "get", "pod", pod, "--ignore-not-found", "-o", "jsonpath={.metadata.deletionTimestamp}"
    )
    return bool(done.out.strip()) or not _there(stage, pod)


def _there(stage: ExperimentRun, pod: str) -> bool:
    return bool(stage.kubectl.run("-n", NAMESPACE, "get", "pod", pod, "--ignore-not-found", "-o", "name").out.strip())


def _tables(stage: ExperimentRun) -> None:
    """Each node's rules as its own kube-proxy Pod shows them."""
    for item in stage.kubectl.items("-n", "kube-system", "pods", "-l", "k8s-app=kube-proxy"):
        pod, node = item["metadata"]["name"], item["spec"]["nodeName"]
        script = (
            "nft list ruleset 2>/dev/null; iptables-save -t nat 2>/dev/null; ip6tables-save -t nat 2>/dev/null; true"
        )
        done = stage.kubectl.exec("kube-system", pod, ["sh", "-c", script])
        stage.log.add("table", node=node, code=done.code, text=done.out)


def _wait(what: str, ready: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise LabError(f"waited {seconds:g} s for {what}; look at namespace {NAMESPACE}")
        time.sleep(0.25)
