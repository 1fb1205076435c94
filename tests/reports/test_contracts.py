"""The JSON contracts: schemas as shipped, saved results that read back as they were written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from svcpath import api
from svcpath.drain.load import load
from svcpath.errors import FormatError
from svcpath.evidence.sources.recordings import recording
from svcpath.models.drain.moments import SampledConnection
from svcpath.reports.contracts import CONTRACTS, Contract, json_schema, read
from svcpath.reports.records import Record
from svcpath.reports.renderers import html
from svcpath.reports.report import encode
from svcpath.reports.timeline import timeline_report
from tests.reports.samples import RECORDED, drain, every_code, hostile, recorded, score
from tests.reports.write_schemas import path_of, text_of

DATA = Path(__file__).parent.parent / "data"
CASES = Path(__file__).parent.parent / "cases" / "public"


def results() -> list[Record]:
    source = recording("nftables")
    return [
        *(recorded(mode, service) for mode, service in RECORDED),
        every_code(),
        api.resolve(source, ["wrong-port", "echo-server.service-ops.svc.cluster.local"]),
        api.drift(source),
        api.frontends(source),
        *api.trace(source, "10.96.0.10", 53, "UDP"),
        score(),
        drain(),
        api.budget(api.manifests(CASES / "62-prestop-longer-than-grace"), longest_request=6),
        _drain(),
    ]


def _drain() -> Record:
    """The recorded drain, and connections beside it."""
    found, gaps = load([DATA / "drain" / "recorded"])
    made = tuple(
        SampledConnection(
            "http", found.zero + i, found.zero + i, None, None, found.zero + i + 0.25, f"web-{i % 2}", outcome
        )
        for i, outcome in enumerate(("ok", "refused", "ok", "http-error"))
    )
    return timeline_report(msgspec.structs.replace(found, connections=made), gaps)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.schema)
def test_the_shipped_schema_is_what_the_types_say(contract: Contract) -> None:
    """python -m tests.reports.write_schemas writes them."""
    assert path_of(contract).read_text() == text_of(contract)


def test_what_is_written_fits_its_schema_and_reads_back_the_same() -> None:
    seen = set()
    for result in results():
        raw = encode(result)
        contract, back = read(raw)
        seen.add(contract.schema)
        jsonschema.Draft202012Validator(json_schema(contract)).validate(json.loads(raw))
        assert encode(back) == raw
        assert html.render(contract.long(back)) == html.render(contract.long(result))
    assert seen == set(CONTRACTS)


def test_a_report_of_hostile_text_still_reads_back() -> None:
    raw = encode(hostile())
    assert encode(read(raw)[1]) == raw


def test_a_wrong_status_does_not_fit_the_schema() -> None:
    contract = CONTRACTS["svcpath.report/v1"]
    spoilt = json.loads(encode(every_code()))
    spoilt["layers"][0]["decisive"] = "yes"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_schema(contract)).validate(spoilt)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"schema": 3}', b'{"schema": "x/v1"}', b'{"schema": "svcpath.report/v1"}']
)
def test_what_is_no_result_is_a_format_error_that_names_the_file(raw: bytes) -> None:
    with pytest.raises(FormatError, match=r"saved\.json"):
        read(raw, "saved.json")
