"""What a reader of results from a lab needs to compare them with others: date, versions, machine."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version

from svcpath_lab.providers.base import Provider


def machine_facts(provider: Provider, modes: Sequence[str]) -> dict[str, str]:
    """For the results file; ``modes`` are kube-proxy's."""
    server = json.loads(provider.kubectl().run("version", "-o", "json").out)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "svcpath": version("svcpath"),
        "kubernetes": server.get("serverVersion", {}).get("gitVersion", ""),
        "kernel": platform.release(),
        "processors": str(os.cpu_count() or 0),
        "modes": " ".join(modes),
    }
