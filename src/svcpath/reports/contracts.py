"""All contracts in one table: how a saved JSON result is recognised, read, shown again, and described by a JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.formats import earlier
from svcpath.reports import budget, dataplane, drain, records, resolve, score, timeline
from svcpath.reports.document import Document
from svcpath.reports.records import Record
from svcpath.reports.views import budget as budget_view
from svcpath.reports.views import budget_page, diagnosis_page, drift_page, resolution, resolution_page, timeline_page
from svcpath.reports.views import dataplane as dataplane_view
from svcpath.reports.views import diagnosis as diagnosis_view
from svcpath.reports.views import drain as drain_view
from svcpath.reports.views import score as score_view
from svcpath.reports.views import timeline as timeline_view


class Contract(msgspec.Struct, frozen=True):
    """``short`` is the Document read top to bottom (verbose or not), ``long`` the one with all there is to open. ``command``
    writes it."""

    schema: str
    type: type[Record]
    short: Callable[[Any, bool], Document]
    long: Callable[[Any], Document]
    command: str = ""


CONTRACTS: dict[str, Contract] = {
    contract.schema: contract
    for contract in (
        Contract(
            records.SCHEMA,
            records.Report,
            lambda saved, verbose: diagnosis_view.document(saved, verbose=verbose),
            diagnosis_page.page,
            "svcpath diagnose",
        ),
        Contract(
            resolve.SCHEMA,
            resolve.ResolveReport,
            lambda saved, verbose: resolution.document(saved, verbose=verbose),
            resolution_page.page,
            "svcpath resolve",
        ),
        Contract(
            dataplane.DRIFT_SCHEMA,
            dataplane.DriftContract,
            lambda saved, verbose: dataplane_view.drift_document(saved, verbose=verbose),
            drift_page.page,
            "svcpath dataplane drift",
        ),
        Contract(
            dataplane.TRACE_SCHEMA,
            dataplane.TraceContract,
            lambda saved, verbose: dataplane_view.trace_document((saved,)),
            lambda saved: dataplane_view.trace_document((saved,)),
            "svcpath dataplane trace",
        ),
        Contract(
            dataplane.SHOW_SCHEMA,
            dataplane.ShowContract,
            lambda saved, verbose: dataplane_view.show_document(saved),
            dataplane_view.show_document,
            "svcpath dataplane show",
        ),
        Contract(
            budget.SCHEMA,
            budget.BudgetContract,
            lambda saved, verbose: budget_view.document(saved, verbose=verbose),
            budget_page.page,
            "svcpath budget",
        ),
        Contract(
            timeline.SCHEMA,
            timeline.TimelineContract,
            lambda saved, verbose: timeline_view.document(saved, verbose=verbose),
            timeline_page.page,
            "svcpath drain timeline show",
        ),
        Contract(
            score.SCHEMA,
            score.ScoreContract,
            lambda saved, verbose: score_view.document(saved),
            score_view.page,
            "svcpath lab score",
        ),
        Contract(
            drain.SCHEMA,
            drain.DrainContract,
            lambda saved, verbose: drain_view.document(saved),
            drain_view.page,
            "svcpath drain run",
        ),
    )
}


class _Named(msgspec.Struct):
    schema: str


def read(raw: bytes, path: str = "") -> tuple[Contract, Record]:
    """A saved result and its contract. Raises FormatError for anything else; of one in the words of an earlier svcpath it says
    so."""
    try:
        named = msgspec.json.decode(raw, type=_Named).schema
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"no svcpath result: {error}", path=path) from error
    if named in earlier.SCHEMAS:
        raise FormatError(earlier.advice(CONTRACTS[earlier.SCHEMAS[named]].command), path=path)
    contract = CONTRACTS.get(named)
    if contract is None:
        raise FormatError(f"no contract {named!r}; known are {', '.join(CONTRACTS)}", path=path)
    try:
        return contract, msgspec.json.decode(raw, type=contract.type)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if earlier.FIELDS.search(raw):
            raise FormatError(earlier.advice(contract.command), path=path) from error
        raise FormatError(f"no {named}: {error}", path=path) from error


def json_schema(contract: Contract) -> dict[str, Any]:
    """JSON Schema (2020-12) of one contract, made from the types that write it."""
    made = msgspec.json.schema(contract.type)
    name = contract.type.__name__
    made["$defs"][name]["properties"]["schema"] = {"const": contract.schema}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": contract.schema,
        **made,
    }
