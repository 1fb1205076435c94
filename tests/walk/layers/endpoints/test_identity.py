"""What the one Pod that was read shows by itself counts, though others may be unread."""

from __future__ import annotations

from tests.walk.layers.endpoints.partial_evidence import one_pod_of_two_read_by_its_name


def test_a_pod_read_by_its_name_that_has_another_address_contradicts_its_slice() -> None:
    made = one_pod_of_two_read_by_its_name()
    made.get("Pod", "web-1")["metadata"]["labels"] = {"app": "other"}
    for endpoint in made.get("EndpointSlice")["endpoints"]:
        if endpoint["targetRef"]["name"] == "web-1":
            endpoint["addresses"] = ["10.244.1.77"]
    verdict = made.diagnose().verdict
    assert (verdict.status, verdict.code) == ("fault", "SP306")
    assert "Pod web-1 has 10.244.1.11" in verdict.summary
