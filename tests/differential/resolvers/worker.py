"""Runs probes inside its own network, mount and UTS namespace, one job (a JSON line) at a time.

Started as ``unshare -n -m -u python -m tests.differential.resolvers.worker FOLDER``. resolv.conf, hosts and nsswitch.conf of
the namespace are files of FOLDER mounted over the machine's; the machine's own stay as they are.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import dns.exception
import dns.resolver

from tests.differential.resolvers.server import Script, ScriptedServer

MOUNTED = ("resolv.conf", "hosts", "nsswitch.conf")
GRACE_SECONDS = 0.03
PROBE_SECONDS = 20


class Worker:
    def __init__(self, folder: Path, commands: dict[str, list[str]]) -> None:
        self.folder = folder
        self.commands = commands
        self.kept: dict[str, subprocess.Popen[str]] = {}
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for name in MOUNTED:
            (folder / name).write_text("")
            target = Path("/etc") / name
            if not target.exists():
                raise SystemExit(f"{target} does not exist, so nothing can be mounted over it")
            subprocess.run(["mount", "--bind", str(folder / name), str(target)], check=True)
        self.server = ScriptedServer()

    def work(self, job: dict[str, Any]) -> dict[str, Any]:
        (self.folder / "resolv.conf").write_text(job["conf"], newline="")
        (self.folder / "hosts").write_text(job["hosts"], newline="")
        (self.folder / "nsswitch.conf").write_text(job["nsswitch"], newline="")
        socket.sethostname(job["hostname"])
        self.server.reset(Script(job["actions"], job["default"], job["delays"]))
        started = time.monotonic()
        result = self._probe(job)
        milliseconds = round((time.monotonic() - started) * 1000)
        time.sleep(GRACE_SECONDS + max(job["delays"], default=0.0))
        self.server.settle()
        return {"result": result, "queries": self.server.log, "ms": milliseconds}

    def _probe(self, job: dict[str, Any]) -> Any:
        probe, name, args = job["probe"], job["name"], job["args"]
        if probe.startswith("dnspython"):
            return _dnspython(name, search=probe.endswith("search"))
        if probe == "cares-gai":
            return self._persistent(probe, {"name": name, "args": args})
        if probe == "nginx":
            return self._nginx(name)
        environment = {**os.environ, **job["variables"]}
        try:
            done = subprocess.run(
                [*self.commands[probe], *args, name],
                env=environment,
                capture_output=True,
                text=True,
                timeout=PROBE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"hung": True}
        if done.returncode < 0:
            return {"rc": done.returncode}
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"unreadable": (done.stdout + done.stderr)[-200:], "rc": done.returncode}

    def _persistent(self, probe: str, job: dict[str, Any]) -> Any:
        process = self.kept.get(probe)
        if process is None or process.poll() is not None:
            process = subprocess.Popen(self.commands[probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.kept[probe] = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def _nginx(self, name: str) -> Any:
        """A request whose upstream is known at run time only; the error log says what the resolver made of it."""
        log = self.folder / "error.log"
        if "nginx" not in self.kept:
            conf = self.folder / "nginx.conf"
            conf.write_text(_NGINX.format(folder=self.folder))
            self.kept["nginx"] = subprocess.Popen(
                [*self.commands["nginx"], "-c", str(conf), "-p", str(self.folder)], text=True
            )
            _wait_for(("127.0.0.1", 8080))
        start = log.stat().st_size if log.exists() else 0
        with socket.create_connection(("127.0.0.1", 8080), timeout=20) as connection:
            connection.sendall(f"GET /{name} HTTP/1.0\r\n\r\n".encode())
            while connection.recv(4096):
                pass
        text = log.read_bytes()[start:].decode(errors="replace")
        failed = re.search(r"(\S+ could not be resolved \(\d+: [^)]*\))", text)
        if failed:
            return {"ok": False, "err": failed.group(1)}
        addresses = re.findall(r"connect\(\) to (\S+):81 failed", text)
        return {"ok": True, "addrs": [address.strip("[]") for address in addresses]}


_NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    resolver 127.0.0.1 valid=1s ipv6=on;
    resolver_timeout 2s;
    server {{
        listen 127.0.0.1:8080;
        location ~ ^/(?<target>.*)$ {{ proxy_pass http://$target:81/; }}
    }}
}}
"""


def _wait_for(address: tuple[str, int]) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            socket.create_connection(address, timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit(f"nothing listens on {address}")


def _dnspython(name: str, *, search: bool) -> dict[str, Any]:
    try:
        resolver = dns.resolver.Resolver()
        answers = resolver.resolve_name(name, search=search, lifetime=1.0)
        return {"ok": True, "addrs": list(answers.addresses())}
    except (dns.exception.DNSException, ValueError) as error:
        return {"ok": False, "err": f"{type(error).__name__}: {error}"}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    folder = Path(sys.argv[1])
    worker = Worker(folder, json.loads(sys.argv[2]))
    _say("ready")
    for line in sys.stdin:
        _say(json.dumps(worker.work(json.loads(line))))
    for process in worker.kept.values():
        process.terminate()


if __name__ == "__main__":
    main()
