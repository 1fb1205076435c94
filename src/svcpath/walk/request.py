"""What the user asked: which Service, which port, from where, by what name."""

from __future__ import annotations

import msgspec

from svcpath.errors import UsageError


class Request(msgspec.Struct, frozen=True):
    """``service`` is empty when no Service is meant (workloads or a bare name are judged).

    ``port`` is a Service port's number or name; empty means all of them. ``client`` is the Pod the connection comes
    from ("namespace/name"), ``client_node`` a node; both empty means any. ``as_name`` is the name as the application
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
    as_name: str = ""
    resolver: str = ""
    symptom: str = ""
    thorough: bool = False
    all_nodes: bool = False
    each_node: bool = False

    @property
    def label(self) -> str:
        return f"{self.service}.{self.namespace}".rstrip(".") if self.service else (self.as_name or "the evidence")

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Where objects on this path can lie: the Service's and the client's namespace, that of the name as written, and
        those of the cluster's own Services."""
        written = self.as_name.split(".")[1:2]
        named = (self.namespace, self.client_namespace, *written)
        if not any(named):
            return ()
        return tuple(dict.fromkeys(one for one in (*named, "default", "kube-system") if one))

    @property
    def client_namespace(self) -> str:
        return self.client.partition("/")[0] if "/" in self.client else self.namespace

    @property
    def client_name(self) -> str:
        return self.client.rpartition("/")[2]


#: Kinds of target that name a Service.
_SERVICE_KINDS = ("svc", "service", "services")


def request(
    target: str = "",
    *,
    namespace: str = "",
    port: str = "",
    client: str = "",
    container: str = "",
    as_name: str = "",
    resolver: str = "",
    symptom: str = "",
    thorough: bool = False,
    all_nodes: bool = False,
    each_node: bool = False,
) -> Request:
    """Read a target as users write it.

    ``target``: "svc/NAME", "service/NAME", "NAME" or "NAME.NAMESPACE". ``client``: "pod/NAME", "pod/NAMESPACE/NAME",
    "node/NAME" or a Pod's name. Raises UsageError for anything else.
    """
    kind, slash, name = target.partition("/")
    if slash:
        if kind.lower() not in _SERVICE_KINDS or not name:
            raise UsageError(f"target {target!r}: give a Service as svc/NAME")
    else:
        name = target
    # A Service's name is a DNS label (RFC 1035): a dot begins the namespace.
    name, dot, rest = name.rstrip(".").partition(".")
    if dot:
        space = rest.partition(".")[0]
        if namespace and space != namespace:
            raise UsageError(f"target {target!r} is in namespace {space}, and -n says {namespace}: give one of them")
        namespace = space
    pod = node = ""
    if client:
        kind, slash, rest = client.partition("/")
        if not slash:
            pod = client
        elif kind in ("pod", "po", "pods"):
            pod = rest
        elif kind in ("node", "no", "nodes"):
            node = rest
        else:
            raise UsageError(f"--from {client!r}: give pod/NAME or node/NAME")
    return Request(
        namespace=namespace,
        service=name,
        port=port,
        client=pod,
        client_node=node,
        container=container,
        as_name=as_name,
        resolver=resolver,
        symptom=symptom,
        thorough=thorough,
        all_nodes=all_nodes,
        each_node=each_node,
    )
