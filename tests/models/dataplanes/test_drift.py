"""Drift: kinds, ages, and what keeps an answer undecided."""

from __future__ import annotations

import msgspec
import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    Backend,
    DifferenceKind,
    Frontend,
    NodeView,
    Packet,
    ServiceTable,
    StaleCause,
    Times,
    TrafficOrigin,
    drift,
    trace,
)
from svcpath.models.dataplanes.times import changed_at, seconds_of
from tests.models.dataplanes.material import (
    fullest,
    recorded,
    recorded_nodes,
    recorded_objects,
    service,
    slice_of,
    without_endpoint,
)


def _table(change: tuple[str, str] = ("", ""), mode: str = "iptables") -> ServiceTable:
    view = recorded_nodes(mode)["w1"]
    name, kind = ("iptables-save.txt", Kind.IPTABLES_SAVE) if mode == "iptables" else ("nft-ruleset.txt", Kind.NFT_LIST)
    text = recorded(mode, f"w1.{name}")
    if change[0]:
        assert change[0] in text
        text = text.replace(*change)
    return fullest(kind, text, "w1", view.addresses)


VIEW: NodeView = recorded_nodes("iptables")["w1"]


def _kinds(table: ServiceTable, mode: str = "iptables") -> dict[DifferenceKind, Backend | None]:
    services, slices = recorded_objects(mode)
    report = drift(table, services, slices, VIEW)
    assert report.decided
    return {row.kind: row.backend for row in report.rows}


def test_a_backend_on_another_port_is_a_wrong_port_and_says_which_is_right() -> None:
    change = ("--to-destination 10.244.2.4:18080", "--to-destination 10.244.2.4:18081")
    services, slices = recorded_objects("iptables")
    (row,) = drift(_table(change), services, slices, VIEW).rows
    assert row.kind is DifferenceKind.WRONG_PORT
    assert (row.backend, row.wanted) == (Backend("10.244.2.4", 18081), Backend("10.244.2.4", 18080))


def test_a_moved_named_port_is_a_wrong_target() -> None:
    change = ("--to-destination 10.244.2.4:8080", "--to-destination 10.244.2.4:8081")
    assert _kinds(_table(change)) == {DifferenceKind.WRONG_TARGET: Backend("10.244.2.4", 8081)}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (("--probability 0.50000000000", "--probability 0.20000000000"), DifferenceKind.UNEVEN_SHARES),
        (("--seconds 10800", "--seconds 60"), DifferenceKind.AFFINITY_TIMEOUT),
        (("--mark 0x4000/0x4000 -j RETURN", "--mark 0x8000/0x8000 -j RETURN"), DifferenceKind.MASQUERADE_MISSING),
        (("-d 10.96.78.144/32", "-d 10.96.225.249/32"), DifferenceKind.REJECT_MISSING),
    ],
)
def test_a_rule_that_was_changed_is_named_by_what_it_does(change: tuple[str, str], kind: DifferenceKind) -> None:
    assert kind in _kinds(_table(change))


def test_a_reject_for_a_service_with_endpoints_is_unexpected() -> None:
    text = (
        '-A KUBE-SERVICES -d 10.96.78.144/32 -p tcp -m comment --comment "service-ops/empty-service has no endpoints"'
    )
    nat = '-A KUBE-SERVICES -d 10.96.225.249/32 -p tcp -m comment --comment "service-ops/wrong-port cluster IP" -m tcp --dport 80 -j KUBE-SVC-GHO6WQYEUHKY7UBY\n'
    other = (
        text.replace("10.96.78.144", "10.96.225.249")
        + " -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable\n"
    )
    table = _table((nat, ""))
    assert table.ruleset is not None
    changed = fullest(Kind.IPTABLES_SAVE, table.ruleset.text.replace(text, other + text), "w1", VIEW.addresses)
    assert _kinds(changed) == {DifferenceKind.UNEXPECTED_REJECT: None}


def test_a_frontend_without_a_service_is_said_only_if_all_services_are_known() -> None:
    services, slices = recorded_objects("iptables")
    fewer = [candidate for candidate in services if candidate.name != "wrong-port"]
    (row,) = drift(_table(), fewer, slices, VIEW).rows
    assert row.kind is DifferenceKind.SERVICE_UNKNOWN
    assert row.frontend == Frontend("10.96.225.249", "TCP", 80)
    assert row.service == "service-ops/wrong-port"
    assert drift(_table(), fewer, slices, VIEW, complete=False).clean


