"""Fixed variants of the cases about Services, slices and ports (17 to 36)."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.public.fixed.edit import Files, endpoint
from tests.cases.public.fixed.edit import replace as _replace


def _selector(files: Files) -> None:
    _replace(files, "service.yaml", "    component: controller", "    app.kubernetes.io/component: controller")
    _replace(files, "slice.yaml", "endpoints: []\n", endpoint("10.244.1.11", "gateway-1"))
    del files["iptables-save.txt"]


def _add_slice(files: Files) -> None:
    files["slice.yaml"] = (
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: tsdb-1\n  namespace: shop\n"
        "  labels:\n    kubernetes.io/service-name: tsdb\naddressType: IPv4\n"
        + endpoint("10.244.1.30", "tsdb-0")
        + "ports:\n- name: pg\n  protocol: TCP\n  port: 5432\n"
    )


def _name_port(files: Files) -> None:
    _replace(files, "pods.yaml", "    - containerPort: 80\n", "    - containerPort: 80\n      name: http\n")
    _replace(files, "slice.yaml", "ports: null", "ports:\n- name: http\n  protocol: TCP\n  port: 80")


def _unique_port_name(files: Files) -> None:
    _replace(
        files,
        "pods.yaml",
        "    - name: grpc\n      containerPort: 9002",
        "    - name: admin\n      containerPort: 9002",
    )


def _slice_port_name(files: Files) -> None:
    _replace(files, "slice.yaml", "- name: mysql", "- name: ''")
    del files["iptables-save.txt"]


def _drop_mirrored(files: Files) -> None:
    documents = files["slices.yaml"].split("---\n")
    files["slices.yaml"] = "---\n".join(document for document in documents if "pay-mirror" not in document)
    del files["iptables-save.txt"]


def _mirror(files: Files) -> None:
    _replace(files, "endpoints.yaml", "skip-mirror: 'true'", "skip-mirror: 'false'")
    files["slice.yaml"] = (
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: legacy-x\n  namespace: shop\n"
        "  labels:\n    kubernetes.io/service-name: legacy\n"
        "    endpointslice.kubernetes.io/managed-by: endpointslicemirroring-controller.k8s.io\naddressType: IPv4\n"
        "endpoints:\n- addresses:\n  - 10.118.10.1\n  conditions:\n    ready: true\n"
        "ports:\n- protocol: TCP\n  port: 443\n"
    )


def _no_ghost(files: Files) -> None:
    documents = files["slices.yaml"].split("---\n")
    files["slices.yaml"] = "---\n".join(document for document in documents if "reuse-new" in document)


def _second_port(files: Files) -> None:
    from tests.fixtures.chain_names import endpoint_chain

    service = "shop/hn:http"
    first = endpoint_chain(service, "tcp", "192.168.10.4:8080")
    second = endpoint_chain(service, "tcp", "192.168.10.4:8081")
    lines = []
    for line in files["iptables-save.txt"].splitlines():
        if line.startswith(f":{first} "):
            lines += [line, line.replace(first, second)]
        elif line.endswith(f"-j {first}"):
            chance = line.replace(f"-j {first}", f"-m statistic --mode random --probability 0.50000000000 -j {first}")
            lines += [chance, line.replace(first, second).replace(":8080", ":8081")]
        elif line.startswith(f"-A {first} "):
            lines.append(line)
            if "DNAT" in line:
                masquerade = lines[-2].replace(first, second)
                lines += [masquerade, line.replace(first, second).replace(":8080", ":8081")]
        else:
            lines.append(line)
    files["iptables-save.txt"] = "\n".join(lines) + "\n"


def _bind_any(files: Files) -> None:
    _replace(files, "proc-net-tcp.txt", "0100007F:C3B9", "00000000:C3B9")
    _replace(files, "ss.txt", "127.0.0.1:50105", "  0.0.0.0:50105")


def _bind_both(files: Files) -> None:
    files["proc-net-tcp6.txt"] += (
        "   0: 00000000000000000000000000000000:1402 00000000000000000000000000000000:0000 0A 00000000:00000000 "
        "00:00000000 00000000  1000        0 41001 1 0000000000000000 100 0 0 10 0\n"
    )


def _give_family(files: Files) -> None:
    _replace(files, "pods.yaml", "  - ip: 10.244.1.91\n", "  - ip: 10.244.1.91\n  - ip: fd00:10:244:1::5b\n")
    _replace(files, "slice.yaml", "endpoints: []\n", endpoint("fd00:10:244:1::5b", "v6-1"))


FIX: dict[str, Callable[[Files], None]] = {
    "17-selector-label-mismatch": _selector,
    "18-service-without-selector-no-endpoints": _add_slice,
    "19-named-targetport-missing": _name_port,
    "22-named-port-twice-in-pod": _unique_port_name,
    "23-manual-slice-port-name-mismatch": _slice_port_name,
    "25-mirrored-slice-stale": _drop_mirrored,
    "27-endpoints-without-slice": _mirror,
    "29-pod-ip-reused-ghost-endpoint": _no_ghost,
    "31-same-ip-different-port-hostnetwork": _second_port,
    "32-listen-on-loopback": _bind_any,
    "34-dual-stack-app-binds-ipv4-only": _bind_both,
    "35-service-family-without-matching-pod-ip": _give_family,
}
