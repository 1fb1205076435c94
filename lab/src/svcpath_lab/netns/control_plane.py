"""etcd, API server, controller manager and scheduler as processes of the first node."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

from svcpath_lab.home import Home
from svcpath_lab.netns import configs
from svcpath_lab.netns.layout import Layout, url_host
from svcpath_lab.netns.nodes import Machine
from svcpath_lab.netns.pki import Authority, Pair


def issue(home: Home, layout: Layout) -> Authority:
    """Every key and certificate that the lab needs."""
    pki = Authority(home.folder / "pki").ensure()
    control_plane = layout.control_plane
    names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", control_plane.name)
    inside = f"kubernetes.default.svc.{configs.CLUSTER_DOMAIN}"
    addresses = (*control_plane.addresses, layout.api_service_address, "127.0.0.1", "::1")
    pki.issue(
        "apiserver",
        "kube-apiserver",
        alternatives=[*(f"DNS:{name}" for name in (*names, inside)), *(f"IP:{address}" for address in addresses)],
    )
    pki.issue("apiserver-kubelet-client", "kube-apiserver-kubelet-client", "system:masters")
    pki.issue("admin", "svcpath-lab-admin", "system:masters")
    pki.issue("controller-manager", "system:kube-controller-manager")
    pki.issue("scheduler", "system:kube-scheduler")
    for node in layout.nodes:
        alternatives = [f"DNS:{node.name}", *(f"IP:{address}" for address in node.addresses)]
        pki.issue(f"kubelet-{node.name}", f"system:node:{node.name}", "system:nodes", alternatives)
    return pki


def write_kubeconfig(path: Path, server: str, pki: Authority, pair: Pair) -> Path:
    """A kubeconfig with the certificates inside, so that the file can be carried elsewhere."""
    user = {
        "client-certificate-data": base64.b64encode(pair.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(pair.key.read_bytes()).decode(),
    }
    text = configs.kubeconfig(server, pki.certificate.read_bytes(), user)
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
    return path


def start_api(machine: Machine, layout: Layout, programs: Mapping[str, Path]) -> None:
    """Start etcd and the API server unless they run; the API server waits for etcd by itself."""
    node = layout.control_plane
    pki = machine.home.folder / "pki"
    etcd = "http://127.0.0.1:2379"
    policy = machine.home.folder / "audit-policy.yaml"
    policy.write_text(configs.audit_policy())
    machine.ensure_running(
        node.name,
        "etcd",
        [
            programs["etcd"],
            "--name=lab",
            "--data-dir=/var/lib/etcd",
            "--unsafe-no-fsync",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            "--listen-peer-urls=http://127.0.0.1:2380",
            "--initial-advertise-peer-urls=http://127.0.0.1:2380",
            "--initial-cluster=lab=http://127.0.0.1:2380",
            "--log-level=warn",
        ],
    )
    machine.ensure_running(
        node.name,
        "kube-apiserver",
        [
            programs["kube-apiserver"],
            f"--etcd-servers={etcd}",
            f"--bind-address={'::' if 6 in layout.versions else '0.0.0.0'}",
            f"--secure-port={configs.API_PORT}",
            f"--advertise-address={node.addresses[0]}",
            f"--service-cluster-ip-range={','.join(map(str, layout.service_ranges))}",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            f"--kubelet-client-certificate={pki / 'apiserver-kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'apiserver-kubelet-client.key'}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--service-account-issuer=https://kubernetes.default.svc.{configs.CLUSTER_DOMAIN}",
            f"--service-account-key-file={pki / 'service-accounts.pub'}",
            f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--event-ttl=1h",
            f"--audit-policy-file={policy}",
            f"--audit-log-path={machine.home.audit_log}",
            "--audit-log-maxsize=64",
            "--audit-log-maxbackup=1",
            "--v=1",
        ],
    )


def start_controllers(machine: Machine, layout: Layout, programs: Mapping[str, Path], pki: Authority) -> None:
    """Start the controller manager and the scheduler unless they run."""
    node = layout.control_plane
    keys = machine.home.folder / "pki"
    server = f"https://{url_host(node.addresses[0])}:{configs.API_PORT}"
    for name, program in (("controller-manager", "kube-controller-manager"), ("scheduler", "kube-scheduler")):
        pair = Pair(keys / f"{name}.key", keys / f"{name}.crt")
        config = write_kubeconfig(machine.folder(node.name) / f"{name}.kubeconfig", server, pki, pair)
        arguments: list[str | Path] = [
            programs[program],
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            "--v=1",
        ]
        if name == "controller-manager":
            arguments += [
                "--use-service-account-credentials=true",
                "--allocate-node-cidrs=false",
                f"--root-ca-file={keys / 'ca.crt'}",
                f"--service-account-private-key-file={keys / 'service-accounts.key'}",
                f"--service-cluster-ip-range={','.join(map(str, layout.service_ranges))}",
                f"--cluster-signing-cert-file={keys / 'ca.crt'}",
                f"--cluster-signing-key-file={keys / 'ca.key'}",
            ]
        machine.ensure_running(node.name, program, arguments)
