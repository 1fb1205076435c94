"""Kubernetes objects in YAML: every document of a stream, Lists and watch events, with errors where they stand.

A document of a wrong type is reported with line and column, and the others of its file are kept. Records and rules are
those of the JSON reader (kubernetesrecords.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import Harm
from svcpath.evidence.formats import proxyconfig, yamltree
from svcpath.evidence.formats.item import Item, Listing, Watched, damaged
from svcpath.evidence.formats.kubernetesrecords import (
    KIND_OF,
    RECORDS,
    Bare,
    NotKubernetes,
    bare_secret,
    fact_kind,
    has_pod_template,
    infer_kind,
    is_object,
    record_name,
    with_kind,
    without_last_applied,
    workload_like,
)

#: An action of Go's text/template: a chart's source.
_TEMPLATE = re.compile(r"\{\{-? ?[^{}\n]+\}\}")
_PATH = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]|\['?([^\]']*)'?\]")


class Template(FormatError):
    """YAML with template actions in it: a chart's source and no object of a cluster."""


def read_yaml(text: str) -> list[Item | Listing]:
    """Objects of a YAML text. Raises FormatError when no document is a Kubernetes object, TooLarge above the limit."""
    found: list[Item | Listing] = []
    good = 0
    foreign = 0
    errors: list[FormatError] = []
    for document in yamltree.documents(text):
        if isinstance(document, FormatError):
            errors.append(_as_template(document, text))
        elif document.value is None:
            continue
        elif not is_object(document.value) and not _is_watch(document.value):
            foreign += 1
        else:
            good += 1
            found.extend(_yaml_document(document))
    if not good:
        if errors and _TEMPLATE.search(text):
            raise Template("a template that is not rendered: give what helm template or the cluster prints")
        if errors:
            raise errors[0]
        raise NotKubernetes("no document is a Kubernetes object")
    total = good + foreign + len(errors)
    for error in errors:
        where = damaged("Kubernetes objects", str(error), line=error.line, read=f"{good} of {total} documents")
        found.append(where)
    if foreign:
        found.append(damaged("Kubernetes objects", f"{foreign} documents are no Kubernetes objects", harm=Harm.FOREIGN))
    return found


def _as_template(error: FormatError, text: str) -> FormatError:
    """The error of a chart's template, which is no YAML before it is rendered, says so."""
    lines = text.split("\n")
    near = lines[max(0, error.line - 3) : error.line] if error.line else lines
    if not any("{{" in line for line in near):
        return error
    message = f"{error.message}; {{{{ }}}} belongs to a template: give what `helm template` or `kustomize build` makes"
    return FormatError(message, line=error.line, column=error.column)


def _is_watch(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and is_object(value.get("object"))


def _yaml_document(document: yamltree.YamlDocument) -> Iterator[Item | Listing]:
    value = document.value
    kind = value.get("kind") or ""
    if _is_watch(value) and not kind:
        received = value.get("received") or value.get("time")
        watched = Watched(value["type"], received if isinstance(received, str) else "")
        yield _convert(value["object"], document, ("object",), watched=watched)
        return
    if kind == proxyconfig.KIND:
        yield Item(Kind.KUBE_PROXY_CONFIG, proxyconfig.from_value(value), document.line)
        return
    if isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items"), list):
        meta = value.get("metadata")
        meta = meta if isinstance(meta, dict) else {}
        complete = not meta.get("continue") and not meta.get("remainingItemCount")
        item_kind = kind.removesuffix("List")
        api_version = value.get("apiVersion") if item_kind and isinstance(value.get("apiVersion"), str) else ""
        name = record_name(item_kind, api_version or "")
        if complete:
            yield Listing(KIND_OF.get(name) if name else None, document.line)
        for index, item in enumerate(value["items"]):
            yield _convert(
                item, document, ("items", index), complete, default_kind=item_kind, default_version=api_version or ""
            )
        return
    yield _convert(value, document, ())


def _convert(
    value: Any,
    document: yamltree.YamlDocument,
    path: tuple[yamltree.Step, ...],
    listing: bool = False,
    watched: Watched | None = None,
    default_kind: str = "",
    default_version: str = "",
) -> Item:
    line, _ = document.positions.at(path)
    try:
        obj = convert(value, default_kind, default_version)
    except FormatError as error:
        at = document.positions.at((*path, *_steps(error.path)))
        where = FormatError(error.message, line=at[0], column=at[1])
        return damaged("Kubernetes objects", str(where), line=at[0], read="the other objects")
    return Item(fact_kind(obj), obj, line, listing, watched)


def convert(value: Any, default_kind: str = "", default_version: str = "") -> api.Object:
    """Record of one object that is already decoded. Raises FormatError whose ``path`` is the place in the object."""
    if not isinstance(value, dict):
        raise FormatError("an object must be a mapping")
    kind = value.get("kind") or default_kind or infer_kind(value)
    version = value.get("apiVersion") or default_version
    if not isinstance(kind, str) or not isinstance(version, str):
        raise FormatError("kind and apiVersion must be text")
    try:
        if kind == "Secret":
            return bare_secret(msgspec.convert(value, Bare))
        name = record_name(kind, version)
        obj: api.Object = (
            workload_like(value)
            if not name and has_pod_template(value.get("spec"))
            else msgspec.convert(value, RECORDS[name])
        )
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        raise FormatError(f"{kind}: {error}", path=where.strip("`") if what else "") from error
    except RecursionError as error:
        raise FormatError("nested too deeply") from error
    return without_last_applied(with_kind(obj, kind, version))


def _steps(path: str) -> tuple[yamltree.Step, ...]:
    """msgspec's ``$.spec.ports[0]`` as steps; stops where it does not tell the key (``[...]``)."""
    steps: list[yamltree.Step] = []
    for match in _PATH.finditer(path.removeprefix("$")):
        name, index, key = match.groups()
        if name is not None:
            steps.append(name)
        elif index is not None:
            steps.append(int(index))
        elif key:
            steps.append(key)
        else:
            break
    return tuple(steps)