def test_an_address_that_its_service_gave_up_is_stale() -> None:
    services, slices = recorded_objects("iptables")
    moved = [
        msgspec.structs.replace(
            service_, spec=msgspec.structs.replace(service_.spec, cluster_ip="10.96.9.9", cluster_ips=("10.96.9.9",))
        )
        if service_.name == "wrong-port"
        else service_
        for service_ in services
    ]
    kinds = {row.kind: row.frontend for row in drift(_table(), moved, slices, VIEW).rows}
    assert kinds == {
        DifferenceKind.FRONTEND_MISSING: Frontend("10.96.9.9", "TCP", 80),
        DifferenceKind.FRONTEND_STALE: Frontend("10.96.225.249", "TCP", 80),
    }


@pytest.mark.parametrize(
    ("last_sync", "at", "cause", "age"),
    [
        (90.0, 110.0, StaleCause.LATE, 10.0),
        (90.0, 200.0, StaleCause.STUCK, 100.0),
        (150.0, 200.0, StaleCause.ALTERED, 100.0),
        (None, 200.0, StaleCause.UNKNOWN, 100.0),
        (90.0, None, StaleCause.LATE, None),
    ],
)
def test_the_age_of_a_difference_says_late_stuck_or_altered(
    last_sync: float | None, at: float | None, cause: StaleCause, age: float | None
) -> None:
    services, slices = recorded_objects("iptables")
    change = "1970-01-01T00:01:40Z"
    dated = tuple(
        msgspec.structs.replace(
            item,
            metadata=msgspec.structs.replace(
                item.metadata,
                managed_fields=slice_of("x", [], changed=change).metadata.managed_fields,
            ),
        )
        for item in without_endpoint(slices, "echo-server", "10.244.1.9")
    )
    (row,) = drift(_table(), services, dated, VIEW, times=Times(at=at, last_sync=last_sync)).rows
    assert row.kind is DifferenceKind.STALE
    assert (row.cause, row.age) == (cause, age)


def test_managed_fields_tell_the_change_better_than_the_trigger_annotation() -> None:
    item = slice_of("s", [], changed="2026-01-01T00:00:10Z")
    noted = msgspec.structs.replace(
        item,
        metadata=msgspec.structs.replace(
            item.metadata, annotations={"endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z"}
        ),
    )
    assert changed_at(noted) == seconds_of("2026-01-01T00:00:10Z")
    assert seconds_of("yesterday") is None


def test_a_family_that_the_dump_does_not_show_is_said_and_not_accused() -> None:
    services, slices = recorded_objects("iptables")
    six = service("six", "fd00:10:96::1")
    report = drift(_table(), [*services, six], slices, VIEW)
    assert report.clean
    assert [gap.family for gap in report.not_covered] == [6]


def test_a_rule_that_is_not_understood_in_a_chain_of_a_service_is_undecided() -> None:
    services, slices = recorded_objects("iptables")
    change = ("-m statistic --mode random --probability 0.50000000000", "-m new-match --odd 3")
    report = drift(_table(change), services, slices, VIEW)
    assert not report.decided
    assert not [row for row in report.rows if row.kind not in (DifferenceKind.MISSING, DifferenceKind.UNEVEN_SHARES)]


def test_one_row_tells_all_origins_it_holds_for() -> None:
    services, slices = recorded_objects("iptables")
    change = ('-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES\n', "")
    rows = drift(_table(change), services, slices, VIEW).rows
    assert {row.origins for row in rows} == {(TrafficOrigin.NODE,)}
    assert {row.kind for row in rows} == {DifferenceKind.FRONTEND_MISSING}


@pytest.mark.parametrize("kept", ["filter", "nat"])
def test_a_dump_with_one_of_kube_proxys_tables_leaves_the_other_undecided(kept: str) -> None:
    """As `iptables-save -t` prints it, or a dump that was cut between two tables."""
    text = recorded("iptables", "w1.iptables-save.txt")
    start = text.index(f"*{kept}\n")
    text = text[start : text.index("COMMIT\n", start) + len("COMMIT\n")]
    table = fullest(Kind.IPTABLES_SAVE, text, "w1", recorded_nodes("iptables")["w1"].addresses)
    services, slices = recorded_objects("iptables")
    report = drift(table, services, slices, VIEW)
    assert not report.rows
    assert [undecided.text for undecided in report.undecided] == [
        f"the dump has no table ip {'nat' if kept == 'filter' else 'filter'}"
    ]


