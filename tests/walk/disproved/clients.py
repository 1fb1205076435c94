"""Worlds in which a finding about clients and aliases is wrong."""

from __future__ import annotations

from svcpath.reports import records
from tests.walk.disproved.worlds import World, edit


@edit("SP211")
def _sp211(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    client = made.get("Pod", "client")
    addresses = [address["ip"] for address in client["status"]["podIPs"]]
    other = "10.244.1.77" if all(":" in address for address in addresses) else "fd00:244:1::77"
    client["status"]["podIPs"].append({"ip": other})


@edit("SP318")
def _sp318(made: World, finding: records.Finding, words: dict[str, str]) -> None:
    for slice_ in made.of("EndpointSlice"):
        for endpoint in slice_["endpoints"]:
            endpoint["conditions"] = {"ready": True, "serving": True, "terminating": False}
