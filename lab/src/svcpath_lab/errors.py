"""The error that the lab raises on purpose; the rest of the tree is svcpath's."""

from __future__ import annotations

from svcpath.errors import EvidenceError


class LabError(EvidenceError):
    """The practice cluster could not be brought up, reached or changed: exit 4. The message says what to do next."""
