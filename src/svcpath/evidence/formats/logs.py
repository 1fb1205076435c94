"""Logs of CoreDNS, node-local DNS and kube-proxy, and any log in klog's layout.

klog header: k8s.io/klog/v2 (``I0102 15:04:05.000000       1 file.go:10]``); CoreDNS: plugin/pkg/log (``[INFO] ...``),
with the prefixes that `kubectl logs --timestamps --prefix` and container runtimes put before a line.
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import LogText
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.text import Text

_PREFIX = re.compile(
    r"(?:\[pod/[^\]]+\]\s+)?(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)\s+)?"
    r"(?:std(?:out|err) [FP] )?"
)
_KLOG = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ [\w./-]+\.go:\d+\] ?")
_COREDNS = re.compile(
    r"(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?\[(?:INFO|WARNING|ERROR|FATAL|DEBUG|PANIC)\] |CoreDNS-\d|linux/\w+, go\d|"
    r"[\w.-]*\.:\d+(?: on \S+)?$|maxprocs: "
)
_COREDNS_SIGN = re.compile(
    r"\[(?:INFO|WARNING|ERROR|FATAL|DEBUG)\] plugin/|CoreDNS-\d|\[(?:INFO|ERROR)\] \S+:\d+ - \d+ \"|"
    r"\[INFO\] (?:SIGTERM|Reloading)"
)
_NODE_LOCAL_SIGN = re.compile(
    r"node-cache|nodecache|node-local|NodeLocal|__PILLAR__|Added back nodelocaldns rule|nodelocaldns"
)
_KUBE_PROXY_SIGN = re.compile(
    r"kube-proxy|Using \w+ Proxier|\bproxier\.go:|server_linux\.go:|nodePortAddresses|[Ss]ervice config controller|"
    r"EndpointSlice config|endpoint slice config|KubeProxy|syncProxyRules|ipvs\b.*[Pp]roxier"
)


def _body(line: str) -> str:
    match = _PREFIX.match(line)
    return line[match.end() :] if match else line


def is_log(text: Text) -> bool:
    bodies = [_body(line) for line in text.sample if line[:1] not in ("\t", " ")]
    good = sum(1 for body in bodies if _KLOG.match(body) or _COREDNS.match(body))
    return good > 0 and good * 10 >= 6 * len(bodies)


def component(text: str) -> str:
    """Which component wrote the lines; "" if they don't tell."""
    head = text[:200_000]
    if _COREDNS_SIGN.search(head):
        return "node-local-dns" if _NODE_LOCAL_SIGN.search(head) else "coredns"
    if _NODE_LOCAL_SIGN.search(head):
        return "node-local-dns"
    if _KUBE_PROXY_SIGN.search(head):
        return "kube-proxy"
    return ""


def read_log(text: Text) -> list[Item]:
    return [Item(Kind.LOG, LogText(component=component(text.text), text=text.text))]
