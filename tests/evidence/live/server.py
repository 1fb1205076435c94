"""An API server on 127.0.0.1 that serves a recording, with the troubles a test asks for.

Lists are filtered by namespace, label and name, and paged; an exec answers the looks of a script with canned text, as a
container would. ``trouble`` decides for a path: None serves it, a number answers that status, "slow" never answers, "cut"
breaks off in the body, "garbage" sends what is no JSON.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Any

from aiohttp import web

from svcpath.evidence.sources.recordings import recording_files

Trouble = Callable[[str, int], "int | str | None"]
_PLURALS = {
    "Service": "services",
    "EndpointSlice": "endpointslices",
    "Endpoints": "endpoints",
    "Pod": "pods",
    "Node": "nodes",
    "Event": "events",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkpolicies",
    "Deployment": "deployments",
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "ConfigMap": "configmaps",
}
_MARK = re.compile(r"printf '\\n(\w{16}) \+ %s\\n' (\S+);")


def recorded(mode: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Objects and texts of a shipped recording."""
    files = {name: gzip.decompress(data).decode() for name, data in recording_files(mode).items()}
    objects: list[dict[str, Any]] = []
    for name, text in files.items():
        if name.endswith(".json.gz") and not name.endswith("nft.json.gz"):
            value = json.loads(text)
            objects.extend(value.get("items", [value]))
    return objects, {name.removesuffix(".gz"): text for name, text in files.items()}


