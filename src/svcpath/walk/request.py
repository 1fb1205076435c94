"""What the user asked: which Service, which port, from where, by what name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
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
        return f"{self.service}.{self.namespace}" if self.service else (self.as_name or "the evidence")

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
