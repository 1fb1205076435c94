"""What the user asked: which Service, which port, from where, by what name. The one list of what can be asked.

Every door takes a Request: the library, the commands, a bundle that remembers what it was collected for.
"""

from __future__ import annotations

from typing import Any, Self

import msgspec

from svcpath.errors import UsageError
from svcpath.evidence.facts.need import Kind, Need


class Request(msgspec.Struct, frozen=True):
    """``service`` is empty when no Service is meant (workloads or a bare name are judged).

    ``port`` is a Service port's number or name; empty means all of them. ``client`` is the Pod the connection comes
    from ("namespace/name"), ``client_node`` a node; both empty means any. ``lookup`` is the name as the application
    writes it. ``resolver`` is a resolver's name or "all" or "". ``symptom`` is the error text the user saw.
    ``thorough`` asks for probes that earlier answers make needless, ``all_nodes`` for every node beside the client's,
    ``each_node`` for connections from every node's own network.
    """

    namespace: str = ""
    service: str = ""
    port: str = ""
    client: str = ""
    client_node: str = ""
    container: str = ""
    lookup: str = ""
    resolver: str = ""
    symptom: str = ""
    thorough: bool = False
    all_nodes: bool = False
    each_node: bool = False

    @classmethod
    def of(cls, target: str = "", *, client: str = "", **words: Any) -> Self:
        """Read a target and a client as users write them; ``words`` are further fields of a Request by their names.

        ``target``: "svc/NAME", "service/NAME", "NAME" or "NAME.NAMESPACE". ``client``: "pod/NAME", "pod/NAMESPACE/NAME",
        "node/NAME" or a Pod's name. Raises UsageError for anything else, TypeError for a word that is no field.
        """
        namespace, service = _target(target, words.pop("namespace", ""))
        pod, node = _client(client)
        return cls(namespace=namespace, service=service, client=pod, client_node=node, **words)

    @property
    def words(self) -> dict[str, str]:
        """What was asked in so many words, as ``of`` takes it; nothing for what was left open. A bundle keeps them."""
        target = f"svc/{self.service}" if self.service else ""
        client = f"pod/{self.client}" if self.client else f"node/{self.client_node}" if self.client_node else ""
        parsed = {"target": target, "namespace": self.namespace, "client": client}
        others = {name: getattr(self, name) for name in ("port", "container", "lookup", "resolver", "symptom")}
        return {name: word for name, word in (parsed | others).items() if word}

    def filled(self, known: Self) -> Self:
        """What this Request leaves open, from ``known``: a client of its own, Pod or node, is no part of that."""
        more = {
            field.name: getattr(known, field.name)
            for field in msgspec.structs.fields(self)
            if not getattr(self, field.name)
        }
        if self.client or self.client_node:
            more.pop("client", None)
            more.pop("client_node", None)
        return msgspec.structs.replace(self, **more)

    def first_needs(self) -> tuple[Need, ...]:
        """The objects that every walk for this Service puts side by side before anything else: the client's Pod, if one is
        named, the Service, its slices, the Pods of its namespace."""
        space, _, name = self.client.rpartition("/")
        needs = (
            Need(Kind.SERVICE, namespace=self.namespace, name=self.service, permission="get services"),
            Need(
                Kind.ENDPOINT_SLICE,
                namespace=self.namespace,
                service=self.service,
                permission="list endpointslices.discovery.k8s.io",
            ),
            Need(Kind.POD, namespace=self.namespace, permission="list pods"),
        )
        pod = Need(Kind.POD, namespace=space, name=name, permission="get pods")
        return (pod, *needs) if name else needs

    @property
    def label(self) -> str:
        return f"{self.service}.{self.namespace}".rstrip(".") if self.service else (self.lookup or "the evidence")

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Where objects on this path can lie: the Service's and the client's namespace, that of the name as written, and
        those of the cluster's own Services."""
        written = self.lookup.split(".")[1:2]
        named = (self.namespace, self.client_namespace, *written)
        if not any(named):
            return ()
        return tuple(dict.fromkeys(name for name in (*named, "default", "kube-system") if name))

    @property
    def client_namespace(self) -> str:
        return self.client.partition("/")[0] if "/" in self.client else self.namespace

    @property
    def client_name(self) -> str:
        return self.client.rpartition("/")[2]


#: Kinds of target that name a Service.
_SERVICE_KINDS = ("svc", "service", "services")


def _target(target: str, namespace: str) -> tuple[str, str]:
    """Namespace and name of the Service that is meant, each empty where nothing says so."""
    kind, slash, name = target.partition("/")
    if slash:
        if kind.lower() not in _SERVICE_KINDS or not name:
            raise UsageError(f"target {target!r}: give a Service as svc/NAME")
    else:
        name = target
    # A Service's name is a DNS label (RFC 1035): a dot begins the namespace.
    name, dot, rest = name.rstrip(".").partition(".")
    if not dot:
        return namespace, name
    space = rest.partition(".")[0]
    if namespace and space != namespace:
        raise UsageError(f"target {target!r} is in namespace {space}, and -n says {namespace}: give one of them")
    return space, name


def _client(client: str) -> tuple[str, str]:
    """The Pod and the node that a connection comes from, at most one of them."""
    kind, slash, rest = client.partition("/")
    if not slash or kind in ("pod", "po", "pods"):
        return (rest if slash else client), ""
    if kind in ("node", "no", "nodes"):
        return "", rest
    raise UsageError(f"--from {client!r}: give pod/NAME or node/NAME")
