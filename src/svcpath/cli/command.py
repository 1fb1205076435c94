"""Commands of click whose options stand in the signatures of their functions.

``namespace: Annotated[str, Option("-n", "--namespace", help="...")] = ""`` is the whole of an option: its type comes
from the hint, ``list[...]`` may be given several times, a parameter without a default must be given. click parses,
completes and complains; the help lists arguments as it lists options.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import click

#: Candidates for a word that has begun; the context holds the options before it.
Completion = Callable[[click.Context, str], list[str]]


class Option:
    """An option's own half of a parameter: flags (default: ``--NAME``), help, bounds of a number, a parser of the text.

    ``parser`` raises click.BadParameter; ``metavar`` stands for the value in the help.
    """

    def __init__(
        self,
        *flags: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        parser: Callable[[Any], Any] | None = None,
        completion: Completion | None = None,
    ) -> None:
        self.flags = flags
        self.help = help
        self.metavar = metavar
        self.bounds = (min, max)
        self.parser = parser
        self.completion = completion


class Argument:
    """A word without a flag, by its place."""

    def __init__(self, *, help: str = "", metavar: str | None = None, completion: Completion | None = None) -> None:
        self.help = help
        self.metavar = metavar
        self.completion = completion


class Command(click.Command):
    """A command with the parameters that its function's signature names."""

    def __init__(
        self,
        name: str | None,
        *,
        callback: Callable[..., Any] | None = None,
        params: Sequence[click.Parameter] | None = None,
        **attributes: Any,
    ) -> None:
        found, called = _of_signature(callback) if callback is not None else ([], None)
        super().__init__(name, callback=called, params=[*(params or ()), *found], **attributes)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments and options, each in a list of its own."""
        params = self.get_params(ctx)
        arguments = [param.get_help_record(ctx) for param in params if isinstance(param, click.Argument)]
        options = [param.get_help_record(ctx) for param in params if not isinstance(param, click.Argument)]
        for title, records in (("Arguments", arguments), ("Options", options)):
            if rows := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: releases of click that list arguments themselves would list them twice."""


class Group(Command, click.Group):
    """A group of commands; without a word behind it, it prints its help."""

    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


class _Argument(click.Argument):
    """An argument with a help text."""

    def __init__(self, *declarations: Any, help_text: str, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.help = help_text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        name = self.metavar or self.name or ""
        must = "[required]" if self.required else f"[default: {self.default}]" if self.default else ""
        return name, "  ".join(part for part in (self.help or "", must) if part)

    def make_metavar(self, ctx: click.Context) -> str:
        name = self.metavar or self.name or ""
        return name if self.required or name.startswith("[") else f"[{name}]"


class _Parsed(click.ParamType[Any]):
    """The type of an option with a parser of its own."""

    name = "text"

    def __init__(self, parser: Callable[[Any], Any]) -> None:
        self.parser = parser

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.parser(value)


def _of_signature(function: Callable[..., Any]) -> tuple[list[click.Parameter], Callable[..., Any]]:
    """The parameters of a command's function, and the function as click is to call it, with the context if it asks."""
    hints = get_type_hints(function, include_extras=True)
    found: list[click.Parameter] = []
    context = ""
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if hint is click.Context:
            context = parameter.name
            continue
        plain, own = get_args(hint)
        default = None if parameter.default is inspect.Parameter.empty else parameter.default
        required = parameter.default is inspect.Parameter.empty
        found.append(_parameter(parameter.name, _plain(plain), own, default, required=required))
    if not context:
        return found, function

    def with_context(**values: Any) -> Any:
        return function(**{context: click.get_current_context()}, **values)

    return found, with_context


def _plain(hint: Any) -> Any:
    """``X`` of ``X | None``."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(part for part in get_args(hint) if part is not type(None))
    return hint


def _parameter(name: str, hint: Any, own: Option | Argument, default: Any, *, required: bool) -> click.Parameter:
    several = get_origin(hint) is list
    kind: type = get_args(hint)[0] if several else hint
    attributes: dict[str, Any] = {"metavar": own.metavar, "required": required}
    if not required:
        attributes["default"] = default
    if several:
        attributes["callback"] = _list
    if own.completion is not None:
        attributes["shell_complete"] = _completed(own.completion)
    if isinstance(own, Argument):
        attributes |= {"type": _type(kind, (None, None)), "nargs": -1 if several else 1}
        return _Argument([name], help_text=own.help, **attributes)
    if kind is bool:
        attributes |= {"is_flag": True}
    else:
        attributes["type"] = _Parsed(own.parser) if own.parser is not None else _type(kind, own.bounds)
        attributes["metavar"] = (
            own.metavar or f"<{kind.__name__.lower()}{' range' if own.bounds != (None, None) else ''}>"
        )
        attributes["show_default"] = default not in (None, "")
    flags = own.flags or (f"--{name.replace('_', '-')}",)
    return click.Option([*flags, name], help=own.help, multiple=several, **attributes)


def _type(kind: type, bounds: tuple[float | None, float | None]) -> Any:
    low, high = bounds
    if kind is Path:
        return click.Path(path_type=Path)
    if kind is int and bounds != (None, None):
        return click.IntRange(None if low is None else int(low), None if high is None else int(high))
    if kind is float and bounds != (None, None):
        return click.FloatRange(low, high)
    return kind


def _list(context: click.Context, parameter: click.Parameter, values: Iterable[Any] | None) -> list[Any] | None:
    """Values of what may be given several times; None where it was not given."""
    del context, parameter
    return list(values or ()) or None


def _completed(completion: Completion) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        del parameter
        return list(completion(context, incomplete))

    return complete
