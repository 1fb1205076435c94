"""Kernel settings that decide whether a Service works: what each value means for the data plane in use.

Documentation/networking/ipvs-sysctl.rst, ip-sysctl.rst and nf_conntrack-sysctl.rst of the kernel; commit f0a5e4d7a594
(5.9) ended the dropped SYN of conn_reuse_mode 1 with connection tracking.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from svcpath.evidence.facts.node import HairpinModes, Sysctls
from svcpath.models.dataplanes.table import Dialect

_RELEASE = re.compile(r"(\d+)\.(\d+)")
_NEARLY_FULL = 0.95
#: A full table is read a few entries below its limit: one that ends makes room until the next packet takes it. A
#: thousandth of the limit is no room.
_ROOM = 1000


class Weight(enum.Enum):
    """``BREAKS``: connections fail by it. ``DELAYS``: they come late. ``RISK``: it depends on the set-up.
    ``FINE``: looked at, and as it should be."""

    BREAKS = "breaks"
    DELAYS = "delays"
    RISK = "risk"
    FINE = "fine"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement. ``wanted`` is the value that would be right, "" where there is no single one; ``drops`` that the node
    drops packets of new connections by it, its own too."""

    key: str
    value: str
    weight: Weight
    says: str
    wanted: str = ""
    drops: bool = False


class _Switch(NamedTuple):
    """A setting that should not be 0: how much it matters if it is, and what either value says."""

    key: str
    weight: Weight
    off: str
    on: str


_NO_DESTINATION = _Switch(
    "net.ipv4.vs.expire_nodest_conn",
    Weight.RISK,
    off="connections to a removed real server hang until they time out instead of being reset",
    on="connections to a removed real server end at once",
)
_QUIESCENT = _Switch(
    "net.ipv4.vs.expire_quiescent_template",
    Weight.RISK,
    off="would keep clients of a Service with affinity on a server of weight 0",
    on="a pin to a server of weight 0 ends",
)
_QUIESCENT_PINNED = _QUIESCENT._replace(
    weight=Weight.BREAKS,
    off="a client pinned by affinity stays with a real server of weight 0, and each try renews the pin",
)
_FORWARDING = _Switch(
    "net.ipv4.ip_forward",
    Weight.BREAKS,
    off="the node forwards nothing: no packet of a Pod or from outside reaches a backend elsewhere",
    on="the node forwards",
)
_FORWARDING6 = _Switch(
    "net.ipv6.conf.all.forwarding",
    Weight.RISK,
    off="the node forwards no IPv6",
    on="the node forwards IPv6",
)
_BRIDGE = _Switch(
    "net.bridge.bridge-nf-call-iptables",
    Weight.BREAKS,
    off="packets between Pods on one bridge pass no netfilter: the answer of a backend on the same node is not "
    "translated back",
    on="bridged packets pass netfilter",
)


def kernel_release(values: Iterable[str]) -> tuple[int, int] | None:
    """(4, 15) of "4.15.0-213-generic"; the first that reads so."""
    for text in values:
        found = _RELEASE.match(text.strip())
        if found is not None:
            return int(found.group(1)), int(found.group(2))
    return None


def judge(
    sysctls: Sysctls,
    dialect: Dialect | None,
    *,
    kernel: tuple[int, int] | None = None,
    affinity: bool = False,
    bridged: bool = False,
) -> tuple[Setting, ...]:
    """What the given settings do to Services under ``dialect``. Settings that are not given are not judged.

    ``affinity``: some Service in question has ClientIP affinity. ``bridged``: Pods are connected to a Linux bridge.
    """
    values = {key: value.strip() for key, value in sysctls.values.items()}
    kernel = kernel or kernel_release([values.get("kernel.osrelease", "")])
    settings: list[Setting | None] = []
    if dialect is Dialect.IPVS:
        settings += [_reuse(values, kernel), _switch(values, _NO_DESTINATION)]
        settings.append(_switch(values, _QUIESCENT_PINNED if affinity else _QUIESCENT))
    settings += [
        _switch(values, _FORWARDING),
        _switch(values, _FORWARDING6),
        *_reverse_path(values),
        _conntrack(values),
    ]
    if bridged:
        settings.append(_switch(values, _BRIDGE))
    return tuple(setting for setting in settings if setting is not None)


