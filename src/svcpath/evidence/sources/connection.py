"""The HTTP session of one cluster: TLS as its kubeconfig wants it, through its proxy."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from svcpath.errors import CertificateRefused, SourceUnavailable, UsageError
from svcpath.evidence.sources.credentials import Certificate, Credentials
from svcpath.evidence.sources.kubeconfig import Cluster, decoded
from svcpath.evidence.sources.proxies import from_environment

if TYPE_CHECKING:
    import aiohttp


@dataclass
class Connection:
    """``options`` go with each request of ``session``."""

    session: aiohttp.ClientSession
    options: dict[str, Any]
    _context: ssl.SSLContext | None
    _certificate: Certificate | None

    @classmethod
    async def open(cls, cluster: Cluster, credentials: Credentials) -> Connection:
        """Raises SourceUnavailable for certificates or a proxy that can't be used, UsageError without aiohttp."""
        try:
            import aiohttp
        except ImportError as error:
            raise UsageError("a live cluster needs aiohttp: pip install 'svcpath[kube]'") from error
        context = tls_context(cluster) if cluster.server.startswith("https:") else None
        certificate = await credentials.certificate() if context is not None else None
        if context is not None and certificate is not None:
            show(context, certificate)
        # Requests and execs have limits of their own (kube_client); watches and commands last.
        connector = aiohttp.TCPConnector(limit=0, ssl=context if context is not None else True)
        options: dict[str, Any] = {}
        if proxy := proxy_of(cluster):
            options["proxy"] = proxy
        if cluster.tls_server_name:
            options["server_hostname"] = cluster.tls_server_name
        session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))
        return cls(session, options, context, certificate)

    async def refresh(self, credentials: Credentials) -> None:
        """New connections show the certificate that counts now."""
        if self._context is None or self._certificate is None:
            return
        current = await credentials.certificate()
        if current is not None and current != self._certificate:
            show(self._context, current)
            self._certificate = current

    async def close(self) -> None:
        await self.session.close()


def tls_context(cluster: Cluster) -> ssl.SSLContext:
    """Raises CertificateRefused for an authority that can't be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if cluster.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        if cluster.certificate_authority_data:
            data = decoded(cluster.certificate_authority_data, "certificate-authority-data")
            context.load_verify_locations(cadata=data.decode("ascii", "replace"))
        elif cluster.certificate_authority:
            context.load_verify_locations(cafile=cluster.certificate_authority)
        else:
            context.load_default_certs()
    except (OSError, ValueError) as error:
        raise CertificateRefused(f"the kubeconfig's certificate authority can't be used: {error}") from error
    return context


def show(context: ssl.SSLContext, certificate: Certificate) -> None:
    """Have new connections show a client certificate. OpenSSL reads files alone: they are gone at once."""
    with tempfile.TemporaryDirectory(prefix="svcpath-") as folder:
        paths = []
        for name, data in (("certificate", certificate.certificate), ("key", certificate.key)):
            path = Path(folder) / name
            path.touch(mode=0o600)
            path.write_bytes(data)
            paths.append(path)
        try:
            context.load_cert_chain(paths[0], paths[1])
        except (OSError, ValueError) as error:
            raise CertificateRefused(f"the client certificate or its key can't be used: {error}") from error


def proxy_of(cluster: Cluster) -> str:
    """The kubeconfig's proxy, else the environment's, "" for none. Raises SourceUnavailable for one of another kind."""
    proxy = cluster.proxy_url or from_environment(cluster.server, os.environ)
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise SourceUnavailable(
            f"the proxy {proxy} is neither http nor https: give such a one as proxy-url, or forward a port"
        )
    return proxy


def why_tls(error: BaseException) -> str:
    """What a TLS handshake failed at, and what to do."""
    text = str(error)
    if "certificate has expired" in text:
        return (
            "its certificate has expired: renew it on the control plane (kubeadm certs renew), and look at both clocks"
        )
    if "alert" in text.lower() and "certificate" in text.lower():
        return "it refused the client certificate, which may have expired: log in again or fetch a new kubeconfig"
    if "ostname mismatch" in text or "IP address mismatch" in text:
        return "its certificate is for another name: set tls-server-name of the cluster in the kubeconfig"
    if "CERTIFICATE_VERIFY_FAILED" in text or "certificate verify failed" in text:
        return (
            "its certificate is not signed by the kubeconfig's authority: fetch the kubeconfig again, or correct "
            f"certificate-authority ({text[:200]})"
        )
    return f"TLS failed: {text[:200]}"
