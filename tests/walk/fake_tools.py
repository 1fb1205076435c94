"""kubectl, iptables-save, nft, conntrack, ipvsadm, sysctl, curl and cilium-dbg that answer from recorded evidence.

Run as ``python fake_tools.py TOOL ARGUMENT...`` with WORLD naming a folder that ``install`` laid out: ``objects.json``,
``pods/NAME/proc-net-*`` and ``node/*``. It knows the calls that falsifiers print and fails loudly on any other, so that
a falsifier nobody can run does not pass for one that says nothing. Objects get the defaults that an API server writes.
"""

# ruff: noqa: T201
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

TOOLS = (
    "kubectl",
    "iptables-save",
    "ip6tables-save",
    "nft",
    "conntrack",
    "ipvsadm",
    "sysctl",
    "curl",
    "cilium-dbg",
    "calico-node",
)
KINDS = {
    "pod": "Pod",
    "pods": "Pod",
    "service": "Service",
    "services": "Service",
    "endpointslice": "EndpointSlice",
    "endpointslices": "EndpointSlice",
    "endpoints": "Endpoints",
    "node": "Node",
    "nodes": "Node",
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "configmap": "ConfigMap",
}
CLUSTER_WIDE = ("Node", "Namespace")


def main(tool: str, arguments: list[str]) -> int:
    world = Path(os.environ["WORLD"])
    match tool, arguments:
        case "kubectl", _:
            return kubectl(world, arguments)
        case "iptables-save" | "ip6tables-save", []:
            return rules(world, six=tool == "ip6tables-save")
        case "nft", ["list", *_]:
            return show(world, r"(?m)^table (ip|ip6|inet) ")
        case "conntrack", ["-L", *rest]:
            return conntrack(world, rest)
        case "ipvsadm", ["-Ln"]:
            return show(world, r"IP Virtual Server version")
        case "ipvsadm", ["-Lcn"]:
            return show(world, r"IPVS connection entries")
        case "sysctl", [key]:
            return sysctl(world, key)
        case "curl", ["-s", "http://127.0.0.1:10249/metrics"]:
            return show(world, r"(?m)^kubeproxy_")
        case "cilium-dbg", ["service", "list"]:
            return show(world, r"(?m)^ID +Frontend +Service Type")
        case "calico-node", ["-bpf", "nat", "dump"]:
            return show(world, r"(?m)^\S+ port \d+ proto \d+ id \d+")
        case "cilium-dbg", ["bpf", "lb", "backends", "list"]:
            return show(world, r"(?m)^ID\s+BACKEND|^ID +")
    print(f"fake {tool}: no such call: {arguments}", file=sys.stderr)
    return 99


def state(world: Path, pattern: str) -> list[str]:
    texts = [path.read_text("utf-8", "replace") for path in sorted((world / "node").iterdir())]
    return [text for text in texts if re.search(pattern, text)]


def show(world: Path, pattern: str) -> int:
    found = state(world, pattern)
    sys.stdout.write("".join(found))
    return 0 if found else 1


def rules(world: Path, *, six: bool) -> int:
    found = [text for text in state(world, r"(?m)^\*(nat|filter)$") if (" ip6tables-save " in text) == six]
    sys.stdout.write("".join(found))
    return 0 if found else 1


def conntrack(world: Path, rest: list[str]) -> int:
    wanted = dict(zip(rest[::2], rest[1::2], strict=True))
    for text in state(world, r"(?m)^\w+ +\d+ .*src=.*dst="):
        for line in text.splitlines():
            if not line.startswith(wanted.get("-p", "")):
                continue
            first = re.search(r"dst=(\S+)", line)
            if first and first[1] == wanted.get("--orig-dst", first[1]):
                print(line)
    return 0


def sysctl(world: Path, key: str) -> int:
    for text in state(world, rf"(?m)^{re.escape(key)}\s*="):
        print(next(line for line in text.splitlines() if line.startswith(key)))
        return 0
    return 1


# --- kubectl ------------------------------------------------------------------------------------------------------


def kubectl(world: Path, arguments: list[str]) -> int:
    namespace, verb, rest = "default", "", list(arguments)
    if rest[:1] == ["-n"]:
        namespace, rest = rest[1], rest[2:]
    verb, rest = rest[0], rest[1:]
    match verb:
        case "get":
            return get(world, namespace, rest)
        case "exec":
            return run(world, rest)
        case "logs":
            return show(world, r"(?m)(CoreDNS-|plugin/)")
        case "rollout" if rest[0] == "status":
            return rollout(world, namespace, rest[1])
    print(f"fake kubectl: no such call: {arguments}", file=sys.stderr)
    return 99


def objects(world: Path) -> list[dict[str, Any]]:
    return [defaulted(one) for one in json.loads((world / "objects.json").read_text())]


def defaulted(one: dict[str, Any]) -> dict[str, Any]:
    """What the API server fills in: the protocol of every port, the namespace."""
    one["metadata"].setdefault("namespace", "default")
    if one["kind"] == "Service":
        for port in one["spec"].get("ports") or ():
            port.setdefault("protocol", "TCP")
    if one["kind"] == "EndpointSlice":
        for port in one.get("ports") or ():
            port.setdefault("name", "")
            port.setdefault("protocol", "TCP")
    if one["kind"] == "Pod":
        for container in one["spec"].get("containers") or ():
            for port in container.get("ports") or ():
                port.setdefault("protocol", "TCP")
    return one


