"""How names resolve inside Pods: one pure model for each resolver, the CoreDNS model, and what to do with them.

For a caller:

- :class:`Environment` holds the raw resolv.conf, hosts, nsswitch.conf, hostname and process variables of a container.
- A *world* answers queries: :class:`RecordedWorld` (rows of a recorded answers table), ``servers.coredns.CoreDnsWorld``
(Corefile and Kubernetes objects), a live server (evidence.sources.dns), or several with :class:`Layered`.
- :func:`resolve` runs one resolver (names in :data:`RESOLVERS`, see :func:`canonical`) and returns a
:class:`Resolution`: every way the lookup can go, each a :class:`Trace` of steps (queries, answers, the rule that led
on) and an :class:`LookupOutcome`. ``resolution.outcome`` is None when chance or an unknown answer decides; then ``outcomes``
and ``trace.assumed`` say what is possible and on what it hangs.
- :func:`compare` gives the table of all resolvers, the first point where they diverge, and the fixes, each re-run.
  :func:`ladder` turns a trace into one rung for each name asked. :func:`silent_seconds` is the time with silent
  servers.
- ``runtimes.jvm.policy`` is the JVM's cache policy; ``servers.corefile.parse`` and ``servers.corefile_lint.lint`` read and
  judge a Corefile.

A package per family: ``libc``, ``runtimes``, ``libraries``, ``proxies`` and, on the other side, ``servers``. What all of
them stand on is here: ``base`` (the generator, its steps and outcome), ``environment`` (the container's files), ``worlds``,
``registry`` (which names there are) and ``compare``.
"""

from svcpath.models.resolvers.base import (
    Answer,
    Batch,
    Fork,
    LookupOutcome,
    Model,
    Query,
    Resolution,
    ResolverRule,
    Step,
    Trace,
    UnknownAnswer,
    World,
    run,
)
from svcpath.models.resolvers.compare import (
    Candidate,
    Comparison,
    Divergence,
    Fix,
    Line,
    compare,
    ladder,
    resolve,
    search_list,
    silent_seconds,
)
from svcpath.models.resolvers.environment import INET, INET6, UNSPEC, Environment
from svcpath.models.resolvers.registry import COMPARED, RESOLVERS, build, canonical
from svcpath.models.resolvers.worlds import Layered, RecordedWorld

__all__ = [
    "COMPARED",
    "INET",
    "INET6",
    "RESOLVERS",
    "UNSPEC",
    "Answer",
    "Batch",
    "Candidate",
    "Comparison",
    "Divergence",
    "Environment",
    "Fix",
    "Fork",
    "Layered",
    "Line",
    "LookupOutcome",
    "Model",
    "Query",
    "RecordedWorld",
    "Resolution",
    "ResolverRule",
    "Step",
    "Trace",
    "UnknownAnswer",
    "World",
    "build",
    "canonical",
    "compare",
    "ladder",
    "resolve",
    "run",
    "search_list",
    "silent_seconds",
]
