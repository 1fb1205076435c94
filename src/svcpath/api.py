"""The library: what ``import svcpath`` re-exports, for notebooks, tests and operators.

    >>> import svcpath
    >>> report = svcpath.diagnose(svcpath.recording("iptables"), "svc/wrong-port", namespace="service-ops")
    >>> report.verdict.status, report.verdict.layer, report.verdict.code
    ('fault', 'ports', 'SP403')

Evidence comes from any Source: ``files(path, ...)`` for what is on disk, ``recording(name)`` for what ships with the
package, or an object of one's own with an ``observe`` method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from svcpath.errors import UsageError
from svcpath.evidence.facts.source import Source
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.recordings import recording
from svcpath.models.resolvers import COMPARED, World, canonical, compare
from svcpath.reports import resolve as resolve_contract
from svcpath.reports.report import Report, report
from svcpath.reports.resolve import ResolveReport
from svcpath.walk.driver import Driver
from svcpath.walk.findings.finding import LayerResult
from svcpath.walk.layers.resolution.surroundings import surroundings
from svcpath.walk.request import Request
from svcpath.walk.walk import walk

__all__ = ["Report", "Request", "ResolveReport", "Source", "diagnose", "files", "recording", "request", "resolve"]

#: Kinds of target that name a Service.
_SERVICE_KINDS = ("svc", "service", "services")


def request(
    target: str = "",
    *,
    namespace: str = "",
    port: str = "",
    client: str = "",
    container: str = "",
    as_name: str = "",
    resolver: str = "",
    symptom: str = "",
) -> Request:
    """Read a target as users write it.

    ``target``: "svc/NAME", "service/NAME", "NAME" or "NAME.NAMESPACE". ``client``: "pod/NAME", "pod/NAMESPACE/NAME",
    "node/NAME" or a Pod's name. Raises UsageError for anything else.
    """
    kind, slash, name = target.partition("/")
    if slash:
        if kind.lower() not in _SERVICE_KINDS or not name:
            raise UsageError(f"target {target!r}: give a Service as svc/NAME")
    else:
        name = target
        if not namespace and "." in name.rstrip("."):
            name, _, rest = name.rstrip(".").partition(".")
            namespace = rest.partition(".")[0]
    pod = node = ""
    if client:
        kind, slash, rest = client.partition("/")
        if not slash:
            pod = client
        elif kind in ("pod", "po", "pods"):
            pod = rest
        elif kind in ("node", "no", "nodes"):
            node = rest
        else:
            raise UsageError(f"--from {client!r}: give pod/NAME or node/NAME")
    return Request(
        namespace=namespace,
        service=name,
        port=port,
        client=pod,
        client_node=node,
        container=container,
        as_name=as_name,
        resolver=resolver,
        symptom=symptom,
    )


def files(*paths: str | Path) -> FilesSource:
    """Files and folders as a Source; each file is recognised by its content.

    Raises SourceUnavailable when a path can't be read at all.
    """
    return FilesSource([Path(one) for one in paths])


def diagnose(
    source: Source,
    target: str = "",
    *,
    namespace: str = "",
    port: str = "",
    client: str = "",
    container: str = "",
    as_name: str = "",
    resolver: str = "",
    symptom: str = "",
    progress: Callable[[LayerResult], None] | None = None,
) -> Report:
    """Walk all layers for one Service over ``source`` and return the report (contract ``svcpath.report/v1``).

    ``progress`` is called with each layer's result as it is there. Raises UsageError when it is not clear what is
    meant, SourceUnavailable when the source can't be read at all.
    """
    asked = request(
        target,
        namespace=namespace,
        port=port,
        client=client,
        container=container,
        as_name=as_name,
        resolver=resolver,
        symptom=symptom,
    )
    return report(walk(source, asked, progress))


def resolve(
    source: Source,
    names: Sequence[str],
    *,
    resolver: str = "",
    client: str = "",
    namespace: str = "",
    world: World | None = None,
) -> ResolveReport:
    """What resolvers make of ``names``: each query, its answer, the rule that led on, and the outcome.

    ``resolver`` is one resolver's name, or "" or "all" to compare. The client's resolv.conf, hosts and nsswitch.conf come
    from ``source``; the answers too (recorded ones, then the CoreDNS model over the objects), unless ``world`` is given.
    Raises UsageError for an unknown resolver.
    """
    asked = request("", namespace=namespace, client=client)
    around = Driver(source).run(surroundings(asked))
    chosen = COMPARED if resolver in ("", "all") else (canonical(resolver),)
    comparisons = tuple(compare(name, around.environment, world or around.world, chosen) for name in names)
    return resolve_contract.report(comparisons, around.environment.resolv_conf or "")