def get(world: Path, namespace: str, rest: list[str]) -> int:
    kind, name, selector, form, fields = KINDS[rest.pop(0)], "", "", "", ""
    while rest:
        word = rest.pop(0)
        if word == "-l":
            selector = rest.pop(0)
        elif word == "-o":
            form = rest.pop(0)
        elif word == "-A":
            namespace = ""
        elif word.startswith("--field-selector="):
            fields = word.partition("=")[2]
        else:
            name = word
    wanted = dict(term.split("=", 1) for term in selector.split(",") if term)
    found = [
        one
        for one in objects(world)
        if one["kind"] == kind
        and (kind in CLUSTER_WIDE or not namespace or one["metadata"]["namespace"] == namespace)
        and (not name or one["metadata"]["name"] == name)
        and all((one["metadata"].get("labels") or {}).get(key) == value for key, value in wanted.items())
    ]
    for term in filter(None, fields.split(",")):
        key, value = term.split("!=")
        found = [one for one in found if str(at(one, key)) != value]
    if name and not found:
        print(f'Error from server (NotFound): {kind.lower()}s "{name}" not found', file=sys.stderr)
        return 1
    if form == "yaml":
        shown = found[0] if name else {"apiVersion": "v1", "kind": "List", "items": found}
        sys.stdout.write(yaml.safe_dump(shown, sort_keys=True))
    elif form.startswith("jsonpath="):
        shown = found[0] if name else {"items": found}
        sys.stdout.write(re.sub(r"\{([^}]*)\}", lambda match: jsonpath(shown, match[1]), form[len("jsonpath=") :]))
    elif form == "name":
        for one in found:
            print(f"{kind.lower()}/{one['metadata']['name']}")
    elif not found:
        print("No resources found", file=sys.stderr)
    else:
        for one in found:
            print("   ".join(row(one, wide=form == "wide")))
    return 0


def at(one: Any, path: str) -> Any:
    for key in path.split("."):
        one = (one or {}).get(key)
    return one


def jsonpath(value: Any, path: str) -> str:
    """The values at a path of kubectl's JSONPath: names, [*] and [?(@.name=="value")]; a missing key gives nothing."""
    held = [value]
    for name, wanted in re.findall(r"\.(\w+)(\[[^\]]*\])?", re.sub(r"@\.", "@", path)):
        held = [each[name] for each in held if isinstance(each, dict) and name in each]
        if wanted:
            held = [one for each in held for one in each]
        if match := re.fullmatch(r'\[\?\(@(\w+)=="([^"]*)"\)\]', wanted):
            held = [each for each in held if each.get(match[1]) == match[2]]
    return " ".join(json.dumps(each) if isinstance(each, dict | list | bool) else str(each) for each in held)


def row(one: dict[str, Any], *, wide: bool) -> list[str]:
    name, status = one["metadata"]["name"], one.get("status", {})
    if one["kind"] == "Pod":
        held = status.get("containerStatuses") or []
        count = f"{sum(bool(each.get('ready')) for each in held)}/{len(one['spec']['containers'])}"
        waiting = next(
            (each["state"]["waiting"]["reason"] for each in held if each.get("state", {}).get("waiting")), ""
        )
        leaving = "Terminating" if one["metadata"].get("deletionTimestamp") else ""
        cells = [name, count, leaving or waiting or status.get("phase", "Unknown"), "0", "5m"]
        gates = [each["conditionType"] for each in one["spec"].get("readinessGates", ())]
        met = {each["type"] for each in status.get("conditions", ()) if each["status"] == "True"}
        shown = f"{len(met.intersection(gates))}/{len(gates)}" if gates else "<none>"
        place = [status.get("podIP", "<none>"), one["spec"].get("nodeName", "<none>"), "<none>", shown]
        return [*cells, *place] if wide else cells
    if one["kind"] == "Node":
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ()))
        return [name, "Ready" if ready else "NotReady", "5m", "v1.35.4"]
    return [name, "5m"]


def run(world: Path, rest: list[str]) -> int:
    """exec POD -- cat|grep ... with the Pod's own /proc/net and /etc in place of this machine's."""
    pod, dashes, *command = rest
    assert dashes == "--", rest
    assert command[0] in ("cat", "grep"), command
    own = world / "pods" / pod
    words = [
        str(own / one.strip("/").replace("/", "-")) if one.startswith(("/proc/", "/etc/")) else one for one in command
    ]
    if not own.is_dir():
        print(f'Error from server (NotFound): pods "{pod}" not found', file=sys.stderr)
        return 1
    return subprocess.run(words, check=False).returncode


def rollout(world: Path, namespace: str, target: str) -> int:
    kind, _, name = target.partition("/")
    one = next(each for each in objects(world) if each["kind"] == KINDS[kind] and each["metadata"]["name"] == name)
    wanted, status = one["spec"].get("replicas", 1), one["status"]
    stuck = any(each["type"] == "Progressing" and each["status"] == "False" for each in status.get("conditions") or ())
    counts = (status.get("updatedReplicas", 0), status.get("availableReplicas", 0), status.get("replicas", 0))
    if stuck or counts != (wanted, wanted, wanted):
        print(f"Waiting for {kind} {name!r} rollout to finish", file=sys.stderr)
        return 1
    print(f'{kind} "{name}" successfully rolled out')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
