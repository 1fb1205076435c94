"""``svcpath lab``: a Kubernetes to practise on, the reference experiment, faults and their score."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from svcpath.lab import home as homes
from svcpath.lab import labs
from svcpath.lab.home import DEFAULT_NAME, LabSpec
from svcpath.lab.providers.base import Say

app = typer.Typer(
    no_args_is_help=True,
    help="A Kubernetes to practise on and to break on purpose.\n\nExample: svcpath lab up; svcpath lab run reference; svcpath lab down",
)

LabName = Annotated[str, typer.Option("--lab", help="Name of the lab; several can run side by side.")]


def progress() -> Say:
    """Lines with the seconds since the start, on stderr, so that stdout stays for results."""
    started = time.monotonic()

    def say(line: str) -> None:
        typer.echo(f"{time.monotonic() - started:6.1f} s  {line}", err=True)

    return say


@app.command()
def up(
    lab: LabName = DEFAULT_NAME,
    provider: Annotated[
        str, typer.Option(help="netns (root, Linux), kind (docker or podman) or context (an existing cluster).")
    ] = "netns",
    proxy_mode: Annotated[str, typer.Option(help="kube-proxy's mode: iptables or nftables.")] = "iptables",
    nodes: Annotated[int, typer.Option(help="Number of nodes, the first is the control plane.")] = 3,
    ip_family: Annotated[str, typer.Option(help="ipv4, ipv6 or dual.")] = "ipv4",
    kubernetes: Annotated[str, typer.Option(help="Kubernetes minor release, e.g. 1.35.")] = "",
    bin_dir: Annotated[str, typer.Option(help="Folder with Kubernetes programs to use first.")] = "",
    context: Annotated[str, typer.Option(help="Context of your kubeconfig, for --provider context.")] = "",
    kubeconfig: Annotated[str, typer.Option(help="Kubeconfig file, for --provider context.")] = "",
) -> None:
    """Bring a lab up, or continue one that was cut off.

    Example: svcpath lab up --proxy-mode nftables
    """
    place = homes.home(lab)
    spec = LabSpec(
        provider=provider,
        proxy_mode=proxy_mode,
        nodes=nodes,
        ip_family=ip_family,
        release=kubernetes,
        bin_dir=str(Path(bin_dir).resolve()) if bin_dir else "",
        context=context,
        kubeconfig=str(Path(kubeconfig).resolve()) if kubeconfig else "",
    )
    found = labs.bring_up(place, spec, progress())
    named = "" if lab == DEFAULT_NAME else f" --lab {lab}"
    typer.echo(f"lab {lab} is up ({provider}, {proxy_mode}). Next:")
    typer.echo(f"  export KUBECONFIG={found.kubeconfig()}")
    typer.echo(f"  svcpath lab run reference{named}")


@app.command()
def down(lab: LabName = DEFAULT_NAME) -> None:
    """Remove a lab with everything it made, whatever state it is in.

    Example: svcpath lab down
    """
    labs.take_down(homes.home(lab), progress())


@app.command()
def status(lab: Annotated[str, typer.Option("--lab", help="One lab; by default all.")] = "") -> None:
    """Show labs and their nodes.

    Example: svcpath lab status
    """
    found = (homes.home(lab),) if lab else homes.homes()
    if not found:
        typer.echo("no lab here; start one with: svcpath lab up")
    for place in found:
        spec = place.read_spec()
        typer.echo(f"{place.name}  {spec.provider}, {spec.proxy_mode}, {spec.ip_family}, {place.folder}")
        for node in labs.provider(place).status():
            typer.echo(f"  {node.name:4}{'control plane  ' if node.control_plane else 'worker         '}{node.state}")


@app.command()
def kubeconfig(lab: LabName = DEFAULT_NAME) -> None:
    """Print the path of the lab's kubeconfig.

    Example: export KUBECONFIG=$(svcpath lab kubeconfig)
    """
    typer.echo(labs.provider(homes.home(lab)).kubeconfig())


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def exec(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="cp, w1, w2, ...; wire is the world outside the nodes.")],
    lab: LabName = DEFAULT_NAME,
) -> None:
    """Run a command in a node's namespaces.

    Example: svcpath lab exec w1 -- iptables-save -t nat
    """
    words = context.args[1:] if context.args[:1] == ["--"] else context.args
    done = labs.provider(homes.home(lab)).run_on_node(node, words or ["ip", "-brief", "address"], check=False)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    raise typer.Exit(done.code)


@app.command("proxy-mode")
def proxy_mode_command(
    mode: Annotated[str, typer.Argument(help="iptables or nftables.")], lab: LabName = DEFAULT_NAME
) -> None:
    """Switch the data plane of a running lab.

    Example: svcpath lab proxy-mode nftables
    """
    labs.set_mode(homes.home(lab), mode, progress())
