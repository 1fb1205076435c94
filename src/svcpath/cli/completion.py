"""``--install-completion`` and ``--show-completion``: click's completion script of the shell that svcpath was called from."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from svcpath.errors import EvidenceError, UsageError

VARIABLE = "_SVCPATH_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
#: Below the home directory: the script, and the start-up file that reads it ("" where the shell looks there itself).
_PLACES = {
    "bash": (".bash_completions/svcpath.sh", ".bashrc", "source ~/.bash_completions/svcpath.sh"),
    "zsh": (".zfunc/_svcpath", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/svcpath.fish", "", ""),
}


def options() -> list[click.Option]:
    """The two options of the root command."""
    return [
        _option("--install-completion", _install, "Install completion for the current shell."),
        _option(
            "--show-completion",
            _show,
            "Show completion for the current shell, to copy it or customize the installation.",
        ),
    ]


def _option(flag: str, action: Callable[[], None], help_text: str) -> click.Option:
    def act(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        del parameter
        if value and not context.resilient_parsing:
            action()
            context.exit()

    return click.Option([flag], is_flag=True, is_eager=True, expose_value=False, callback=act, help=help_text)


def _show() -> None:
    click.echo(_script(_shell()))


def _install() -> None:
    shell = _shell()
    script, start_up, line = _PLACES[shell]
    path = Path.home() / script
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{_script(shell)}\n")
        if start_up:
            _append(Path.home() / start_up, line)
    except OSError as error:
        raise EvidenceError(f"can't write {error.filename}: {error.strerror}") from error
    click.echo(f"{shell} completion installed in {path}; new shells have it")


def _append(path: Path, line: str) -> None:
    content = path.read_text() if path.is_file() else ""
    if line not in content.splitlines():
        path.write_text(f"{content}{'' if content.endswith(chr(10)) or not content else chr(10)}{line}\n")


def _script(shell: str) -> str:
    found = get_completion_class(shell)
    assert found is not None
    return found(click.Command("svcpath"), {}, "svcpath", VARIABLE).source().strip()


def _shell() -> str:
    """The shell that svcpath was called from, else the login shell. Raises UsageError."""
    candidates = [os.environ.get("SHELL", "").rpartition("/")[2]]
    if sys.platform == "linux":
        with suppress(OSError):
            candidates.insert(0, Path(f"/proc/{os.getppid()}/comm").read_text().strip())
    for candidate in candidates:
        if candidate in SHELLS:
            return candidate
    raise UsageError(f"completion is there for {', '.join(SHELLS)}: call svcpath from one of them, or set SHELL")
