"""The command tree. Each command lives in a file of its own; this one puts them together and catches errors."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any

import click
import msgspec

from svcpath import __version__
from svcpath.cli import completion
from svcpath.cli.command import Group, Option
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
    "can-i": CommandEntry("can_i", "Say what you may do, and what each missing permission costs the diagnosis."),
    "doctor": CommandEntry("doctor", "Say what is missing on this machine, or to the account."),
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


def tree(words: list[str]) -> Group:
    """The command tree for a line of ``words``: the command that is meant is whole, the others have name and help alone.

    Importing every command, and making options of every signature, would take longer than most commands.
    """
    app = Group(
        name="svcpath",
        help="Proves, layer by layer, why a Kubernetes Service does not work, and whether a rollout drains.",
        callback=_root,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.params += completion.options()
    meant = next((word for word in words if not word.startswith("-")), "")
    for name, entry in COMMANDS.items():
        if name != meant:
            app.command(name, short_help=entry.short_help)(_not_meant)
            continue
        module = import_module(f"svcpath.cli.{entry.module}") if entry.module else _of_another_distribution(name)
        if entry.group:
            app.add_command(module.app, name=name)
        else:
            app.command(name, short_help=entry.short_help, help=module.HELP)(getattr(module, entry.module))
    return app


def _of_another_distribution(name: str) -> Any:
    from svcpath.cli import extensions

    return extensions.command(name)


def _root(
    context: click.Context,
    version: Annotated[bool, Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    """Options of all commands."""
    if version:
        click.echo(f"svcpath {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        context.exit(ExitCode.USAGE)


def _not_meant() -> None:
    raise RuntimeError("a command ran that the line does not name")


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code. No error leaves as a traceback."""
    try:
        result = tree(arguments or _completed())(
            args=arguments, prog_name="svcpath", complete_var=completion.VARIABLE, standalone_mode=False
        )
        return int(result) if isinstance(result, int) else ExitCode.GOOD
    except SvcpathError as error:
        _complain(str(error))
        return of_error(error)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        _complain(_usage(error))
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (svcpath ... | head): nothing left to say, and no second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.GOOD
    except Exception:  # noqa: BLE001  the last place where an unforeseen error can be kept apart from a result
        import traceback

        traceback.print_exc()
        _complain("this is a defect of svcpath: please report the lines above with the command that led here")
        return ExitCode.INTERNAL


def _completed() -> list[str]:
    """The words of a line that a shell asks completion for: click's scripts pass them in this variable."""
    return os.environ.get("COMP_WORDS", "").split()[1:]


def _usage(error: click.ClickException) -> str:
    """The message of a usage error in one line, with where to read on."""
    context = getattr(error, "ctx", None)
    words: list[str] = []
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    hint = f" (svcpath {' '.join(words)} --help)" if words else ""
    return f"{error.format_message()}{hint}"


def _complain(text: str) -> None:
    click.echo(f"svcpath: {printable(text)}", err=True)
