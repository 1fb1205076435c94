"""The command tree. Each command lives in a file of its own; this one puts them together and catches errors."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any

import msgspec
import typer
from typer.exceptions import TyperException

from svcpath import __version__
from svcpath.cli.exits import ExitCode, of_error
from svcpath.errors import SvcpathError
from svcpath.reports.renderers.text import printable


class CommandEntry(msgspec.Struct, frozen=True):
    """A command, or a group of commands, of the file ``module`` in this folder; "" for one of another distribution."""

    module: str
    short_help: str
    group: bool = False


COMMANDS = {
    "diagnose": CommandEntry("diagnose", "Say at which layer a Service fails, why, and what would prove that wrong."),
    "resolve": CommandEntry("resolve", "Show what an application's own resolver makes of a name."),
    "collect": CommandEntry("collect", "Save what a diagnosis looks at to one bundle."),
    "can-i": CommandEntry("can_i", "Say what you may do, and what each lack costs the diagnosis."),
    "doctor": CommandEntry("doctor", "Say what this machine or account lacks."),
    "budget": CommandEntry("budget", "Compute whether a drain holds, from manifests or a recording."),
    "explain": CommandEntry("explain", "Explain a code, or the hypotheses of an error text."),
    "demo": CommandEntry("demo", "Diagnose the recordings that ship with svcpath."),
    "report": CommandEntry("report", "Turn a saved JSON report into another form."),
    "bundle": CommandEntry("bundle", "Look into bundles that svcpath collect wrote.", group=True),
    "dataplane": CommandEntry(
        "dataplane", "Read the nodes' tables (iptables, nftables, IPVS, Cilium, Calico) back into Services.", group=True
    ),
    "drain": CommandEntry("drain", "Record a drain, prove it, show it on one axis.", group=True),
    "rollout": CommandEntry("rollout", "Wait until a rollout is really over.", group=True),
    "lab": CommandEntry("", "A Kubernetes to practise on and to break (needs svcpath-lab).", group=True),
}


def tree(words: list[str]) -> typer.Typer:
    """The command tree for a line of ``words``: the command that is meant is whole, the others have name and help alone.

    Importing every command, and making options of every signature, would take longer than most commands.
    """
    app = typer.Typer(
        name="svcpath",
        help="Proves, layer by layer, why a Kubernetes Service does not work, and whether a rollout drains.",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    meant = next((word for word in words if not word.startswith("-")), "")
    for name, entry in COMMANDS.items():
        if name != meant:
            app.command(name, short_help=entry.short_help)(_not_meant)
            continue
        module = import_module(f"svcpath.cli.{entry.module}") if entry.module else _of_another_distribution(name)
        if entry.group:
            app.add_typer(module.app, name=name)
        else:
            app.command(name, short_help=entry.short_help, help=module.HELP)(getattr(module, entry.module))
    return app


def _of_another_distribution(name: str) -> Any:
    from svcpath.cli import extensions

    return extensions.command(name)


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    """Options of all commands."""
    if version:
        typer.echo(f"svcpath {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(ExitCode.USAGE)


def _not_meant() -> None:
    raise RuntimeError("a command ran that the line does not name")


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code. No error leaves as a traceback."""
    try:
        result = tree(arguments or _completed())(args=arguments, standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitCode.GOOD
    except SvcpathError as error:
        _complain(str(error))
        return of_error(error)
    except typer.Exit as leave:
        return int(leave.exit_code)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (svcpath ... | head): nothing left to say, and no second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.GOOD
    except TyperException as error:
        _complain(_usage(error))
        return ExitCode.USAGE
    except Exception:  # noqa: BLE001  the last place an unforeseen error can be told from a result
        import traceback

        traceback.print_exc()
        _complain("this is a defect of svcpath: please report the lines above with the command that led here")
        return ExitCode.INTERNAL


def _completed() -> list[str]:
    """The words of a line that a shell asks completion for: typer's scripts hand them over so."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    return line.split()[1:]


def _usage(error: TyperException) -> str:
    """The message of a usage error in one line, with where to read on."""
    context = getattr(error, "ctx", None)
    hint = f" (svcpath {context.info_name} --help)" if context is not None and context.info_name != "svcpath" else ""
    message = getattr(error, "format_message", error.__str__)()
    return f"{message}{hint}"


def _complain(text: str) -> None:
    typer.echo(f"svcpath: {printable(text)}", err=True)
