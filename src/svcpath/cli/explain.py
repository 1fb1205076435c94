"""svcpath explain"""

from __future__ import annotations

import re
from typing import Annotated

from svcpath.cli import output
from svcpath.cli.command import Argument, Option
from svcpath.errors import UnknownTarget, UsageError

HELP = """\
svcpath explain SP403

svcpath explain "Connection refused"

Print what a code means, or the hypotheses of an error text in order with the command that splits them."""


def explain(
    what: Annotated[str, Argument(metavar='CODE|"ERROR TEXT"', help="A code (SP403) or an error text.")] = "",
    every: Annotated[bool, Option("--list", help="List all codes.")] = False,
) -> int:
    from svcpath.evidence.facts.request import Request
    from svcpath.findings.symptoms import recognise, symptoms
    from svcpath.judge.stated_symptom import hypotheses
    from svcpath.reports.views import explanation

    terminal = output.parse(None)
    if every:
        output.write(terminal, explanation.all_codes, bytes)
        return 0
    if not what:
        raise UsageError('say what to explain: a code (SP403) or an error text ("Connection refused")')
    if re.fullmatch(r"(?i)sp\d+", what):
        page = explanation.code(what.upper())
    else:
        symptom = recognise(what)
        if symptom is None:
            known = ", ".join(known_symptom.name for known_symptom in symptoms())
            raise UnknownTarget(
                f"no symptom is known by {what!r}; known are: {known}. All codes: svcpath explain --list"
            )
        page = explanation.symptom(symptom, hypotheses(symptom, Request()))
    output.write(terminal, lambda: page, bytes)
    return 0
