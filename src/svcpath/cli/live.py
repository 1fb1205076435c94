"""Where a command's evidence comes from: files, a bundle, or a running cluster; the flags that all commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec

from svcpath import durations
from svcpath.cli.command import Argument, Option
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.source import Source

if TYPE_CHECKING:
    from svcpath.evidence.sources.kube import ClusterSource
    from svcpath.judge.tally import LayerResult

Target = Annotated[
    str,
    Argument(
        metavar="[TARGET]",
        help="svc/NAME, NAME or NAME.NAMESPACE",
        completion=lambda ctx, incomplete: complete_services(ctx, incomplete),
    ),
]
Namespace = Annotated[
    str,
    Option(
        "-n",
        "--namespace",
        help="Namespace of the Service.",
        completion=lambda ctx, incomplete: complete_namespaces(ctx, incomplete),
    ),
]
Client = Annotated[
    str,
    Option(
        "--from",
        help="Where the connection comes from: pod/NAME or node/NAME.",
        completion=lambda ctx, incomplete: complete_clients(ctx, incomplete),
    ),
]
Container = Annotated[str, Option("-c", "--container", help="Container of the client Pod.")]
Context = Annotated[str, Option("--context", help="Context of the kubeconfig (default: the current one).")]
Kubeconfig = Annotated[str, Option("--kubeconfig", help="Kubeconfig file (default: KUBECONFIG, ~/.kube/config).")]
AsUser = Annotated[str, Option("--as", help="Act as this user (impersonation), e.g. to see what it may see.")]
Timeout = Annotated[str, Option("--timeout", help="Overall timeout: 90, 60s, 2m.")]
NoExec = Annotated[bool, Option("--no-exec", help="Run nothing in any container: API objects and logs alone.")]
AllNodes = Annotated[bool, Option("--all-nodes", help="Look at every node, not the client's alone.")]
Thorough = Annotated[bool, Option("--thorough", help="Connect also where earlier answers decide already.")]
EachNode = Annotated[
    bool, Option("--from-each-node", help="Connect from every node's network too: which nodes are hit.")
]
UntilFault = Annotated[
    str, Option("--until-fault", metavar="TIME", help="Repeat the connections until one fails, e.g. 10m.")
]
AllowNodePod = Annotated[
    bool, Option("--allow-node-pod", help="Where a node has no agent Pod: run a short-lived one, then remove it.")
]
NodeImage = Annotated[str, Option("--node-image", help="Image of the node Pod; it needs sh, iptables and nft.")]
AllowDebug = Annotated[
    bool,
    Option("--allow-debug-container", help="Where a container has no shell: add one beside it (it stays listed)."),
]
DebugImage = Annotated[str, Option("--debug-image", help="Image of the debug container.")]
MaxProbes = Annotated[int, Option("--max-probes", min=0, help="Connections that may be tried.")]
Evidence = Annotated[
    list[Path] | None,
    Option("--evidence", help="A file, folder or bundle of evidence; may be given several times."),
]


#: kube-proxy's own image has the tools to read rules; the other has a shell, and musl's resolver.
NODE_IMAGE = "registry.k8s.io/kube-proxy:v1.35.4"
DEBUG_IMAGE = "docker.io/library/busybox:1.37-musl"


class ClusterFlags(msgspec.Struct, frozen=True):
    """The cluster flags of one call."""

    context: str = ""
    kubeconfig: str = ""
    impersonate: str = ""
    timeout: str = "60s"
    no_exec: bool = False
    all_nodes: bool = False
    max_probes: int = 200
    allow_node_pod: bool = False
    node_image: str = ""
    allow_debug_container: bool = False
    debug_image: str = ""
    extra: float = 0.0


def seconds(text: str) -> float:
    """A duration of more than nothing and at most a day. Raises UsageError."""
    return durations.seconds(text, least=0.001, most=durations.DAY)


def recorded(paths: Sequence[Path]) -> Source:
    """Files, folders and bundles as one Source."""
    from svcpath.evidence.sources.bundle import BundleSource, JoinedSource, is_bundle
    from svcpath.evidence.sources.files import FilesSource

    bundles: list[Source] = [BundleSource.open(path) for path in paths if is_bundle(path)]
    files = [path for path in paths if not is_bundle(path)]
    sources = [*bundles, *([FilesSource(files)] if files else [])]
    return sources[0] if len(sources) == 1 else JoinedSource(sources)


@contextmanager
def cluster(flags: ClusterFlags) -> Iterator[ClusterSource]:
    """A running cluster, closed at the end."""
    from svcpath.evidence.sources.execs import Limits
    from svcpath.evidence.sources.kube import ClusterSource, Options
    from svcpath.evidence.sources.kube_client import Access

    access = Access(
        context=flags.context,
        kubeconfig=flags.kubeconfig,
        impersonate=flags.impersonate,
        timeout=seconds(flags.timeout) + flags.extra,
    )
    options = Options(
        execs=not flags.no_exec,
        all_nodes=flags.all_nodes,
        node_image=(flags.node_image or NODE_IMAGE) if flags.allow_node_pod else "",
        debug_image=(flags.debug_image or DEBUG_IMAGE) if flags.allow_debug_container else "",
        limits=Limits(
            probes=flags.max_probes if not flags.extra else 1_000_000, execs=200 if not flags.extra else 100_000
        ),
    )
    with ClusterSource(access, options) as source:
        yield source


@contextmanager
def looking(evidence: Sequence[Path] | None, flags: ClusterFlags) -> Iterator[Source]:
    """What a command looks at: the evidence that was given, else the running cluster."""
    if evidence:
        yield recorded(evidence)
        return
    with cluster(flags) as source:
        yield source


def sender(source: Source, client: str, namespace: str) -> str:
    """``client`` with its namespace written out: on a cluster the current one's where none was given.

    Raises UnknownTarget for a Pod that the cluster does not have.
    """
    from svcpath.evidence.sources.kube import ClusterSource

    kind, slash, name = client.partition("/")
    if not isinstance(source, ClusterSource) or not slash or kind not in ("pod", "po", "pods"):
        return client
    space, _, bare = name.rpartition("/")
    space = space or namespace or source.namespace
    source.must_have(space, bare)
    return f"pod/{space}/{bare}"


def progress(result: LayerResult) -> None:
    """One line per layer on a terminal's stderr, while a live walk goes on."""
    from svcpath.reports.renderers.text import printable

    if sys.stderr.isatty():
        sys.stderr.write(f"  {result.name:10}  {result.status.value:13}  {printable(result.sentence)[:90]}\n")
        sys.stderr.flush()


