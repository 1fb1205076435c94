"""Rules of another mode that catch the Service's packets first are the cause; what the table then lacks is their effect."""

from __future__ import annotations

import gzip

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.report import Report

#: As `nft list ruleset` shows what iptables-nft wrote, before kube-proxy's own table; echo-server's cluster IP.
LEFT = """table ip nat {
	chain PREROUTING {
		type nat hook prerouting priority dstnat; policy accept;
		counter packets 9 bytes 540 jump KUBE-SERVICES
	}

	chain KUBE-SVC-ABCDEFGHIJKLMNOP {
		counter packets 0 bytes 0 jump KUBE-SEP-ABCDEFGHIJKLMNOP
	}

	chain KUBE-SERVICES {
		ip daddr 10.96.28.101 tcp dport 80 counter packets 0 bytes 0 jump KUBE-SVC-ABCDEFGHIJKLMNOP
	}

	chain KUBE-SEP-ABCDEFGHIJKLMNOP {
		meta l4proto tcp  counter packets 0 bytes 0 dnat to 10.244.250.9:8080
	}
}
"""


def _diagnose(before: str) -> Report:
    files = {name: data for name, data in recording_files("nftables").items() if "attempts" not in name}
    files.pop("w2.nft.json.gz")
    listed = gzip.decompress(files.pop("w2.nft-ruleset.txt.gz")).decode()
    at = listed.index("table ip kube-proxy")
    files["w2.nft-ruleset.txt"] = (listed[:at] + before + listed[at:]).encode()
    return diagnose(BytesSource(files), "svc/echo-server", namespace="service-ops", client="pod/client")


def test_rules_of_another_mode_lead_over_what_they_make_of_the_table() -> None:
    report = _diagnose(LEFT)
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == ("fault", "dataplane", "SP607")
    assert "SP603" in {one.code for one in report.findings}


def test_rules_of_another_mode_for_another_address_change_nothing() -> None:
    assert _diagnose(LEFT.replace("10.96.28.101", "10.96.28.102")).verdict.code != "SP607"
