"""What CoreDNS answers: a Corefile's plugins in their built-in order, with the cluster zone made from Kubernetes
objects.

Rules from core/dnsserver/server.go ServeDNS, zdirectives.go (the order of plugins, whatever the Corefile's);
plugin/rewrite, autopath, cache, template, hosts, forward and kubernetes of CoreDNS 1.14.7 (1.12.1's recorded answers
agree). What a plugin answers from files, upstreams or state that are not at hand is :class:`UnknownAnswer`, with the
Corefile line that leads there.
"""

from __future__ import annotations

import msgspec

from svcpath.errors import ModelError
from svcpath.models.resolvers.base import UNREADABLE, Answer, Query, UnknownAnswer, World
from svcpath.models.resolvers.environment import octets
from svcpath.models.resolvers.servers import coredns_plugins
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects
from svcpath.models.resolvers.servers.coredns_kubernetes import Kubernetes
from svcpath.models.resolvers.servers.coredns_records import ResourceRecord, Response
from svcpath.models.resolvers.servers.corefile import Corefile, Directive, ServerBlock, matches, normalize

# zdirectives.go: those that can answer or change an answer, in chain order.
ORDER = (
    "dns64",
    "any",
    "chaos",
    "rewrite",
    "autopath",
    "acl",
    "cache",
    "dnssec",
    "template",
    "hosts",
    "route53",
    "azure",
    "clouddns",
    "k8s_external",
    "kubernetes",
    "file",
    "auto",
    "secondary",
    "etcd",
    "loop",
    "forward",
    "grpc",
    "erratic",
    "whoami",
    "nomad",
)
TRANSPARENT = ("any", "chaos", "cache", "dnssec", "loop")
# Plugins that set something up but handle no query.
SETUP_ONLY = (
    "root",
    "tls",
    "timeouts",
    "multisocket",
    "reload",
    "bind",
    "debug",
    "health",
    "ready",
    "pprof",
    "on",
    "quic",
    "https",
    "https3",
    "grpc_server",
    "proxyproto",
)
MAX_LOOKUPS = 16


