"""What the cluster DNS denies, whose namespace a name means, what a named resolver would hear."""

from __future__ import annotations

from tests.fixtures.clients import client_of
from tests.fixtures.cluster import Cluster
from tests.fixtures.objects import service
from tests.walk.layers.inputs import broken, sound

CONF = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"


RECORD = "web.shop.svc.cluster.local"


DENIED = "-2 Name or service not known"


SILENT = "-3 Temporary failure in name resolution"


def _looked_up(*lines: str, conf: str = CONF, probe: str = "glibc-2.36") -> Cluster:
    return client_of(conf, "".join(f"{probe} {line}\n" for line in lines))


# --- CoreDNS that does not see a Service -------------------------------------------------------------------------------


@broken("fault", "resolution", "SP123", f"{RECORD}.", "10.96.10.1", "CoreDNS", client="pod/client")
def coredns_denies_a_service_that_is_there() -> Cluster:
    return _looked_up(f"web -> {DENIED}", f"{RECORD}. -> {DENIED}")


@broken("fault", "resolution", "SP123", f"{RECORD}.", client="pod/client", lookup="web.shop")
def coredns_denies_a_service_that_musl_asks_for() -> Cluster:
    words = "-2 Name does not resolve"
    return _looked_up(f"web.shop -> {words}", f"{RECORD}. -> {words}", probe="musl-1.2.5")


@broken("fault", "resolution", "SP123", "Failed to watch", client="pod/client")
def coredns_logs_that_its_watch_fails() -> Cluster:
    made = _looked_up(f"web -> {DENIED}", f"{RECORD}. -> {DENIED}")
    made.files["coredns.log"] = (
        ".:53\n[INFO] plugin/reload: Running configuration SHA512 = 0\n"
        "[ERROR] plugin/kubernetes: Failed to watch *v1.Service: dial tcp 10.96.0.1:443: i/o timeout\n"
    )
    return made


@broken("fault", "resolution", "SP118", "web does not resolve", client="pod/client")
def the_record_was_not_asked_for_as_it_stands() -> Cluster:
    return _looked_up(f"web -> {DENIED}")


@broken("fault", "resolution", "SP118", "web does not resolve", client="pod/client")
def the_record_itself_met_a_silent_server() -> Cluster:
    """glibc reports the bare name's NXDOMAIN behind a candidate that no server answered."""
    return _looked_up(f"web -> {DENIED}", f"{RECORD}. -> {SILENT}")


@broken("fault", "resolution", "SP108", "k8s.corp", client="pod/client")
def another_zone_is_denied_by_right() -> Cluster:
    conf = CONF.replace("cluster.local", "k8s.corp")
    return _looked_up(f"web -> {DENIED}", f"web.shop.svc.k8s.corp. -> {DENIED}", conf=conf)


@broken("fault", "resolution", "SP109", "192.0.2.53", client="pod/client")
def another_server_denies_by_right() -> Cluster:
    conf = CONF.replace("10.96.0.10", "192.0.2.53")
    return _looked_up(f"web -> {DENIED}", f"{RECORD}. -> {DENIED}", conf=conf)


@broken("warning", "resolution", "SP118", "web does not resolve", client="pod/client")
def a_service_that_comes_into_sight() -> Cluster:
    """Looked up side by side just after it was made: the last of the lookups have it."""
    return _looked_up(f"web -> {DENIED}", f"{RECORD}. -> {DENIED}", f"{RECORD} -> 10.96.10.1")


@sound(client="pod/client", lookup=RECORD)
def a_name_that_the_client_resolves_in_a_namespace_that_was_not_listed() -> Cluster:
    """It is there, since the Service is in it."""
    made = _looked_up(f"{RECORD} -> 10.96.10.1")
    made.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    return made.settle()


# --- the namespace that a name means -----------------------------------------------------------------------------------


def _in_another_namespace(*lines: str, name: str = "api") -> Cluster:
    """Service ``name`` is in namespace back, the client in shop."""
    made = _looked_up(*lines)
    same_name = service(name, clusterIP="10.96.10.9")
    same_name["metadata"]["namespace"] = "back"
    made.add(same_name)
    return made


_OTHER = {"target": "svc/api", "namespace": "back", "client": "pod/shop/client"}


@broken("fault", "resolution", "SP119", "api of namespace shop", "back", lookup="api", **_OTHER)
def a_short_name_from_another_namespace() -> Cluster:
    return _in_another_namespace(f"api -> {DENIED}")


@broken("fault", "resolution", "SP119", "api of namespace bakc", "back", lookup="api.bakc", **_OTHER)
def a_namespace_with_swapped_letters() -> Cluster:
    return _in_another_namespace(f"api.bakc -> {DENIED}")


@broken("fault", "resolution", "SP119", "namespace shop", lookup="api.shop.svc.cluster.local", **_OTHER)
def a_full_name_with_the_clients_namespace() -> Cluster:
    return _in_another_namespace(f"api.shop.svc.cluster.local -> {DENIED}")


@broken("fault", "resolution", "SP118", "api does not resolve", lookup="api", **_OTHER)
def a_short_name_that_no_server_answers() -> Cluster:
    return _in_another_namespace(f"api -> {SILENT}")


@broken("fault", "resolution", "SP118", "api.example.org", lookup="api.example.org", **_OTHER)
def a_name_outside_the_cluster_that_begins_like_a_service() -> Cluster:
    return _in_another_namespace(f"api.example.org -> {DENIED}")


@sound("SP307", client="pod/client")
def a_service_of_the_same_name_in_another_namespace() -> Cluster:
    return _in_another_namespace("web -> 10.96.10.1", f"{RECORD}. -> 10.96.10.1", name="web")


# --- a resolver that the container does not have -----------------------------------------------------------------------


_NDOTS_1 = CONF.replace("ndots:5", "ndots:1")


@broken("fault", "resolution", "SP101", "web.shop", "NXDOMAIN", client="pod/client", lookup="web.shop", resolver="musl")
def musl_is_named_and_the_upstream_denies_the_bare_name() -> Cluster:
    return _looked_up("web.shop -> 10.96.10.1", f"web.shop. -> {DENIED}", conf=_NDOTS_1)


@broken("fault", "resolution", "SP121", "192.0.2.7", client="pod/client", lookup="web.shop", resolver="musl")
def musl_is_named_and_the_upstream_has_such_a_name() -> Cluster:
    return _looked_up("web.shop -> 10.96.10.1", "web.shop. -> 192.0.2.7", conf=_NDOTS_1)


@broken("warning", "resolution", "SP122", RECORD, client="pod/client", lookup="web.shop", resolver="musl")
def musl_is_named_and_the_upstream_was_not_asked() -> Cluster:
    return _looked_up("web.shop -> 10.96.10.1", f"web.shop. -> {SILENT}", conf=_NDOTS_1)
