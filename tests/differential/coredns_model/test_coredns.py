"""The CoreDNS model against a real CoreDNS 1.14.7: rcode, answers and AA equal for random names and types.

``SVCPATH_COREDNS_QUESTIONS`` sets how many (2000 by default), ``SVCPATH_COREDNS_SEED`` the seed.
"""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import pytest

from svcpath.models.resolvers.base import UnknownAnswer
from svcpath.models.resolvers.servers.coredns import CoreDns
from svcpath.models.resolvers.servers.corefile import parse
from tests.differential import tools
from tests.differential.coredns_model import cluster
from tests.differential.coredns_model.fakeapi import FakeApi
from tests.differential.resolvers.check import ScriptWorld
from tests.differential.resolvers.server import Script, ScriptedServer

QUESTIONS = int(os.environ.get("SVCPATH_COREDNS_QUESTIONS", "2000"))
SEED = int(os.environ.get("SVCPATH_COREDNS_SEED", "4711"))
UPSTREAM = {
    "www.example.org/A": "A:203.0.113.80,203.0.113.81",
    "www.example.org/AAAA": "AAAA:2001:db8::80",
    "nodata.example.org": "NODATA",
    "default": "A:198.51.100.1",
    "new.example.net": "A:198.51.100.9",
    "echo.ops.svc.cluster.local.cluster.local": "NODATA",
}
COREFILES = {
    "kubeadm": """\
.:PORT {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        endpoint API
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    forward . UPSTREAM
}
""",
    "bare fallthrough, pods verified": """\
.:PORT {
    kubernetes cluster.local 10.96.0.0/16 {
        endpoint API
        pods verified
        fallthrough
    }
    forward . UPSTREAM
}
""",
    "pod names, no upstream": """\
cluster.local:PORT in-addr.arpa:PORT {
    kubernetes {
        endpoint API
        endpoint_pod_names
    }
}
""",
    "two namespaces, empty services hidden": """\
.:PORT {
    kubernetes cluster.local in-addr.arpa {
        endpoint API
        namespaces ops shop
        ignore empty_service
        pods verified
    }
    forward . UPSTREAM {
        except old.example.net
    }
}
""",
    "labels": """\
.:PORT {
    kubernetes cluster.local {
        endpoint API
        labels app=web
        namespace_labels env=prod
        fallthrough svc.cluster.local
    }
    forward . UPSTREAM
}
""",
    "template, hosts, rewrite": """\
.:PORT {
    rewrite name exact old.example.net new.example.net
    template ANY AAAA cluster.local {
        rcode NOERROR
    }
    template IN A example.org {
        match ^nope\\.
        answer "{{ .Name }} 60 IN A 192.0.2.7"
        fallthrough
    }
    hosts {
        192.0.2.1 static.example.net
        2001:db8::1 static.example.net
        fallthrough
    }
    kubernetes cluster.local {
        endpoint API
    }
    forward . UPSTREAM
}
""",
    "two blocks, no endpoints": """\
(kube) {
    kubernetes {
        endpoint API
        noendpoints
    }
}
cluster.local:PORT {
    import kube
}
.:PORT {
    template ANY ANY nope.example.org {
        rcode NXDOMAIN
    }
    forward example.org UPSTREAM
}
""",
    "autopath": """\
.:PORT {
    autopath @kubernetes
    kubernetes cluster.local {
        endpoint API
        pods verified
    }
    forward . UPSTREAM
}
""",
}


def free_port() -> int:
    """A port that nothing has over UDP or TCP just now."""
    while True:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream,
        ):
            datagrams.bind(("127.0.0.1", 0))
            port = int(datagrams.getsockname()[1])
            try:
                stream.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Ended(Exception):
    """CoreDNS ended before it answered: the port was taken meanwhile, as its log says."""


@contextmanager
def answering(command: Sequence[str], corefile: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "-conf", str(corefile)], stdout=output, stderr=output)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(10)


def ask(name: str, rrtype: str, port: int) -> dns.message.Message:
    query = dns.message.make_query(f"{name}.", rrtype, use_edns=0, payload=4096)
    response, _ = dns.query.udp_with_fallback(query, "127.0.0.1", timeout=5, port=port)
    return response


