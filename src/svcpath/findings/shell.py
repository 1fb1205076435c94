"""Commands to copy and paste, filled so that no value can leave its word: names from a cluster are hostile input.

POSIX sh quoting (IEEE 1003.1, 2.2): nothing is special between single quotes but the single quote itself.
"""

from __future__ import annotations

import shlex
import string
from collections.abc import Collection, Mapping


def shell(template: str, **values: object) -> str:
    """``template`` with each {name} filled and quoted; a name given as ``raw_name`` is put in as it is."""
    plain = {key.removeprefix("raw_"): str(value) for key, value in values.items()}
    return fill(template, plain, raw={key[4:] for key in values if key.startswith("raw_")})


def fill(template: str, values: Mapping[str, str], *, raw: Collection[str] = ()) -> str:
    """A value inside single quotes ends them, stands quoted, and opens them again; a harmless one is put in as it is."""
    filled, quoted = "", False
    for text, name, _, _ in string.Formatter().parse(template):
        filled += text
        quoted ^= text.count("'") % 2 == 1
        if name is None:
            continue
        value = values[name]
        if name in raw or shlex.quote(value) == value:
            filled += value
        elif quoted:
            filled += f"'{shlex.quote(value)}'"
        else:
            filled += shlex.quote(value)
    return filled


def scope(namespace: str) -> str:
    """ "-n NAMESPACE" quoted, or "-A" when no namespace is known."""
    return f"-n {shlex.quote(namespace)}" if namespace else "-A"
