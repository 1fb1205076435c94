"""The command tree. Each command lives in a file of its own; this one puts them together and catches errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from svcpath import __version__
from svcpath.cli import (
    budget,
    bundle,
    can_i,
    collect,
    dataplane,
    demo,
    diagnose,
    doctor,
    drain,
    explain,
    report,
    resolve,
    rollout,
)
from svcpath.cli.exits import Exit, of_error
from svcpath.errors import SvcpathError
from svcpath.reports.renderers.text import printable

app = typer.Typer(
    name="svcpath",
    help="Proves, layer by layer, why a Kubernetes Service does not work, and whether a rollout drains.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(
    "diagnose",
    short_help="Say at which layer a Service fails, why, and what would prove that wrong.",
    help=diagnose.HELP,
)(diagnose.diagnose)
app.command("resolve", short_help="Show what an application's own resolver makes of a name.", help=resolve.HELP)(
    resolve.resolve
)
app.command("collect", short_help="Save what a diagnosis looks at to one bundle.", help=collect.HELP)(collect.collect)
app.add_typer(bundle.app)
app.command("can-i", short_help="Say what you may do, and what each lack costs the diagnosis.", help=can_i.HELP)(
    can_i.can_i
)
app.command("doctor", short_help="Say what this machine or account lacks.", help=doctor.HELP)(doctor.doctor)
app.add_typer(dataplane.app)
app.add_typer(drain.app)
app.add_typer(rollout.app)
app.command("budget", short_help="Compute whether a drain holds, from manifests or a recording.", help=budget.HELP)(
    budget.budget
)
app.command("explain", short_help="Explain a code, or the hypotheses of an error text.", help=explain.HELP)(
    explain.explain
)
app.command("demo", short_help="Diagnose the recordings that ship with svcpath.", help=demo.HELP)(demo.demo)
app.command("report", short_help="Turn a saved JSON report into another form.", help=report.HELP)(report.report)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    """Options of all commands."""
    if version:
        typer.echo(f"svcpath {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.USAGE)


def _add_lab(arguments: list[str]) -> None:
    """The lab's commands bring in much; they are added when they are meant or listed."""
    wanted = not arguments or arguments[0] in ("lab", "-h", "--help")
    if wanted and all(group.name != "lab" for group in app.registered_groups):
        from svcpath.cli import lab

        app.add_typer(lab.app, name="lab")


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code. No error leaves as a traceback."""
    _add_lab(arguments)
    try:
        result = app(args=arguments, standalone_mode=False)
        return int(result) if isinstance(result, int) else Exit.GOOD
    except SvcpathError as error:
        _complain(str(error))
        return of_error(error)
    except typer.Exit as leave:
        return int(leave.exit_code)
    except typer.Abort:
        return Exit.INTERRUPTED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (svcpath ... | head): nothing left to say, and no second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.GOOD
    except TyperException as error:
        _complain(_usage(error))
        return Exit.USAGE
    except Exception:  # noqa: BLE001  the last place an unforeseen error can be told from a result
        import traceback

        traceback.print_exc()
        _complain("this is a defect of svcpath: please report the lines above with the command that led here")
        return Exit.INTERNAL


def _usage(error: TyperException) -> str:
    """The message of a usage error in one line, with where to read on."""
    context = getattr(error, "ctx", None)
    hint = f" (svcpath {context.info_name} --help)" if context is not None and context.info_name != "svcpath" else ""
    message = getattr(error, "format_message", error.__str__)()
    return f"{message}{hint}"


def _complain(text: str) -> None:
    typer.echo(f"svcpath: {printable(text)}", err=True)
