"""JSON that is no Kubernetes object: nft -j, cilium, calico, load balancer health, versions, JVM settings, attempts.

Distinguished by the keys of the document. AWS shapes: elasticloadbalancing API 2015-12-01, DescribeTargetHealth and
DescribeTargetGroups; DescribeTargetGroupAttributes names the deregistration delay.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import (
    JvmRuns,
    JvmSettings,
    LoadBalancerHealth,
    LoadBalancerTarget,
    NodeReport,
    NodeReports,
)
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats import attempts
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.text import Text

_NFT = re.compile(r'\s*\{\s*"nftables"\s*:\s*\[')


def read_json_kind(text: Text) -> list[Item] | None:
    """Facts of a JSON document of one of these kinds; None when it is none of them. Raises FormatError as they do."""
    if _NFT.match(text.text[:200]):
        return [Item(Kind.NFT_JSON, RawText(text.text))]
    try:
        value = msgspec.json.decode(text.utf8)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if isinstance(value, dict):
        return _object(value, text)
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return _array(value, text)
    return None


def _object(value: dict[str, Any], text: Text) -> list[Item] | None:
    if value.get("schema") == attempts.SCHEMA:
        return [Item(Kind.ATTEMPTS, attempts.from_json(value))]
    keys = {_plain(key) for key in value}
    if keys & _LB_KEYS or keys >= _GOOGLE_KEYS or _names_deregistration(value):
        groups = value.get("TargetGroups")
        several = groups if isinstance(groups, list) and all(isinstance(group, dict) for group in groups) else []
        made = [_load_balancer({**value, "TargetGroups": [item]}) for item in several] or [_load_balancer(value)]
        return [Item(Kind.LOAD_BALANCER_HEALTH, fact) for fact in dict.fromkeys(made)]
    if keys & {"kubeproxy", "kubeproxyversion"}:
        return [Item(Kind.NODE_REPORT, NodeReports((_version(value),)))]
    if _is_jvm(value):
        return [Item(Kind.JVM, JvmRuns((_jvm(value),)))]
    if ("svc" in keys and "backends" in keys) or keys & {"frontends", "natmap"}:
        return [Item(Kind.CALICO_NAT_DUMP, RawText(text.text))]
    return None


def _array(rows: list[dict[str, Any]], text: Text) -> list[Item] | None:
    if all(_plain_has(row, {"kubeproxy", "kubeproxyversion"}) for row in rows):
        return [Item(Kind.NODE_REPORT, NodeReports(tuple(_version(row) for row in rows)))]
    if all(_is_jvm(row) for row in rows):
        return [Item(Kind.JVM, JvmRuns(tuple(_jvm(row) for row in rows)))]
    if all(_is_cilium_service(row) for row in rows):
        return [Item(Kind.CILIUM_SERVICE_LIST, RawText(text.text))]
    if all("backends" in row and {"frontend", "frontends"} & row.keys() for row in rows):
        return [Item(Kind.CALICO_NAT_DUMP, RawText(text.text))]
    if all(_plain_has(row, {"targethealth"}) for row in rows):
        return [Item(Kind.LOAD_BALANCER_HEALTH, _load_balancer({"TargetHealthDescriptions": rows}))]
    return None


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").replace(".", "").lower()


def _plain_has(row: dict[str, Any], keys: set[str]) -> bool:
    return bool({_plain(key) for key in row} & keys)


def _is_cilium_service(row: dict[str, Any]) -> bool:
    spec = row.get("spec")
    return isinstance(spec, dict) and "frontend-address" in spec


# --- kube-proxy versions, JVM settings -------------------------------------------------------------------------


def _version(row: dict[str, Any]) -> NodeReport:
    fields = {_plain(key): (key, value) for key, value in row.items()}
    taken = {"kubeproxy", "kubeproxyversion", "node", "nodename", "name", "status", "kernel", "kernelversion"}
    rest = {key: value for plain, (key, value) in fields.items() if plain not in taken}

    def text(*names: str) -> str:
        value = next((fields[name][1] for name in names if name in fields), "")
        return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""

    return NodeReport(
        name=text("node", "nodename", "name"),
        status=text("status"),
        kernel=text("kernel", "kernelversion"),
        kube_proxy=text("kubeproxy", "kubeproxyversion"),
        note=json.dumps(rest, sort_keys=True) if rest else "",
    )


def _is_jvm(row: dict[str, Any]) -> bool:
    keys = {_plain(key) for key in row}
    return ("flags" in keys and bool(keys & {"securitymanager", "javasecurity"})) or keys >= {"jvm", "flags"}


def _jvm(row: dict[str, Any]) -> JvmSettings:
    fields = {_plain(key): value for key, value in row.items()}
    flags = fields.get("flags")
    properties = fields.get("javasecurity")
    manager = fields.get("securitymanager")
    if flags is not None and not (isinstance(flags, list) and all(isinstance(flag, str) for flag in flags)):
        raise FormatError("JVM settings: flags must be a list of text")
    if properties is not None and not isinstance(properties, dict):
        raise FormatError("JVM settings: java.security must be a mapping")
    return JvmSettings(
        flags=tuple(flags or ()),
        security_manager=manager if isinstance(manager, bool) else None,
        security_properties={str(key): str(value) for key, value in (properties or {}).items()},
    )


# --- load balancer ---------------------------------------------------------------------------------------------

_LB_KEYS = frozenset(
    {
        "targethealthdescriptions",
        "targetgroups",
        "healthcheckintervalseconds",
        "unhealthythresholdcount",
        "deregistrationdelayseconds",
        "deregistrationdelaytimeoutseconds",
        "deregistrationdelay",
    }
)


#: `gcloud compute health-checks describe --format json`.
_GOOGLE_KEYS = frozenset({"checkintervalsec", "unhealthythreshold"})


def _load_balancer(value: dict[str, Any]) -> LoadBalancerHealth:
    settings = {_plain(key): field for key, field in value.items()}
    groups = settings.get("targetgroups")
    if isinstance(groups, list) and groups and isinstance(groups[0], dict):
        settings = {**{_plain(key): field for key, field in groups[0].items()}, **settings}
    attributes = settings.get("attributes")
    for attribute in attributes if isinstance(attributes, list) else []:
        if isinstance(attribute, dict) and isinstance(attribute.get("Key"), str):
            settings[_plain(attribute["Key"])] = attribute.get("Value")
    delay = next((settings[key] for key in settings if key.startswith("deregistrationdelay")), None)
    rows = settings.get("targethealthdescriptions", settings.get("targets"))
    return LoadBalancerHealth(
        health_check_interval=_number(settings.get("healthcheckintervalseconds", settings.get("checkintervalsec"))),
        unhealthy_threshold=_integer(settings.get("unhealthythresholdcount", settings.get("unhealthythreshold"))),
        healthy_threshold=_integer(settings.get("healthythresholdcount", settings.get("healthythreshold"))),
        deregistration_delay=_number(delay),
        targets=tuple(_target(row) for row in (rows if isinstance(rows, list) else []) if isinstance(row, dict)),
    )


def _names_deregistration(value: dict[str, Any]) -> bool:
    rows = value.get("Attributes")
    return isinstance(rows, list) and any(
        isinstance(row, dict) and str(row.get("Key", "")).startswith("deregistration_delay") for row in rows
    )


def _target(row: dict[str, Any]) -> LoadBalancerTarget:
    fields = {_plain(key): value for key, value in row.items()}
    target = fields.get("target", row)
    target = {_plain(key): value for key, value in target.items()} if isinstance(target, dict) else {}
    health = fields.get("targethealth", row)
    health = {_plain(key): value for key, value in health.items()} if isinstance(health, dict) else {}
    return LoadBalancerTarget(
        id=_text(target.get("id")),
        port=_integer(target.get("port")) or 0,
        state=_text(health.get("state")),
        reason=_text(health.get("reason")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return float(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 1e15 else None
