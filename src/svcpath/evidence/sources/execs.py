"""Commands in containers: counted, capped, noted for the audit line, and with every refusal in words."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from svcpath.evidence.facts.observation import Reason
from svcpath.evidence.sources.kube_client import ApiTrouble, KubeClient
from svcpath.evidence.sources.kube_exec import Executed
from svcpath.evidence.sources.kubelets import Kubelets

EXEC_RULE = 'the rule: {apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}'


class Limits(msgspec.Struct, frozen=True):
    """What one run may do. ``probes`` counts connection attempts, ``execs`` commands in containers."""

    execs: int = 200
    probes: int = 200


class Done(msgspec.Struct, frozen=True):
    """One exec that was made, for the audit line."""

    pod: str
    container: str
    what: str


@dataclass
class Execs:
    """Runs commands in containers, counts them, and turns every refusal into words."""

    client: KubeClient
    allowed: bool = True
    limits: Limits = field(default_factory=Limits)
    done: list[Done] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    kubelets: Kubelets = field(default_factory=Kubelets)

    async def run(self, pod: str, container: str, command: list[str], what: str, *, seconds: float = 15.0) -> Executed:
        """Raises ApiTrouble with the reason when the command could not be started."""
        if not self.allowed:
            raise ApiTrouble("not looked at: --no-exec", Reason.NOT_ALLOWED)
        if len(self.done) >= self.limits.execs:
            raise ApiTrouble(f"not looked at: the cap of {self.limits.execs} execs is reached", Reason.LIMIT)
        namespace, _, name = pod.rpartition("/")
        self.done.append(Done(pod, container, what))
        seconds = self.kubelets.patience(pod, seconds)
        try:
            done = await self.client.execute(namespace, name, container, command, seconds=seconds)
        except ApiTrouble as error:
            self.kubelets.failed(pod, error, seconds)
            if error.status == 403:
                raise ApiTrouble(
                    f"forbidden: no right to exec in Pods of namespace {namespace}; {EXEC_RULE}", status=403
                ) from error
            raise
        return self.kubelets.answered(pod, done, seconds)
