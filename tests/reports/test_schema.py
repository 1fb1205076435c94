"""Every report there is keeps to the shipped schema, and points only at what it holds."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.recordings import recording
from svcpath.reports.records import Report
from svcpath.reports.report import decode, encode
from tests.cases.public.case import case, names
from tests.walk.layers.every_input import BROKEN, SOUND


def _shipped(name: str) -> Any:
    return json.loads(importlib.resources.files("svcpath.reports").joinpath("schemas", name).read_bytes())


def _reports() -> Iterator[tuple[str, Report]]:
    for mode in ("iptables", "nftables"):
        for service in ("echo-server", "echo-headless", "empty-service", "wrong-port"):
            report = diagnose(recording(mode), f"svc/{service}", namespace="service-ops", symptom="refused")
            yield f"{mode} {service}", report
    for name in names(1, 99):
        yield name, case(name).report
    for made in (*BROKEN, *SOUND):
        yield made.name, made.report


def test_every_report_keeps_to_the_schema_and_comes_back_as_it_was() -> None:
    shipped = _shipped("svcpath.report-v1.schema.json")
    jsonschema.Draft202012Validator.check_schema(shipped)
    validator = jsonschema.Draft202012Validator(shipped)
    seen = 0
    for where, report in _reports():
        errors = [
            f"{where}: {error.json_path}: {error.message}"
            for error in validator.iter_errors(json.loads(encode(report)))
        ]
        assert not errors, "\n".join(errors)
        assert decode(encode(report)) == report, where
        seen += 1
    assert seen > 100


def test_the_schema_refuses_what_is_no_report() -> None:
    validator = jsonschema.Draft202012Validator(_shipped("svcpath.report-v1.schema.json"))
    good = json.loads(encode(diagnose(recording("iptables"), "svc/wrong-port", namespace="service-ops")))
    validator.validate(good)
    changes: tuple[dict[str, Any], ...] = (
        {"schema": "svcpath.report/v2"},
        {"verdict": {**good["verdict"], "summary": None}},
        {"verdict": "fault"},
        {"layers": [{**good["layers"][0], "decisive": "yes"}]},
        {"findings": {}},
    )
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**good, **change})
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({key: value for key, value in good.items() if key != "findings"})


def test_a_report_points_only_at_what_it_holds() -> None:
    for where, report in _reports():
        known = {observation.id for observation in report.observations}
        indices = [index for layer in report.layers for index in layer.findings]
        assert indices == list(range(len(report.findings))), where
        assert [layer.name for layer in report.layers] == [
            "resolution",
            "service",
            "endpoints",
            "ports",
            "pod",
            "dataplane",
            "lifecycle",
        ]
        for finding in report.findings:
            for piece in (
                *finding.evidence,
                *(two for hypothesis in finding.hypotheses for two in hypothesis.supports),
            ):
                assert piece.observation is None or piece.observation in known, where
        if report.verdict.status in ("fault", "warning"):
            deciding = [finding for finding in report.findings if finding.code == report.verdict.code]
            assert deciding, where
            assert report.verdict.layer in {finding.layer for finding in deciding}, where
