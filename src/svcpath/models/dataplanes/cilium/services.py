"""One ServiceTable of what the agent or the map says, whichever of the two it is and however it was printed."""

from __future__ import annotations

from svcpath.errors import FormatError
from svcpath.models.dataplanes.cilium.held import FrontendRead, Key, entries_of
from svcpath.models.dataplanes.cilium.service_json import read_json
from svcpath.models.dataplanes.cilium.service_text import read_text
from svcpath.models.dataplanes.table import Dialect, NotUnderstood, ServiceTable


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read `cilium-dbg service list` or `cilium-dbg bpf lb list`, as text or with -o json.

    Raises FormatError when it is neither.
    """
    frontends: dict[Key, FrontendRead] = {}
    not_understood: list[NotUnderstood] = []
    start = text.lstrip()[:1]
    if start in ("[", "{"):
        read_json(text, frontends, not_understood)
    else:
        read_text(text, frontends, not_understood)
    if not frontends and not_understood:
        first = not_understood[0]
        raise FormatError("neither cilium-dbg service list nor bpf lb list", line=first.line)
    return ServiceTable(
        dialect=Dialect.CILIUM,
        frontends=entries_of(frontends),
        node=node,
        node_addresses=node_addresses,
        not_understood=tuple(not_understood),
        source=source,
        families=frozenset(6 if ":" in frontend.address else 4 for frontend, _ in frontends) | {4},
    )
