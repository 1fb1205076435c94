"""Which nodes' kubelets answer, so that a silent one is not waited for again and again.

Execs and logs go through the kubelet of the Pod's node. A node that is cut off, or whose kubelet hangs, gives nothing until
the time of each look is over, and a few of them would use up a run's time for what can't be seen. One silent look may be
that container's own, so others on its node are still tried, for a shorter time; after two Pods it is the node, and what is
asked of it is hardly waited for. Any answer clears the node.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from svcpath.evidence.facts.observation import Trouble
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_exec import Executed

#: Seconds for a look on a node where one Pod gave nothing before, and where two did.
AGAIN, HARDLY = 5.0, 1.0


@dataclass
class Kubelets:
    """Pods are "namespace/name"; one whose node is not known counts for itself alone."""

    _nodes: dict[str, str] = field(default_factory=dict)
    #: Node (or Pod) -> Pods there that gave nothing, with the seconds for which they were waited.
    _silent: dict[str, dict[str, float]] = field(default_factory=dict)

    def place(self, pod: str, node: str | None) -> None:
        """Note that a Pod is on a node."""
        if node:
            self._nodes[pod] = node

    def patience(self, pod: str, seconds: float) -> float:
        """How long a look in ``pod`` may take that should have ``seconds``."""
        pods = len(self._silent.get(self._of(pod), ()))
        return seconds if not pods else min(seconds, AGAIN if pods == 1 else HARDLY)

    def answered(self, pod: str, done: Executed, seconds: float) -> Executed:
        """Note how a look ended that had ``seconds``; returns it with the reason in full."""
        if not done.silent:
            self._silent.pop(self._of(pod), None)
            return done
        longest = max(self._silent.get(self._of(pod), {}).values(), default=0.0)
        self._note(pod, seconds)
        if longest <= seconds or done.trouble is None:
            return done
        where = f"on node {self._nodes[pod]}" if pod in self._nodes else "there"
        why = f"{done.trouble}, and an earlier one {where} gave nothing in {longest:.0f} s"
        return done.because(Trouble(done.trouble.reason, why))

    def failed(self, pod: str, trouble: ApiTrouble, seconds: float) -> None:
        """Note a look that the API server could not hand on to the kubelet: it answers 5xx then, or not in time (0)."""
        if trouble.status == 0 or trouble.status >= 500:
            self._note(pod, seconds)

    def _note(self, pod: str, seconds: float) -> None:
        silences = self._silent.setdefault(self._of(pod), {})
        silences[pod] = max(seconds, silences.get(pod, 0))

    def _of(self, pod: str) -> str:
        return self._nodes.get(pod, pod)
