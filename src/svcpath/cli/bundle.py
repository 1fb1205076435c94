"""svcpath bundle show, bundle diff"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import click

from svcpath.cli.command import Argument, Group
from svcpath.cli.exits import ExitCode

app = Group(name="bundle", no_args_is_help=True, help="Look into bundles that svcpath collect wrote.")

File = Annotated[Path, Argument(metavar="BUNDLE", help="A bundle of svcpath collect.")]


@app.command("show")
def show(bundle: File) -> int:
    """What a bundle holds: for what it was collected, what was looked at, and what could not be.

    Example: svcpath bundle show incident.tar.zst
    """
    from svcpath.evidence.facts.observation import State
    from svcpath.evidence.sources.bundle import read
    from svcpath.reports.renderers.text import printable

    contents = read(bundle)
    manifest = contents.manifest
    asked = " ".join(f"{key}={value}" for key, value in sorted(manifest.request.items()))
    click.echo(printable(f"{manifest.schema}  svcpath {manifest.svcpath}, Kubernetes {manifest.kubernetes}"))
    click.echo(printable(f"collected {manifest.created or 'at an unknown time'} for {asked or 'no target'}"))
    if abs(manifest.skew) >= 2:
        ahead = "ahead of" if manifest.skew > 0 else "behind"
        click.echo(f"the collecting machine's clock was {abs(manifest.skew):.0f} s {ahead} the API server's")
    if manifest.pseudonyms:
        click.echo("names and addresses are pseudonyms")
    click.echo("")
    present = Counter(
        observation.kind.value for observation in contents.observations if observation.state is State.PRESENT
    )
    for kind, count in sorted(present.items()):
        click.echo(f"  {count:5}  {printable(kind)}")
    gaps = {
        (observation.kind.value, observation.why)
        for observation in contents.observations
        if observation.state is State.UNREADABLE and observation.provenance.command
    }
    if gaps:
        click.echo("\nnot looked at")
        for kind, reason in sorted(gaps):
            click.echo(printable(f"  {kind}: {reason}"))
    click.echo(f"\nexecs done: {len(manifest.execs)}")
    for line in manifest.execs:
        click.echo(printable(f"  {line}"))
    return ExitCode.GOOD


@app.command("diff")
def diff(before: File, after: Annotated[Path, Argument(metavar="BUNDLE", help="The later bundle.")]) -> int:
    """What changed between two bundles of the same target; exit code 1 when something did.

    Example: svcpath bundle diff monday.tar.zst tuesday.tar.zst
    """
    from svcpath.evidence.sources.bundle import read
    from svcpath.reports.renderers.text import printable

    old, new = _facts(read(before).observations), _facts(read(after).observations)
    changed = 0
    for key in sorted({*old, *new}):
        earlier, other = old.get(key), new.get(key)
        if earlier == other:
            continue
        changed += 1
        sign = "+" if earlier is None else "-" if other is None else "~"
        click.echo(printable(f"{sign} {' '.join(part for part in key if part)}"))
        if earlier is not None and other is not None:
            for line in _parts(earlier, other)[:8]:
                click.echo(printable(f"    {line}"))
    if not changed:
        click.echo("no difference")
    return ExitCode.BAD if changed else ExitCode.GOOD


#: Fields that change by themselves.
_RESTLESS = frozenset({"resource_version", "managed_fields", "line", "at", "timeout", "source_port", "seconds"})


def _facts(observations: tuple[Any, ...]) -> dict[tuple[str, ...], Any]:
    """(kind, namespace, name or owner) -> the fact, or how the look ended."""
    from svcpath.evidence.facts.kubernetes import Object

    found: dict[tuple[str, ...], Any] = {}
    for observation in observations:
        where = observation.provenance
        if isinstance(observation.value, Object):
            key: tuple[str, ...] = (observation.kind.value, observation.value.namespace, observation.value.name)
        else:
            key = (observation.kind.value, where.pod or where.node, where.container)
        while key in found and not isinstance(observation.value, Object):
            key = (*key, "'")
        found[key] = (
            _plain(observation.value)
            if observation.value is not None
            else f"{observation.state.value}: {observation.why}"
        )
    return found


def _plain(value: Any) -> Any:
    import msgspec

    if isinstance(value, msgspec.Struct):
        return {
            name: _plain(part)
            for name in value.__struct_fields__
            if name not in _RESTLESS and (part := getattr(value, name)) not in (None, "", ())
        }
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return value


def _parts(value: Any, other: Any, path: str = "") -> list[str]:
    """Where two plain values differ, a line each."""
    if isinstance(value, dict) and isinstance(other, dict):
        return [
            line
            for key in sorted({*value, *other})
            if value.get(key) != other.get(key)
            for line in _parts(value.get(key), other.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(value, str) and isinstance(other, str) and ("\n" in value or "\n" in other):
        gone = [f"{path} -{line[:160]}" for line in value.splitlines() if line not in set(other.splitlines())]
        come = [f"{path} +{line[:160]}" for line in other.splitlines() if line not in set(value.splitlines())]
        return gone[:4] + come[:4]
    return [f"{path}: {str(value)[:120]} -> {str(other)[:120]}"]
