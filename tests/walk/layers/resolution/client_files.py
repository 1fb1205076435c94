"""A client's resolv.conf and the lookups that were recorded in it: whole, cut, or leading elsewhere."""

from __future__ import annotations

from tests.fixtures.clients import client_of
from tests.fixtures.cluster import Cluster
from tests.walk.layers.inputs import broken, sound

_SEARCH = "search shop.svc.cluster.local svc.cluster.local cluster.local\n"


_CONF = f"{_SEARCH}nameserver 10.96.0.10\noptions ndots:5\n"


_NAMES = "musl-1.2.5 web -> 10.96.10.1\nglibc-2.36 web -> 10.96.10.1\n"


@broken("warning", "resolution", "SP122", "web.shop.svc.cluster.local", "musl", client="pod/client")
def ndots_0_and_a_short_name() -> Cluster:
    return client_of(_CONF.replace("ndots:5", "ndots:0"))


@broken("warning", "resolution", "SP122", "web.shop.svc.cluster.local", "web.lan", client="pod/client")
def a_search_list_without_the_clusters_zone() -> Cluster:
    return client_of(_CONF.replace(_SEARCH, "search lan\n"))


@sound(client="pod/client")
def a_client_whose_files_are_whole() -> Cluster:
    return client_of(_CONF, _NAMES)


@sound("SP001", client="pod/client")
def a_resolv_conf_that_ends_before_its_nameserver() -> Cluster:
    return client_of(_SEARCH[:-7], _NAMES)


@sound(client="pod/client")
def a_resolv_conf_that_ends_within_its_nameserver() -> Cluster:
    return client_of(f"{_SEARCH}nameserver 10.96.0.1", _NAMES)


@sound(client="pod/client")
def recorded_names_that_end_within_an_address() -> Cluster:
    return client_of(_CONF, _NAMES[:-2])


@sound("SP001", client="pod/client")
def recorded_names_that_end_within_the_second_part_of_an_address() -> Cluster:
    return client_of(_CONF, _NAMES[:-6])


@broken("fault", "resolution", "SP121", "10.96.10.2", "10.96.10.1", client="pod/client")
def recorded_names_with_another_address() -> Cluster:
    return client_of(_CONF, _NAMES.replace("10.96.10.1\n", "10.96.10.2\n"))
