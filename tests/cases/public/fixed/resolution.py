"""Fixed variants of the resolver and DNS cases (01 to 16)."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.public.fixed.edit import Files, replace


def _nxdomain(files: Files) -> None:
    replace(
        files,
        "dns-answers.txt",
        "www.example.org.corp.example A NOERROR (empty)",
        "www.example.org.corp.example A NXDOMAIN -",
    )
    replace(files, "resolv.conf", " corp.example", "")


def _no_dot(files: Files) -> None:
    replace(files, "resolv.conf", " cluster.local .", " cluster.local")


def _full_name(files: Files) -> None:
    replace(files, "resolv.conf", "ndots:1", "ndots:5")


def _usual_search(files: Files) -> None:
    replace(files, "resolv.conf", " local corp.example", "")
    files["dns-answers.txt"] = (
        "# name type rcode answer\n"
        + "".join(
            f"api.partner.example.{suffix} A NXDOMAIN -\n"
            for suffix in ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local")
        )
        + "api.partner.example A NOERROR 203.0.113.7\n"
    )


def _finite_cache(files: Files) -> None:
    files["jvm-cases.json"] = '[{"flags": ["-Dsun.net.inetaddr.ttl=30"], "securityManager": false}]'
    replace(files, "client-evidence.txt", "10.244.1.4:8500", "10.244.3.9:8500")


def _quick(files: Files) -> None:
    files["lookup-times.txt"] = "0.002\n0.001\n0.003\n0.002\n"
    files["conntrack-S.txt"] = (
        "cpu=0   \tfound=0 invalid=12 insert=0 insert_failed=0 drop=0 early_drop=0 error=0 search_restart=431\n"
    )


def _tcp_port(files: Files) -> None:
    files["services.yaml"] = files["services.yaml"].rstrip("\n") + (
        "\n  - name: dns-tcp\n    protocol: TCP\n    port: 53\n    targetPort: 53\n"
    )
    del files["node-local.log"]
    files["slice.yaml"] = (
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: upstream-a\n  namespace: kube-system\n"
        "  labels:\n    kubernetes.io/service-name: kube-dns-upstream\naddressType: IPv4\n"
        "endpoints:\n- addresses:\n  - 10.244.0.5\n  conditions:\n    ready: true\n"
        "ports:\n- name: dns\n  protocol: UDP\n  port: 53\n- name: dns-tcp\n  protocol: TCP\n  port: 53\n"
    )


def _real_upstream(files: Files) -> None:
    replace(files, "node-resolv.conf", "127.0.0.53", "192.0.2.53")
    files["coredns.log"] = ".:53\n[INFO] plugin/reload: Running configuration SHA512 = 0\nCoreDNS-1.12.1\n"
    files["kube-dns-slice.yaml"] = (
        files["kube-dns-slice.yaml"].replace("ready: false", "ready: true").replace("serving: false", "serving: true")
    )


def _never_denied(files: Files) -> None:
    files["timeline.txt"] = "t=0 endpoint in slice\nt=2 query ring-0.ring -> NOERROR 10.244.1.8\n"


def _same_port(files: Files) -> None:
    replace(files, "service.yaml", "targetPort: 443", "targetPort: 80")


def _own_port(files: Files) -> None:
    replace(files, "query.txt", "8200", "32001")


FIX: dict[str, Callable[[Files], None]] = {
    "01-musl-search-nodata-stops": _nxdomain,
    "03-search-single-dot-musl": _no_dot,
    "05-ndots1-fallback-differs": _full_name,
    "07-ndots5-extra-search-amplification": _usual_search,
    "08-jvm-dns-cache-forever": _finite_cache,
    "09-conntrack-race-5s": _quick,
    "10-nodelocal-cluster-zone-upstream": _tcp_port,
    "11-coredns-loop-systemd-resolved": _real_upstream,
    "13-headless-negative-cache-30s": _never_denied,
    "14-externalname-port-not-mapped": _same_port,
    "16-headless-port-not-mapped": _own_port,
}