class CoreDns:
    """One CoreDNS server. ``client_namespace`` is that of the asking Pod (autopath); ``files`` holds the text of files
    that the Corefile names, as far as they are known."""

    def __init__(
        self,
        corefile: Corefile,
        cluster: WatchedObjects,
        upstream: World | None = None,
        *,
        port: str = "53",
        client_namespace: str = "",
        files: dict[str, str] | None = None,
    ) -> None:
        self.corefile = corefile
        self.cluster = cluster
        self.upstream = upstream
        self.port = port
        self.client_namespace = client_namespace
        self.files = files or {}
        self._zones: dict[str, ServerBlock] = {}
        for block in corefile.blocks:
            for zone in block.zones:
                if zone.port == port and zone.transport == "dns":
                    self._zones.setdefault(zone.name, block)
        self._chains: dict[int, list[Directive]] = {}
        self._kubernetes: dict[int, Kubernetes] = {}
        self._depth = 0

    def respond(self, name: str, rrtype: str) -> Response | UnknownAnswer:
        """The answer to one question (server.go ServeDNS: the block with the longest matching zone)."""
        question = name.lower()
        question = question if question.endswith(".") else question + "."
        zone = matches(tuple(self._zones), question)
        if not zone:
            return Response("REFUSED", plugin="server", note="no server block serves this name")
        if self._depth >= MAX_LOOKUPS:
            return UnknownAnswer("lookups inside CoreDNS go round in a circle")
        block = self._zones[zone]
        self._depth += 1
        try:
            return self._from(block, self._chain(block), 0, question, rrtype.upper())
        finally:
            self._depth -= 1

    def _chain(self, block: ServerBlock) -> list[Directive]:
        chain = self._chains.get(block.line)
        if chain is None:
            chain = [directive for name in ORDER for directive in block.plugins(name)]
            self._chains[block.line] = chain
        return chain

    def _from(
        self, block: ServerBlock, chain: list[Directive], at: int, name: str, rrtype: str
    ) -> Response | UnknownAnswer:
        """The chain from one plugin on; a plugin that does not answer hands on to the next."""
        while at < len(chain):
            plugin = chain[at]
            if plugin.name == "rewrite":
                rewritten = coredns_plugins.rewrite(chain[at:], name, rrtype)
                at += sum(1 for directive in chain[at:] if directive.name == "rewrite")
                if isinstance(rewritten, UnknownAnswer):
                    return rewritten
                if rewritten != (name, rrtype):
                    return self._renamed(self._from(block, chain, at, *rewritten), name, rewritten[0], plugin)
                continue
            if plugin.name == "autopath":
                answered = self._autopath(block, chain, at, name, rrtype)
            elif plugin.name == "template":
                answered = self._templates(block, chain, at, name, rrtype)
                at += sum(1 for directive in chain[at:] if directive.name == "template") - 1
            else:
                answered = self._plugin(block, plugin, name, rrtype)
            if answered is not None:
                return answered
            at += 1
        if all(directive.name in SETUP_ONLY for directive in block.directives):
            return Response(
                "REFUSED", plugin="server", line=block.line, note="the server block has no plugin that answers"
            )
        return Response(
            "SERVFAIL", plugin="server", line=block.line, note="no plugin of the server block answers this name"
        )

    def _plugin(self, block: ServerBlock, plugin: Directive, name: str, rrtype: str) -> Response | UnknownAnswer | None:
        if plugin.name in TRANSPARENT:
            return None
        if plugin.name == "hosts":
            return coredns_plugins.hosts(plugin, _origins(block), self.files, name, rrtype)
        if plugin.name == "kubernetes":
            return self._kube(block, plugin, name, rrtype)
        if plugin.name == "forward":
            return coredns_plugins.forward(plugin, self.upstream, name, rrtype)
        return coredns_plugins.unmodelled(plugin, _origins(block), name)

    def _kube(self, block: ServerBlock, plugin: Directive, name: str, rrtype: str) -> Response | UnknownAnswer | None:
        kubernetes = self._kubernetes.get(plugin.line)
        if kubernetes is None:
            kubernetes = Kubernetes(plugin, _origins(block), self.cluster, self.respond)
            self._kubernetes[plugin.line] = kubernetes
        return kubernetes.respond(name, rrtype)

    def _templates(
        self, block: ServerBlock, chain: list[Directive], at: int, name: str, rrtype: str
    ) -> Response | UnknownAnswer | None:
        templates = [directive for directive in chain[at:] if directive.name == "template"]
        answered = coredns_plugins.template(templates, _origins(block), name, rrtype)
        if isinstance(answered, Response) and answered.answers and answered.answers[-1].type == "CNAME":
            followed = self.respond(answered.answers[-1].data, rrtype) if rrtype in ("A", "AAAA") else None
            if isinstance(followed, UnknownAnswer):
                return followed
            if followed is not None:
                return msgspec.structs.replace(answered, answers=(*answered.answers, *followed.answers))
        return answered

    def _renamed(
        self, response: Response | UnknownAnswer, name: str, asked: str, plugin: Directive
    ) -> Response | UnknownAnswer:
        """rewrite: the reply carries the question's own name again."""
        if isinstance(response, UnknownAnswer):
            return response
        answers = tuple(
            msgspec.structs.replace(record, name=name) if record.name.lower() == asked.lower() else record
            for record in response.answers
        )
        note = f"asked as {asked} (rewrite, Corefile line {plugin.line}); {response.note}".rstrip("; ")
        return msgspec.structs.replace(response, answers=answers, note=note)

    def _autopath(
        self, block: ServerBlock, chain: list[Directive], at: int, name: str, rrtype: str
    ) -> Response | UnknownAnswer | None:
        """plugin/autopath: a question for the first suffix of the client's search path is walked server-side."""
        plugin = chain[at]
        if not plugin.args or not plugin.args[0].startswith("@"):
            return UnknownAnswer(f"autopath reads a file (Corefile line {plugin.line})")
        zones = tuple(zone for text in plugin.args[1:] for zone in normalize(text)) or _origins(block)
        kube = block.plugins("kubernetes")
        served = tuple(zone for text in (kube[0].args if kube else ()) for zone in normalize(text)) or _origins(block)
        zone = matches(served, name) if matches(zones, name) else ""
        verified = bool(kube) and any(option.args == ("verified",) for option in kube[0].options("pods"))
        if not zone or not verified or not self.client_namespace:
            return None
        tail = "" if zone == "." else zone
        search = (f"{self.client_namespace}.svc.{tail}", f"svc.{tail}", tail or ".", "")
        if not name.endswith("." + search[0]):
            return None
        base = name[: -len(search[0])]
        first: Response | None = None
        for suffix in search:
            asked = base + suffix if suffix != "." else base
            response = self._from(block, chain, at + 1, asked, rrtype)
            if isinstance(response, UnknownAnswer):
                return response
            first = first or response
            if response.rcode != "NXDOMAIN":
                alias = ResourceRecord(name, "CNAME", asked)
                answers = (alias, *response.answers) if asked != name and response.answers else response.answers
                note = f"autopath (Corefile line {plugin.line}) walked the search list to {asked}"
                return msgspec.structs.replace(response, answers=answers, note=note)
        return first