def wait_until_it_answers(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            dns.query.udp(dns.message.make_query("ready.invalid.", "A"), "127.0.0.1", timeout=0.3, port=port)
        except (dns.exception.Timeout, OSError):
            time.sleep(0.05)
        else:
            return
    if process.poll() is not None:
        raise Ended
    raise RuntimeError("CoreDNS does not answer")


Seen = tuple[str, bool, tuple[tuple[str, str, str], ...]]


def real(response: dns.message.Message) -> Seen:
    answers = [
        (rrset.name.to_text().lower(), dns.rdatatype.to_text(rrset.rdtype), record.to_text().lower())
        for rrset in response.answer
        for record in rrset
    ]
    shown = tuple(sorted((n, t, "" if t == "SOA" else d) for n, t, d in answers))
    return dns.rcode.to_text(response.rcode()), bool(response.flags & dns.flags.AA), shown


def modelled(server: CoreDns, name: str, rrtype: str) -> Seen | None:
    response = server.respond(name, rrtype)
    if isinstance(response, UnknownAnswer):
        return None
    answers = [(r.name.lower(), r.type, "" if r.type == "SOA" else r.data.lower()) for r in response.answers]
    return response.rcode, response.authoritative, tuple(sorted(answers))


def started(
    running: ExitStack, command: Sequence[str], text: str, api_port: int, upstream_port: int, folder: Path
) -> tuple[int, str]:
    """CoreDNS on a port of its own, with its Corefile; another port where somebody was quicker."""
    log = folder / "log"
    for _ in range(5):
        port = free_port()
        filled = (
            text.replace("PORT", str(port))
            .replace("API", f"http://127.0.0.1:{api_port}")
            .replace("UPSTREAM", f"127.0.0.1:{upstream_port}")
        )
        corefile, log = folder / f"Corefile-{port}", folder / f"log-{port}"
        corefile.write_text(filled)
        process = running.enter_context(answering(command, corefile, log))
        try:
            wait_until_it_answers(process, port)
        except Ended:
            continue
        return port, filled
    raise RuntimeError(f"CoreDNS does not start:\n{log.read_text()}")


@pytest.mark.differential
@pytest.mark.timeout(600)
def test_the_model_answers_as_the_real_coredns_for_random_names_and_types(
    tmp_path: Path, say_in_summary: Callable[[str], None]
) -> None:
    try:
        command = tools.coredns()
    except tools.Missing as reason:
        pytest.skip(str(reason))
    source = random.Random(SEED)
    script = Script(UPSTREAM)
    upstream_port = free_port()
    upstream = ScriptedServer(("127.0.0.1",), upstream_port)
    upstream.reset(script)
    counts = {"equal": 0, "unknown": 0}
    wrong = []
    for title, text in COREFILES.items():
        made = cluster.objects(source)
        api = FakeApi(made)
        try:
            with ExitStack() as running:
                port, filled = started(running, command, text, api.port, upstream_port, tmp_path)
                model = CoreDns(
                    parse(filled), cluster.as_facts(made), ScriptWorld(script), port=str(port), client_namespace="ops"
                )
                for _ in range(QUESTIONS // len(COREFILES)):
                    name, rrtype = cluster.question(source, made)
                    expected = modelled(model, name, rrtype)
                    if expected is None:
                        counts["unknown"] += 1
                        continue
                    seen = real(ask(name, rrtype, port))
                    if seen == expected:
                        counts["equal"] += 1
                    else:
                        wrong.append(f"[{title}] {name} {rrtype}\n  model {expected}\n  real  {seen}")
        finally:
            api.close()
    lines = [
        f"CoreDNS model against CoreDNS 1.14.7, {QUESTIONS} questions, {len(COREFILES)} Corefiles, seed {SEED}",
        f"{counts['equal']} equal, {len(wrong)} different, {counts['unknown']} not judged (the model says unknown)",
        *wrong[:40],
    ]
    say_in_summary("\n".join(lines))
    assert not wrong
    assert counts["unknown"] < QUESTIONS // 20
