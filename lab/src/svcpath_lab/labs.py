"""Find a lab, bring it up, take it down: what the command line calls."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from svcpath.errors import UsageError
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home, LabSpec
from svcpath_lab.providers.base import Provider
from svcpath_lab.providers.context import ContextProvider
from svcpath_lab.providers.kind import KindProvider
from svcpath_lab.providers.netns import NetnsProvider

PROVIDERS = ("netns", "kind", "context")


def provider(home: Home, spec: LabSpec | None = None) -> Provider:
    """The provider of a lab that is there, or that ``spec`` describes."""
    wanted = spec if spec is not None else home.read_spec()
    match wanted.provider:
        case "netns":
            return NetnsProvider(home, wanted)
        case "kind":
            return KindProvider(home, wanted)
        case "context":
            return ContextProvider(home, wanted)
        case other:
            raise UsageError(f"provider {other!r}: one of {', '.join(PROVIDERS)}")


def bring_up(home: Home, spec: LabSpec, say: Say) -> Provider:
    """Bring a lab up, or continue the same one; another lab under that name is an error, not a surprise."""
    with home.locked():
        if home.exists():
            there = home.read_spec()
            if _shape(there) != _shape(spec):
                raise UsageError(
                    f"lab {home.name!r} is there already and differs ({_shape(there)}): take it down first, "
                    "or choose another name with --lab"
                )
        found = provider(home, spec)
        found.up(say)
        mode = spec.proxy_mode
        if spec.provider == "netns":
            found.set_proxy_mode(mode, say)
        home.write_spec(spec)
        return found


def take_down(home: Home, say: Say) -> None:
    """Remove a lab whatever state it is in, also when its description is gone."""
    with home.locked():
        try:
            spec = home.read_spec()
        except LabError:
            spec = LabSpec(provider="netns")
        provider(home, spec).down(say)
    for folder in (home.folder.parent, home.folder.parent.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def set_mode(home: Home, mode: str, say: Say) -> None:
    """Switch the proxy mode of a running lab, and remember it."""
    spec = home.read_spec()
    provider(home, spec).set_proxy_mode(mode, say)
    home.write_spec(msgspec.structs.replace(spec, proxy_mode=mode))


def _shape(spec: LabSpec) -> str:
    shape = f"{spec.provider}, {spec.nodes} nodes, {spec.ip_family}"
    return f"{shape}, context {spec.context}" if spec.context else shape


def results_folder(home: Home) -> Path:
    """Where results about a lab's cluster go unless a folder is given."""
    return home.folder / "results"
