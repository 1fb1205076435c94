"""Text that stays raw: each resolver, each data-plane dialect parses its own, since they differ in just that."""

from __future__ import annotations

import enum

import msgspec


class RawText(msgspec.Struct, frozen=True, weakref=True):
    """The text of one file or command output, decoded and otherwise untouched."""

    text: str


class LogText(msgspec.Struct, frozen=True, kw_only=True):
    """A component's log. ``component`` is "coredns", "kube-proxy", "node-local-dns", or "" if the lines don't tell."""

    component: str
    text: str


class Unplaced(msgspec.Struct, frozen=True, kw_only=True):
    """A file that no format recognises, and why (its first bytes in words)."""

    why: str
    size: int


class Harm(enum.Enum):
    """What the damage of a file took away."""

    LOST = "lost"  #: lines, documents or the end: what was looked for may have stood there
    REPLACED = "replaced"  #: single bytes that are no text; everything else reads as it was
    FOREIGN = "foreign"  #: nothing: there is more in the file, which is no evidence of a cluster


class Damaged(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a known format that broke off or holds lines that don't parse; what could be read was kept.

    ``line`` counts from 1 (0: unknown), ``read`` says what was kept, e.g. "3 of 4 documents".
    """

    kind: str
    why: str
    line: int = 0
    read: str = ""
    harm: Harm = Harm.LOST


class SameNameObjects(msgspec.Struct, frozen=True, kw_only=True):
    """One name that stands for two objects of the cluster: evidence of two clusters, or from before and after it was
    recreated. ``what`` tells them apart ("uid", "clusterIP"); ``others`` are the files of the second one."""

    kind: str
    namespace: str
    name: str
    what: str
    first: str
    second: str
    others: tuple[str, ...] = ()
