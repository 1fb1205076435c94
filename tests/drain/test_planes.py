"""Node tables that a loop prints become changes, each between two readings."""

from __future__ import annotations

import io
import subprocess
import time
from pathlib import Path

from svcpath.drain.planes import LOOP, PlaneReading, PlaneWatcher, dumps, holding, tables_of
from svcpath.drain.store import Store
from svcpath.evidence.facts.need import Kind
from tests.drain.local import Printed

TABLE = (Path(__file__).parents[1] / "data" / "dataplanes" / "drain" / "w1.during.nft.txt").read_text()
#: The same node before the deletion: the old Pod in the place of the new one.
BEFORE = TABLE.replace("10.244.1.40", "10.244.1.9")


def _printed(*readings: tuple[int, int, str]) -> bytes:
    return "".join(f"@@ {old} {new} {new + 10**7} nft-list\n{text}\n@@ end\n" for old, new, text in readings).encode()


def test_readings_are_cut_out_of_the_stream_with_their_width() -> None:
    printed = b"nft: warning\n" + _printed((0, 0, TABLE), (10**9, 1_300_000_000, BEFORE))
    first, second = dumps(io.BytesIO(printed))
    assert (first.kind, first.text.strip()) == (Kind.NFT_LIST, TABLE.strip())
    assert second.width == 0.3
    assert list(dumps(io.BytesIO(b"@@ a b c d\nx\n@@ end\n@@ 1 2"))) == []


def test_a_backend_that_leaves_and_one_that_comes_are_two_changes(tmp_path: Path) -> None:
    store = Store(tmp_path / "drain.db")
    command = Printed(_printed((0, 0, BEFORE), (10**9, 1_250_000_000, TABLE)).splitlines(keepends=True))
    watcher = PlaneWatcher("w1", command, store, frozenset({"10.96.28.101"}))
    watcher.run()
    changes = store.planes()
    assert {(change.node, change.frontend, change.backend, change.present) for change in changes} == {
        ("w1", "10.96.28.101:80/tcp", "10.244.1.9:8080", False),
        ("w1", "10.96.28.101:80/tcp", "10.244.1.40:8080", True),
    }
    assert all(abs(change.at - change.after - 0.26) < 1e-6 for change in changes)
    assert not watcher.error
    store.close()


def test_a_change_lies_between_the_monitors_words_where_there_is_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "drain.db")
    printed = _printed((0, 0, BEFORE), (10**9, 31 * 10**9, TABLE)).splitlines(keepends=True)
    command = Printed(printed, [b"add element ip kube-proxy service-ips\n"])
    watcher = PlaneWatcher("w1", command, store, frozenset({"10.96.28.101"}))
    earliest = time.time()
    watcher.listen()
    latest = time.time()
    watcher.run()
    assert all(earliest <= plane.after == plane.at <= latest for plane in store.planes())
    assert len(store.planes()) == 2
    store.close()


def test_the_loop_prints_a_table_when_it_differs_and_ends_with_its_input(tmp_path: Path) -> None:
    (tmp_path / "nft").write_text(
        '#!/bin/sh\n[ "$4" = ip ] && [ "$3" = ip ] && cat "$TABLE" && exit 0\n[ "$3" = ip ] && cat "$TABLE"\n'
    )
    (tmp_path / "nft").chmod(0o755)
    table = tmp_path / "table"
    table.write_text(BEFORE)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "TABLE": str(table)}
    process = subprocess.Popen(
        ["sh", "-c", LOOP.replace("INTERVAL", "0.05")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert process.stdout is not None
    try:
        readings = dumps(process.stdout)
        assert "10.244.1.9" in next(readings).text
        table.with_name("new").write_text(TABLE)
        table.with_name("new").replace(table)
        assert "10.244.1.40" in next(readings).text
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.stdout.close()


NAT = """\
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]
:KUBE-SEP-BBBBBBBBBBBBBBBB - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d {service} -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-AAAAAAAAAAAAAAAA
-A KUBE-SVC-AAAAAAAAAAAAAAAA -m comment --comment "shop/web:http" -j KUBE-SEP-BBBBBBBBBBBBBBBB
-A KUBE-SEP-BBBBBBBBBBBBBBBB -p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination {backend}
COMMIT
"""


def test_both_families_of_an_iptables_node_are_read() -> None:
    four = NAT.format(service="10.96.0.9/32", backend="10.244.1.5:8080")
    six = NAT.format(service="fd00:96::9/128", backend="[fd00:244::5]:8080")
    addresses = frozenset({"10.96.0.9", "fd00:96::9"})
    both = holding(tables_of(PlaneReading(0.2, 0.0, Kind.IPTABLES_SAVE, f"{four}@6\n{six}"), "w1"), addresses)
    assert sorted(both.items()) == [
        ("10.96.0.9:80/tcp", frozenset({"10.244.1.5:8080"})),
        ("[fd00:96::9]:80/tcp", frozenset({"[fd00:244::5]:8080"})),
    ]
    alone = holding(tables_of(PlaneReading(0.2, 0.0, Kind.IPTABLES_SAVE, f"{four}@6\n"), "w1"), addresses)
    assert list(alone) == ["10.96.0.9:80/tcp"]
