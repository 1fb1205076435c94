"""A lab as the cluster that ``svcpath drain run --lab NAME`` plays on: the entry point of group ``svcpath.clusters``."""

from __future__ import annotations

from svcpath.cli.extensions import PracticeCluster
from svcpath_lab import home, labs
from svcpath_lab.machine import machine_facts
from svcpath_lab.providers.netns import NetnsProvider


def practice_cluster(name: str) -> PracticeCluster:
    """The lab called ``name``. Raises LabError where it is not up."""
    place = home.home(name)
    provider = labs.provider(place)
    kubectl = provider.kubectl()
    return PracticeCluster(
        kubeconfig=kubectl.kubeconfig,
        context=kubectl.context,
        image=provider.images["tools"],
        outside=provider.outside() if isinstance(provider, NetnsProvider) else None,
        facts=machine_facts(provider, (place.read_spec().proxy_mode,)),
    )