def _reuse(values: dict[str, str], kernel: tuple[int, int] | None) -> Setting | None:
    key = "net.ipv4.vs.conn_reuse_mode"
    value = values.get(key)
    if value is None:
        return None
    tracked = values.get("net.ipv4.vs.conntrack", "1") != "0"
    if value == "0":
        if kernel is not None and kernel >= (5, 9):
            says = "with 0 a reused source port goes to the old real server, also one of weight 0"
            return Setting(key=key, value=value, weight=Weight.RISK, says=says, wanted="1")
        says = "no SYN is dropped on a reused source port; such a connection may go to a removed real server"
        return Setting(key=key, value=value, weight=Weight.FINE, says=says)
    if not tracked:
        return Setting(
            key=key, value=value, weight=Weight.FINE, says="without IPVS connection tracking nothing is dropped"
        )
    if kernel is None:
        says = "before kernel 5.9 the SYN of a reused source port is dropped and sent again after 1 s"
        return Setting(key=key, value=value, weight=Weight.RISK, says=says)
    if kernel < (5, 9):
        says = (
            f"kernel {kernel[0]}.{kernel[1]} drops the first SYN on a reused source port; the client sends it again "
            "after 1 s"
        )
        return Setting(key=key, value=value, weight=Weight.DELAYS, says=says, wanted="0")
    return Setting(key=key, value=value, weight=Weight.FINE, says="harmless from kernel 5.9 on")


def _switch(values: dict[str, str], switch: _Switch) -> Setting | None:
    value = values.get(switch.key)
    if value is None:
        return None
    if value == "0":
        return Setting(key=switch.key, value=value, weight=switch.weight, says=switch.off, wanted="1")
    return Setting(key=switch.key, value=value, weight=Weight.FINE, says=switch.on)


def _reverse_path(values: dict[str, str]) -> list[Setting]:
    """The stricter of "all" and the interface's own value counts."""
    pattern = re.compile(r"net\.ipv4\.conf\.(.+)\.rp_filter")
    found = {match.group(1): value for key, value in values.items() if (match := pattern.fullmatch(key))}
    settings = []
    for name, value in sorted(found.items()):
        effective = max((item for item in (value, found.get("all", "0")) if item.isdecimal()), key=int, default=value)
        if name in ("default",):
            continue
        if effective == "1":
            says = "strict: a packet whose answer would leave by another interface is dropped (asymmetric routes)"
            weight = Weight.RISK
        else:
            says, weight = "loose or off", Weight.FINE
        settings.append(
            Setting(
                key=f"net.ipv4.conf.{name}.rp_filter",
                value=value,
                weight=weight,
                says=says,
                wanted="2" if weight is Weight.RISK else "",
            )
        )
    return settings


def _conntrack(values: dict[str, str]) -> Setting | None:
    limit, count = values.get("net.netfilter.nf_conntrack_max"), values.get("net.netfilter.nf_conntrack_count")
    if limit is None or count is None or not limit.isdecimal() or not count.isdecimal() or int(limit) == 0:
        return None
    part = int(count) / int(limit)
    key = "net.netfilter.nf_conntrack_count"
    value = f"{count} of {limit}"
    if int(count) >= int(limit) - int(limit) // _ROOM:
        says = "the table is full: packets of new connections are dropped"
        return Setting(key=key, value=value, weight=Weight.BREAKS, says=says, drops=True)
    if part >= _NEARLY_FULL:
        return Setting(key=key, value=value, weight=Weight.RISK, says="the table is nearly full")
    return Setting(key=key, value=value, weight=Weight.FINE, says="room in the table")


def without_hairpin(modes: Sequence[HairpinModes]) -> tuple[str, ...]:
    """Bridge ports that do not send a packet back where it came from: a Pod behind one can't reach itself through its
    Service, though the masquerade rule is there."""
    return tuple(sorted({port for item in modes for port, on in item.ports.items() if not on}))