def test_a_nat_table_without_kube_proxys_chains_misses_every_frontend() -> None:
    """The neighbour: the table is there, and it is empty."""
    text = recorded("iptables", "w1.iptables-save.txt")
    start = text.index("*nat\n")
    end = text.index("COMMIT\n", start)
    empty = "*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n"
    table = fullest(
        Kind.IPTABLES_SAVE, text[:start] + empty + text[end:], "w1", recorded_nodes("iptables")["w1"].addresses
    )
    services, slices = recorded_objects("iptables")
    assert DifferenceKind.FRONTEND_MISSING in {row.kind for row in drift(table, services, slices, VIEW).rows}


def _remembering(backend: str, client: str) -> tuple[str, str]:
    """The first recording's affinity set of a backend, with a client that the kernel noted in it."""
    head = f"__{backend} {{\n\t\ttype ipv4_addr\n\t\tsize 65535\n\t\tflags dynamic,timeout\n\t\ttimeout 3h\n"
    return head, f"{head}\t\telements = {{ {client} expires 2h59m56s92ms }}\n"


@pytest.mark.parametrize("client", ["172.30.0.12", "10.244.1.2", "198.51.100.77"])
@pytest.mark.parametrize("backend", ["10.244.1.9/8080", "10.244.2.4/8080"])
def test_a_client_that_affinity_holds_takes_no_backend_from_the_table(backend: str, client: str) -> None:
    """Each node remembers clients of its own, the node itself among them; that says nothing of what it holds."""
    assert not _kinds(_table(_remembering(backend, client), "nftables"), "nftables")


def test_a_client_that_affinity_holds_goes_where_it_went_and_another_anywhere() -> None:
    table = _table(_remembering("10.244.2.4/8080", "10.244.1.77"), "nftables")
    services, _ = recorded_objects("nftables")
    address = next(service_.cluster_ips[0] for service_ in services if service_.name == "echo-server")
    both = {Backend("10.244.1.9", 8080), Backend("10.244.2.4", 8080)}
    packet = Packet("10.244.1.77", TrafficOrigin.POD, "TCP", address, 80)
    assert set(trace(table, packet._replace(known=True)).addresses) == {Backend("10.244.2.4", 8080)}
    assert set(trace(table, packet).addresses) == both
    assert set(trace(table, packet._replace(source="10.244.1.78", known=True)).addresses) == both


def test_turns_by_count_share_as_chances_do() -> None:
    even = ("--mode random --probability 0.50000000000", "--mode nth --every 2 --packet 0")
    assert not _kinds(_table(even))
    uneven = ("--mode random --probability 0.50000000000", "--mode nth --every 3 --packet 0")
    assert set(_kinds(_table(uneven))) == {DifferenceKind.UNEVEN_SHARES}


def test_a_stale_backend_that_stands_in_a_slice_is_said_to() -> None:
    services, slices = recorded_objects("iptables")
    changed = tuple(
        msgspec.structs.replace(
            item,
            endpoints=tuple(
                msgspec.structs.replace(
                    endpoint, conditions=msgspec.structs.replace(endpoint.conditions, ready=False, serving=False)
                )
                if endpoint.addresses == ("10.244.2.4",) and endpoint.conditions is not None
                else endpoint
                for endpoint in item.endpoints or ()
            ),
        )
        if item.metadata.name.startswith("echo-server")
        else item
        for item in slices
    )
    (row,) = drift(_table(), services, changed, VIEW).rows
    assert (row.kind, row.note) == (DifferenceKind.STALE, "not ready in slice echo-server-kh2l8")
    (gone,) = drift(_table(), services, without_endpoint(slices, "echo-server-", "10.244.2.4"), VIEW).rows
    assert (gone.kind, gone.note) == (DifferenceKind.STALE, "")


def test_rules_that_name_another_service_at_the_address_are_said_to() -> None:
    table = _table(("service-ops/echo-server", "bank/ledger:grpc"))
    services, slices = recorded_objects("iptables")
    report = drift(table, services, without_endpoint(slices, "echo-server-", "10.244.2.4"), VIEW)
    (row,) = [row for row in report.rows if row.kind is DifferenceKind.STALE]
    assert "bank/ledger:grpc" in row.note