def _origins(block: ServerBlock) -> tuple[str, ...]:
    return tuple(zone.name for zone in block.zones)


class CoreDnsWorld:
    """A world whose server is a CoreDNS model (each question is worked out once)."""

    def __init__(self, server: CoreDns) -> None:
        self.server = server
        self._known: dict[tuple[str, str], Answer | UnknownAnswer] = {}

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        if octets(query.name) > 253:
            return UNREADABLE  # miekg/dns: SetRcodeFormatError, without a question
        key = (query.name.lower(), query.type)
        answer = self._known.get(key)
        if answer is None:
            answer = to_answer(self.server.respond(query.name, query.type), query.type)
            self._known[key] = answer
        return answer


def to_answer(response: Response | UnknownAnswer, rrtype: str) -> Answer | UnknownAnswer:
    """A response as a resolver takes it."""
    if isinstance(response, UnknownAnswer):
        return response
    addresses = tuple(record.data for record in response.answers if record.type == rrtype)
    aliases = [record.data.removesuffix(".") for record in response.answers if record.type == "CNAME"]
    return Answer(
        response.rcode,
        addresses,
        len(response.answers),
        aliases[-1] if aliases and not addresses else "",
        aliases[-1] if aliases and addresses else "",
        authoritative=response.authoritative,
        note=response.note,
    )


def denial_seconds(corefile: Corefile, zone: str, kubernetes_ttl: int | None = None) -> int:
    """How long the cache plugin may keep an NXDOMAIN or NODATA of a zone: the smaller of its denial TTL and the SOA's
    minimum (plugin/cache setup.go; the kubernetes plugin's SOA minimum is its ttl, 5 s by default). 0: no cache."""
    name = normalize(zone)[0]
    best = matches(tuple(entry.name for block in corefile.blocks for entry in block.zones), name)
    block = next((b for b in corefile.blocks if any(entry.name == best for entry in b.zones)), None)
    if block is None:
        raise ModelError(f"no server block of the Corefile serves {zone}")
    caches = block.plugins("cache")
    if not caches:
        return 0
    cache = caches[0]
    limit = 1800
    if cache.args and cache.args[0].isdigit():
        limit = min(limit, int(cache.args[0]))
    denial = cache.option("denial")
    if denial is not None and len(denial.args) > 1 and denial.args[1].isdigit():
        limit = int(denial.args[1])
    kube = block.plugins("kubernetes")
    if kube and kubernetes_ttl is None:
        option = kube[0].option("ttl")
        kubernetes_ttl = int(option.args[0]) if option and option.args and option.args[0].isdigit() else 5
    return limit if kubernetes_ttl is None else min(limit, kubernetes_ttl)
