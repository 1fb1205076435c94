"""Tells a Corefile (CoreDNS, node-local DNS): server blocks of plugin lines.

Grammar: coredns core/dnsserver and Caddyfile v1 (coredns/caddy caddyfile/parse.go). Only recognition lives here; the
CoreDNS model parses.
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.item import Item, damaged
from svcpath.evidence.formats.text import Text

#: A server block's key: a zone with scheme and port, a snippet's name, or a template's placeholder.
_KEY = re.compile(r"[\w.*/:\[\]{}$%()-]+,?")
#: Plugins of coredns plugin.cfg v1.12 and of the Kubernetes distributions.
PLUGINS = frozenset(
    [
        "acl",
        "any",
        "auto",
        "autopath",
        "azure",
        "bind",
        "bufsize",
        "cache",
        "cancel",
        "chaos",
        "clouddns",
        "debug",
        "dns64",
        "dnssec",
        "dnstap",
        "erratic",
        "errors",
        "etcd",
        "file",
        "forward",
        "geoip",
        "grpc",
        "header",
        "health",
        "hosts",
        "import",
        "k8s_external",
        "kubernetes",
        "kubeapi",
        "loadbalance",
        "local",
        "log",
        "loop",
        "metadata",
        "metrics",
        "minimal",
        "multicluster",
        "multisocket",
        "nodecache",
        "nomad",
        "nsid",
        "pprof",
        "prometheus",
        "proxy",
        "quic",
        "ready",
        "reload",
        "rewrite",
        "root",
        "route53",
        "secondary",
        "sign",
        "template",
        "timeouts",
        "tls",
        "trace",
        "transfer",
        "tsig",
        "view",
        "whoami",
    ]
)


def _opens_block(line: str) -> bool:
    if not line.endswith("{"):
        return False
    keys = line[:-1].split()
    return bool(keys) and all(
        _KEY.fullmatch(key) and ("." in key or ":" in key or "(" in key or "$" in key) for key in keys
    )


def looks_like(text: str) -> bool:
    """Whether a text is a Corefile. A cut one counts as long as a block has begun."""
    depth = 0
    blocks = 0
    plugins = 0
    foreign = 0
    for line in text.split("\n"):
        stripped = line.split("#", 1)[0].strip() if not line.lstrip().startswith("#") else ""
        if not stripped:
            continue
        if depth == 0:
            if re.fullmatch(r"import\s+\S+.*", stripped):
                continue
            if not _opens_block(stripped):
                return False
            blocks += 1
        elif depth == 1 and stripped != "}":
            if stripped.split()[0].rstrip("{") in PLUGINS:
                plugins += 1
            else:
                foreign += 1
        depth += len(re.findall(r"(?:^|\s)\{$", stripped)) - (stripped == "}")
        if depth < 0:
            return False
    return blocks > 0 and plugins > 0 and plugins >= foreign


def is_corefile(text: Text) -> bool:
    return looks_like(text.text)


def read_corefile(text: Text) -> list[Item]:
    items = [Item(Kind.COREFILE, RawText(text.text))]
    opened = len(re.findall(r"(?m)(?:^|\s)\{\s*(?:#.*)?$", text.text))
    closed = len(re.findall(r"(?m)^\s*\}\s*(?:#.*)?$", text.text))
    if opened > closed:
        items.append(damaged("Corefile", "the last block is not closed: cut off", read="what is there"))
    return items