def audit(source: ClusterSource) -> str:
    """What was run in which containers, as one line for the audit trail."""
    done = source.execs
    added = "".join(f"\nadded to the cluster: {addition}" for addition in source.added)
    if not done:
        return f"execs done: none{added}"
    listed = "; ".join(f"{execution.pod}[{execution.container}] {execution.what}" for execution in done[:12])
    more = f"; and {len(done) - 12} more" if len(done) > 12 else ""
    return f"execs done: {len(done)} ({listed}{more}){added}"


def _listed(context: click.Context, kind: Kind, namespace: str) -> list[str]:
    """Names for the shell's completion; nothing when the cluster does not answer at once."""
    from svcpath.errors import SvcpathError

    given = context.params
    flags = ClusterFlags(context=given.get("context") or "", kubeconfig=given.get("kubeconfig") or "", timeout="3s")
    try:
        with cluster(flags) as source:
            (found,) = source.observe(
                [Need(kind, namespace="" if kind is Kind.NAMESPACE else namespace or source.namespace)]
            )
    except SvcpathError:
        return []
    return sorted(observation.value.name for observation in found if observation.value is not None)


def complete_namespaces(context: click.Context, incomplete: str) -> list[str]:
    return [name for name in _listed(context, Kind.NAMESPACE, "") if name.startswith(incomplete)]


def complete_services(context: click.Context, incomplete: str) -> list[str]:
    names = _listed(context, Kind.SERVICE, context.params.get("namespace") or "")
    return [f"svc/{name}" for name in names if f"svc/{name}".startswith(incomplete)]


def complete_clients(context: click.Context, incomplete: str) -> list[str]:
    names = _listed(context, Kind.POD, context.params.get("namespace") or "")
    return [f"pod/{name}" for name in names if f"pod/{name}".startswith(incomplete)]


def until_fault(source: ClusterSource, time: float) -> Source:
    """``source`` with connections repeated for ``time`` seconds or until one fails; says how far it is on a terminal."""
    from svcpath.evidence.sources.until_fault import UntilFault

    def said(rounds: int, tried: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r  round {rounds}, {tried} connections")
            sys.stderr.flush()

    return UntilFault(source, time, said)
