"""Keys and certificates of a lab's cluster, made with openssl(1): one authority, one certificate per component.

Names and groups are those that Kubernetes' RBAC knows (system:node:NAME in system:nodes, system:masters, ...).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from svcpath_lab import command

_DAYS = "3650"


@dataclass(frozen=True, slots=True)
class Pair:
    """A private key and its certificate."""

    key: Path
    certificate: Path


@dataclass(frozen=True, slots=True)
class Authority:
    """The lab's certificate authority, in a folder that only root reads."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.crt"

    def ensure(self) -> Authority:
        """Make the authority and the key for service account tokens, unless they are there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if not self.certificate.is_file():
            _key(self.folder / "ca.key")
            _certificate(
                ["req", "-x509", "-new", "-key", self.folder / "ca.key", "-days", _DAYS, "-subj", "/CN=svcpath lab"],
                self.certificate,
            )
        if not (self.folder / "service-accounts.pub").is_file():
            _key(self.folder / "service-accounts.key")
            key = self.folder / "service-accounts.key"
            _certificate(["ec", "-in", key, "-pubout"], self.folder / "service-accounts.pub")
        return self

    def issue(self, name: str, common_name: str, group: str = "", alternatives: Sequence[str] = ()) -> Pair:
        """The pair called ``name``, issued unless it is there. ``alternatives`` as in "DNS:localhost", "IP:127.0.0.1"."""
        pair = Pair(self.folder / f"{name}.key", self.folder / f"{name}.crt")
        if pair.certificate.is_file():
            return pair
        _key(pair.key)
        subject = (f"/O={group}" if group else "") + f"/CN={common_name}"
        extensions = "keyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n"
        if alternatives:
            extensions += f"subjectAltName={','.join(alternatives)}\n"
        request = command.run(["openssl", "req", "-new", "-key", pair.key, "-subj", subject])
        with tempfile.NamedTemporaryFile("w", suffix=".ext") as file:
            file.write(extensions)
            file.flush()
            _certificate(
                [
                    *("x509", "-req", "-CA", self.certificate, "-CAkey", self.folder / "ca.key", "-days", _DAYS),
                    *("-set_serial", f"0x{int.from_bytes(os.urandom(15), 'big'):x}", "-extfile", file.name),
                ],
                pair.certificate,
                request.out,
            )
        return pair


def _key(path: Path) -> None:
    command.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path], hint=_HINT)
    path.chmod(0o600)


def _certificate(arguments: Sequence[str | Path], path: Path, stdin: str | None = None) -> None:
    beside = path.with_suffix(".new")
    command.run(["openssl", *arguments, "-out", beside], stdin=stdin, hint=_HINT)
    beside.replace(path)


_HINT = "the netns lab needs openssl on PATH"
