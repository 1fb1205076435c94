"""Tables in kube-proxy's layout for random Services, as iptables-save and nft list print them, with their objects."""

from __future__ import annotations

import functools
import random
import re
from typing import NamedTuple

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import NodeView
from tests.differential.kernel import layout
from tests.differential.kernel.services import IPV4, IPV6, NODE, random_service

NODE_VIEW = NodeView(name=NODE, addresses=frozenset({IPV4.node, IPV6.node}))
_COMMENT = re.compile(r' -m comment --comment "[^"]*"')


class Written(NamedTuple):
    """``text`` is what a healthy node prints for ``services`` and ``slices``."""

    kind: Kind
    text: str
    services: tuple[Service, ...]
    slices: tuple[EndpointSlice, ...]


@functools.cache
def written(kind: Kind, seed: int, count: int, *, big: bool = False, family: int = 4) -> Written:
    """``count`` random Services; ``big``: without the comments that kube-proxy leaves out above 1000 endpoints."""
    chance = random.Random(seed)
    plan = IPV4 if family == 4 else IPV6
    made = [random_service(chance, number, plan) for number in range(count)]
    pairs = [service.objects() for service in made]
    if kind is Kind.IPTABLES_SAVE:
        text = _saved(layout.iptables(made, plan))
        if big:
            text = "\n".join(
                _COMMENT.sub("", line) if line.startswith("-A KUBE-SVC-") else line for line in text.split("\n")
            )
    else:
        text = _listed(layout.nftables(made, plan))
    services = tuple(msgspec.convert(pair[0], Service) for pair in pairs)
    return Written(kind, text, services, tuple(msgspec.convert(pair[1], EndpointSlice) for pair in pairs))


def _saved(commands: str) -> str:
    """What was written for iptables-restore, as iptables-save prints it: the built-in chains are declared, and the
    address and protocol stand before the comment."""
    for table, hooks in (("filter", ("INPUT", "FORWARD", "OUTPUT")), ("nat", ("PREROUTING", "OUTPUT", "POSTROUTING"))):
        declared = "\n".join(f":{hook} ACCEPT [0:0]" for hook in hooks)
        commands = commands.replace(f"*{table}\n", f"*{table}\n{declared}\n", 1)
    return re.sub(
        r'( -m comment --comment "[^"]*")((?: ! -s \S+| -s \S+)?(?: -d \S+)? -p \S+)(?= -m)', r"\2\1", commands
    )


def _listed(commands: str) -> str:
    """What was written for nft -f, in the layout that nft list prints."""
    listed = []
    for line in commands.split("\n"):
        if line.startswith(("  set ", "  map ")):
            head, _, body = line.strip().partition(" { ")
            listed.append(f"\t{head} {{")
            parts = body.removesuffix(" }").rstrip("; ").split("; ")
            listed += [f"\t\t{part.strip().rstrip(';')}" for part in parts]
            listed.append("\t}")
        elif line.startswith("  chain ") and line.endswith("{ }"):
            continue
        else:
            shown = line.replace("    ", "\t\t").replace("  ", "\t", 1)
            listed.append(shown if not shown.strip().startswith("type ") else shown.rstrip(";") + "; policy accept;")
    return "\n".join(listed)