@dataclass
class Api:
    objects: list[dict[str, Any]]
    #: look of a script -> (text, exit code), by Pod name; "" for every Pod.
    looks: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    trouble: Trouble = lambda path, count: None
    exec_trouble: str = ""
    #: Pods in which a command begins and nothing comes of it, as on a node that is cut off.
    silent: frozenset[str] = frozenset()
    page: int = 500
    date: float = 0.0
    jobs: list[dict[str, Any]] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    def kubeconfig(self, folder: Path) -> str:
        path = folder / "kubeconfig"
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "scripted",
                    "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
                    "users": [{"name": "u", "user": {"token": "scripted-token"}}],
                    "contexts": [
                        {"name": "scripted", "context": {"cluster": "c", "user": "u", "namespace": "service-ops"}}
                    ],
                }
            )
        )
        return str(path)

    @property
    def execs(self) -> list[str]:
        return [path for method, path in self.seen if path.endswith("/exec")]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        count = sum(1 for _, seen in self.seen if seen == path)
        self.seen.append((request.method, path))
        if path.endswith("/exec"):
            return await self._exec(request)
        trouble = self.trouble(path, count)
        headers = {"Date": formatdate(self.date or time(), usegmt=True)}
        if trouble == "slow":
            await asyncio.sleep(3600)
        if isinstance(trouble, int):
            refusal = {"kind": "Status", "status": "Failure", "message": f"scripted {trouble}", "code": trouble}
            return web.json_response(refusal, status=trouble, headers=headers)
        if trouble == "garbage":
            return web.Response(text='{"kind": ["', headers=headers)
        if "/batch/v1/" in path:
            return web.json_response(await self._job(request), headers=headers)
        if path == "/version":
            return web.json_response({"gitVersion": "v1.35.4"}, headers=headers)
        if path.endswith("/log"):
            return web.Response(text=self.looks.get("", {}).get("log", ("", 0))[0], headers=headers)
        body = self._answer(request)
        if body is None:
            return web.json_response({"kind": "Status", "message": "not found"}, status=404, headers=headers)
        if trouble == "cut":
            response = web.StreamResponse(headers={**headers, "Content-Length": "1000000"})
            await response.prepare(request)
            await response.write(json.dumps(body).encode()[:500])
            if request.transport is not None:
                request.transport.close()
            return response
        return web.json_response(body, headers=headers)

    async def _job(self, request: web.Request) -> dict[str, Any]:
        """A Job whose Pod runs at once; deleting it takes the Pod along."""
        if request.method == "DELETE":
            name = request.path.rpartition("/")[2]
            self.objects = [
                one for one in self.objects if (one["metadata"].get("labels") or {}).get("job-name") != name
            ]
            return {"kind": "Status", "status": "Success"}
        job: dict[str, Any] = await request.json()
        name, spec = job["metadata"]["name"], job["spec"]["template"]["spec"]
        self.jobs.append(job)
        self.objects.append(
            {
                "kind": "Pod",
                "apiVersion": "v1",
                "metadata": {"name": f"{name}-x", "namespace": "kube-system", "labels": {"job-name": name}},
                "spec": spec,
                "status": {"phase": "Running"},
            }
        )
        self.looks[f"{name}-x"] = {"nft": ("table ip kube-proxy {\n}\n", 0), "iptables-save": ("", 0)}
        return job

    def _answer(self, request: web.Request) -> dict[str, Any] | None:
        match = re.fullmatch(r"/(?:api|apis/[^/]+)/v1(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?", request.path)
        if match is None:
            return None
        namespace, plural, name = match.groups()
        held = [
            one
            for one in self.objects
            if _PLURALS.get(one["kind"]) == plural
            and (not namespace or one["metadata"].get("namespace") == namespace)
            and _selected(one, request.query.get("labelSelector", ""))
        ]
        if name:
            return next((one for one in held if one["metadata"]["name"] == name), None)
        start = int(request.query.get("continue") or 0)
        size = min(self.page, int(request.query.get("limit") or 10**9))
        items = [{key: value for key, value in one.items() if key not in ("kind", "apiVersion")} for one in held]
        kind = next((kind for kind, known in _PLURALS.items() if known == plural), "Unknown")
        group = request.path.split("/")[2] + "/v1" if request.path.startswith("/apis") else "v1"
        more = {"continue": str(start + size)} if start + size < len(items) else {}
        return {"kind": f"{kind}List", "apiVersion": group, "metadata": more, "items": items[start : start + size]}

    async def _exec(self, request: web.Request) -> web.StreamResponse:
        if self.exec_trouble == "forbidden":
            return web.json_response({"message": "no"}, status=403)
        if self.exec_trouble == "unreachable node":
            said = "error dialing backend: dial tcp 172.30.0.12:10250: connect: no route to host"
            return web.json_response({"kind": "Status", "message": said, "code": 500}, status=500)
        socket = web.WebSocketResponse(protocols=("v5.channel.k8s.io", "v4.channel.k8s.io"))
        await socket.prepare(request)
        command = request.query.getall("command")
        self.commands.append(command)
        pod = request.path.split("/")[6]
        if self.exec_trouble == "slow" or pod in self.silent:
            await socket.send_bytes(b"\x01")
            await asyncio.sleep(3600)
        if self.exec_trouble == "silent kubelet":
            told = "Internal error occurred: error sending request"
            url = f"https://172.30.0.12:10250/exec/{pod}?{request.query_string}"
            said = f'{told}: Post "{url}": dial tcp 172.30.0.12:10250: i/o timeout'
            failure = {"status": "Failure", "reason": "InternalError", "message": said}
            await socket.send_bytes(b"\x03" + json.dumps(failure).encode())
            await socket.close()
            return socket
        if self.exec_trouble == "no shell" and command[0] == "sh":
            refused = {
                "status": "Failure",
                "reason": "InternalError",
                "message": 'error executing command in container: exec: "sh": executable file not found in $PATH',
            }
            await socket.send_bytes(b"\x03" + json.dumps(refused).encode())
            await socket.close()
            return socket
        text, code = self._run(pod, command)
        if self.exec_trouble == "cut":
            await socket.send_bytes(b"\x01" + text[: len(text) // 2].encode())
            if request.transport is not None:
                request.transport.close()
            return socket
        data = text.encode()
        for start in range(0, len(data), 30_000):
            await socket.send_bytes(b"\x01" + data[start : start + 30_000])
        status: dict[str, Any] = {"status": "Success"}
        if code:
            causes = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
            status = {"status": "Failure", "reason": "NonZeroExitCode", "details": causes}
        await socket.send_bytes(b"\x03" + json.dumps(status).encode())
        await socket.close()
        return socket

    def _run(self, pod: str, command: list[str]) -> tuple[str, int]:
        known = {**self.looks.get("", {}), **self.looks.get(pod, {})}
        if command[0] != "sh":
            return known.get(" ".join(command), ("", 127))
        out = ""
        for word, name in _MARK.findall(command[2]):
            text, code = known.get(name, ("", 127))
            if name == "dial" and text:
                text = text.replace(
                    "ARGUMENTS", "\n".join(f"{url}\tok\t200\t10.244.1.9\t40000\t0.001\t" for url in command[4:])
                )
            out += f"\n{word} + {name}\n{text}\n{word} = {code}\n"
        return out, 0


def _selected(one: dict[str, Any], selector: str) -> bool:
    labels = one["metadata"].get("labels") or {}
    among = re.fullmatch(r"(\S+) in \((.*)\)", selector)
    if among:
        return labels.get(among[1]) in among[2].split(",")
    return all(labels.get(part.partition("=")[0]) == part.partition("=")[2] for part in selector.split(",") if part)


@contextmanager
def serving(api: Api) -> Iterator[Api]:
    """Serve on a port of 127.0.0.1 until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.AppRunner:
        application = web.Application()
        application.router.add_route("*", "/{tail:.*}", api.handle)
        runner = web.AppRunner(application, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        api.port = runner.addresses[0][1]
        return runner

    async def stop(runner: web.AppRunner) -> None:
        await runner.cleanup()
        mine = asyncio.current_task()
        rest = [task for task in asyncio.all_tasks() if task is not mine]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield api
    finally:
        asyncio.run_coroutine_threadsafe(stop(runner), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
