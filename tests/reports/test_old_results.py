"""What an earlier svcpath wrote in words that are not used any more is refused, with the command that writes it again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from svcpath import api
from svcpath.drain.store import Store
from svcpath.errors import FormatError
from svcpath.evidence.formats import bundles
from svcpath.evidence.sources.recordings import recording
from svcpath.reports.contracts import read
from svcpath.reports.report import encode
from tests.reports.samples import drain, every_code

CASES = Path(__file__).parent.parent / "cases" / "public"
_EARLIER = "written by an earlier svcpath: run `{}` again"


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    return [_renamed(item, names) for item in value] if isinstance(value, list) else value


def _refused(document: dict[str, Any], command: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(json.dumps(document, indent=1).encode(), "saved.json")
    assert caught.value.message == _EARLIER.format(command)


@pytest.mark.parametrize(
    "names", [{"not_looked_at": "not_tested"}, {"confidence": "standing"}, {"disproof": "falsifier"}]
)
def test_a_report_in_old_words(names: dict[str, str]) -> None:
    _refused(_renamed(json.loads(encode(every_code())), names), "svcpath diagnose")


def test_a_resolve_report_with_mends() -> None:
    report = json.loads(encode(api.resolve(recording("nftables"), ["wrong-port"])))
    _refused(_renamed(report, {"fixes": "mends", "fixed": "mended"}), "svcpath resolve")


@pytest.mark.parametrize("outcome", ["lost", "open"])
def test_a_budget_that_is_lost_or_open(outcome: str) -> None:
    report = json.loads(encode(api.budget(api.manifests(CASES / "62-prestop-longer-than-grace"), longest_request=6)))
    report["outcome"] = report["workloads"][0]["outcome"] = outcome
    _refused(report, "svcpath budget")


def test_a_drill() -> None:
    report = json.loads(encode(drain()))
    _refused(report | {"schema": "svcpath.drill/v1"}, "svcpath drain run")
    _refused(_renamed(report, {"sentence": "said"}), "svcpath drain run")


def test_what_never_was_a_result_is_not_called_an_old_one() -> None:
    with pytest.raises(FormatError, match=r"no svcpath\.budget/v1"):
        read(b'{"schema": "svcpath.budget/v1", "outcome": "perhaps"}')


def _bundle(line: dict[str, Any] | None = None, need: dict[str, Any] | None = None, **request: str) -> dict[str, bytes]:
    """The members of a bundle that holds one observation or Need."""
    members = {
        bundles.OBSERVATIONS: json.dumps(line).encode() if line else b"",
        bundles.NEEDS: json.dumps({"need": need, "by": []}).encode() if need else b"",
    }
    listed = {name: bundles.Member(len(data), hashlib.sha256(data).hexdigest()) for name, data in members.items()}
    manifest = bundles.Manifest(request=request, members=listed)
    return {bundles.MANIFEST: msgspec.json.encode(manifest), **members}


@pytest.mark.parametrize(
    "members",
    [
        _bundle(target="svc/web", as_name="web.shop"),
        _bundle({"id": 0, "kind": "twins", "state": "absent", "reason": "nothing-there"}),
        _bundle({"id": 0, "kind": "timeline", "state": "present", "type": "Timeline", "value": {"entries": []}}),
        _bundle(need={"kind": "twins"}),
    ],
    ids=["request", "kind", "type", "need"],
)
def test_a_bundle_in_old_words(members: dict[str, bytes]) -> None:
    with pytest.raises(FormatError) as caught:
        bundles.unpack(members)
    assert caught.value.message == _EARLIER.format("svcpath collect")


def test_a_bundle_in_the_words_of_today() -> None:
    assert bundles.unpack(_bundle(target="svc/web", lookup="web.shop")).manifest.request["lookup"] == "web.shop"


def test_a_recording_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "drain.db"
    Store(path).close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
    with pytest.raises(FormatError, match=r"of version 0; .* record the drain again"):
        Store(path)
