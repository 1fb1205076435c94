"""Every error svcpath raises on purpose, as one tree.

    SvcpathError
    ├── UsageError              the call itself can't be carried out: exit 2
    │   └── UnknownTarget       no such Service, Pod, node or code in the evidence; lists what there is
    ├── EvidenceError           evidence that can't be read: exit 4
    │   ├── FormatError         text or bytes that don't parse, with line and column
    │   ├── TooLarge            above the stated limit of its kind
    │   ├── SourceUnavailable   a cluster, node or file that can't be reached
    │   │   ├── ClusterUnreachable   no connection to the API server
    │   │   ├── CertificateRefused   its certificate, or the client's, is not accepted
    │   │   └── CredentialsRefused   no valid credentials, or the API server takes them for no one's (401)
    │   └── LabError            of svcpath-lab: the practice cluster can't do what was asked
    └── ModelError              a model was given what it can't work on (a caller's mistake)

Each message says what to do next in one line; originals are chained with ``from``.
"""

from __future__ import annotations


class SvcpathError(Exception):
    """Root of all errors that svcpath raises on purpose."""


class UsageError(SvcpathError):
    """The call can't be carried out as it was given."""


class UnknownTarget(UsageError):
    """What was named is not in the evidence; the message lists what is."""


class EvidenceError(SvcpathError):
    """Evidence that can't be read, or only in part."""


class FormatError(EvidenceError):
    """Text that does not parse.

    ``line`` and ``column`` count from 1; 0 means unknown (binary input, or an error of the whole).
    """

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        super().__init__(message)

    def __str__(self) -> str:
        place = self.path
        if self.line:
            place += f":{self.line}" if place else f"line {self.line}"
            if self.column:
                place += f":{self.column}"
        return f"{place}: {self.message}" if place else self.message


class TooLarge(EvidenceError):
    """Input above the limit that its kind states."""


class SourceUnavailable(EvidenceError):
    """A source that can't be reached at all: API server, node, directory."""


class ClusterUnreachable(SourceUnavailable):
    """No connection to the API server: a wrong address, a firewall, a proxy, or it is down."""


class CertificateRefused(SourceUnavailable):
    """A certificate of the connection is not accepted: a wrong authority or name, expired, or it can't be read."""


class CredentialsRefused(SourceUnavailable):
    """The kubeconfig gives no valid credentials, or the API server takes them for no one's (401)."""


class ModelError(SvcpathError):
    """A model was called with what it can't work on."""
