"""Odd files and names, each with what the real resolver was seen to make of it (the odd grid of the differential tests)."""

from __future__ import annotations

import pytest

from svcpath.models.resolvers.base import Answer, Query, run
from svcpath.models.resolvers.environment import INET, INET6, UNSPEC, Environment
from svcpath.replay import probes

CONF = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
FILES = "hosts: files dns\n"


class Zone:
    """Addresses by "name/type"; everything else does not exist."""

    def __init__(self, **records: str) -> None:
        self.records = {key.replace("__", "/"): value for key, value in records.items()}
        self.asked: list[str] = []

    def answer(self, query: Query) -> Answer:
        self.asked.append(f"{query.type} {query.name}")
        found = self.records.get(f"{query.name}/{query.type}", "")
        return Answer("NOERROR", (found,), 1) if found else Answer("NXDOMAIN")


def _ends(
    probe: str,
    name: str,
    zone: Zone | None = None,
    *,
    resolv_conf: str = CONF,
    nsswitch: str = FILES,
    hosts: str = "",
    family: str = UNSPEC,
) -> str:
    environment = Environment(resolv_conf=resolv_conf, nsswitch=nsswitch, hosts=hosts, family=family)
    model = probes.model_of(probe, environment)
    assert model is not None
    outcome = run(model, name, zone or Zone()).outcome
    assert outcome is not None
    return " ".join(outcome.addresses) if outcome.ok else outcome.code


SCOPES = [
    ("musl-1.2.5", "fe80::1%lo", "fe80::1"),
    ("musl-1.2.5", "fe80::1%7", "fe80::1"),
    ("musl-1.2.5", "fe80::1%nosuch", "EAI_NONAME"),
    ("musl-1.2.3", "2001:db8::1%lo", "EAI_NONAME"),
    ("glibc", "2001:db8::1%lo", "EAI_NONAME"),
    ("glibc", "fe80::1%eth0", "fe80::1"),
    ("node-lookup", "2001:db8::1%lo", "2001:db8::1"),
]


@pytest.mark.parametrize(("probe", "name", "ends"), SCOPES)
def test_a_scope_is_a_number_or_an_interface_of_a_link_local_address(probe: str, name: str, ends: str) -> None:
    assert _ends(probe, name) == ends


MAPPED = "::ffff:10.7.7.9 web\n"
HOSTS = [
    ("musl-1.2.5", "\t10.7.7.7 web\n", UNSPEC, "EAI_NONAME"),
    ("musl-1.2.5", " 10.7.7.7 web\n10.7.7.8 web\n", UNSPEC, "10.7.7.8"),
    ("glibc", MAPPED, INET, "10.7.7.9"),
    ("glibc", MAPPED, UNSPEC, "::ffff:a07:709"),
    ("glibc", "\t10.7.7.7 web", UNSPEC, "EAI_NONAME"),
    ("glibc", "10.7.7.7 web", UNSPEC, "10.7.7.7"),
    ("glibc", "fe80::7%lo web\n", UNSPEC, "EAI_NONAME"),
    ("go-pure", MAPPED, INET, "10.7.7.9"),
    ("go-pure", MAPPED, INET6, "AddrError"),
    ("go-pure", ":: web\n", UNSPEC, ":: 0.0.0.0"),
    ("go-cgo", ":: web\n", UNSPEC, ":: 0.0.0.0"),
    ("cares-gai", "127.1 web\n", UNSPEC, "127.1.0.0"),
    ("cares-gai", "fe80::7%lo web\n", UNSPEC, "ARES_ENOTFOUND"),
    ("cares-gai", "10.7.7.7 web#note\n", UNSPEC, "ARES_ENOTFOUND"),
    ("cares-gai", "10.7.7.7 web #note\n", UNSPEC, "10.7.7.7"),
    ("hickory", "fe80::7%lo web\n10.7.7.7 web\n", UNSPEC, "10.7.7.7"),
]


@pytest.mark.parametrize(("probe", "hosts", "family", "ends"), HOSTS)
def test_each_resolver_reads_a_line_of_hosts_its_own_way(probe: str, hosts: str, family: str, ends: str) -> None:
    assert _ends(probe, "web", hosts=hosts, family=family) == ends


SOURCES = [
    ("hosts:\n", UNSPEC, "EAI_SYSTEM"),
    ("hosts:\n", INET, "EAI_NONAME"),
    ("hosts: dns\nhosts: files\n", UNSPEC, "10.7.7.7"),
    ("hosts: files\nhosts: dns\n", UNSPEC, "10.1.1.1"),
    ("hosts: files [NOTFOUND=return] dns\n", UNSPEC, "10.7.7.7"),
    ("hosts: files [SUCCESS=continue] dns\n", UNSPEC, "10.1.1.1"),
    ("hosts: dns [SUCCESS=continue] files\n", UNSPEC, "10.7.7.7"),
    ("hosts: files [SUCCESS=merge] dns\n", UNSPEC, "EAI_NONAME"),
    ("hosts: files [SUCCESS=merge] dns\n", INET, "EAI_NODATA"),
    ("hosts: files dns\n", UNSPEC, "10.7.7.7"),
]


@pytest.mark.parametrize(("nsswitch", "family", "ends"), SOURCES)
def test_glibc_goes_through_its_sources_as_nsswitch_says(nsswitch: str, family: str, ends: str) -> None:
    zone = Zone(web__A="10.1.1.1")
    assert _ends("glibc", "web", zone, hosts="10.7.7.7 web\n", nsswitch=nsswitch, family=family) == ends


def test_what_one_source_found_is_lost_when_the_next_that_is_asked_has_nothing() -> None:
    assert (
        _ends("glibc", "web", hosts="10.7.7.7 web\n", nsswitch="hosts: files [SUCCESS=continue] dns\n") == "EAI_NONAME"
    )


OPTIONS = [("ndots: 2", ["A web.ops.lan", "AAAA web.ops.lan", "A web.ops", "AAAA web.ops"]), ("ndots:", ["A web.ops"])]


@pytest.mark.parametrize(("option", "first"), OPTIONS)
def test_glibc_takes_the_number_after_a_blank_too(option: str, first: list[str]) -> None:
    zone = Zone()
    _ends("glibc", "web.ops", zone, resolv_conf=f"search lan\n{CONF}options {option}\n")
    assert zone.asked[: len(first)] == first


def test_a_sortlist_that_ends_in_a_carriage_return_hangs_glibc() -> None:
    ended = CONF + "sortlist 10.0.0.0/8\r\n"
    assert _ends("glibc", "web", hosts="10.7.7.7 web\n", resolv_conf=ended) == "HANG"
    assert _ends("glibc", "web", hosts="10.7.7.7 web\n", resolv_conf=ended.replace("\r", "")) == "10.7.7.7"


@pytest.mark.parametrize("probe", ["glibc", "cares-gai", "hickory", "dnspython-search"])
def test_a_backslash_escapes_what_follows(probe: str) -> None:
    zone = Zone(ab__A="10.1.1.1", ab__AAAA="fd00::1")
    assert "10.1.1.1" in _ends(probe, "a\\b", zone)


def test_a_nameserver_with_a_scope_it_does_not_need_is_never_heard_by_musl() -> None:
    zone = Zone(web__A="10.1.1.1", web__AAAA="fd00::1")
    scoped = CONF.replace("127.0.0.1", "::1%1")
    assert _ends("musl-1.2.5", "web", zone, resolv_conf=scoped) == "EAI_AGAIN"
    assert _ends("glibc", "web", zone, resolv_conf=scoped) == "10.1.1.1 fd00::1"


CONFS = [
    ("domain\n", "improperly formatted"),
    ("domain a b\n", "extra data"),
    ("nameserver 127.0.0.1:53\n", "invalid IP"),
    ("options ndots:x\n", "invalid value of some option"),
    ("sortlist 10.0.0.0/8\n", "invalid IP"),
    ("bogus\n", "directive at line 0 is not recognized"),
]


@pytest.mark.parametrize(("line", "says"), CONFS)
def test_hickory_names_the_first_line_that_it_can_not_read(line: str, says: str) -> None:
    model = probes.model_of("hickory", Environment(resolv_conf=line + CONF))
    assert model is not None
    outcome = run(model, "web", Zone()).outcome
    assert outcome is not None
    assert says in outcome.text
