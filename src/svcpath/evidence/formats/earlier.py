"""Names that an earlier svcpath wrote into its results and bundles and that have another name now.

A document that holds one is refused, with the command that writes it again: nothing translates it.
"""

from __future__ import annotations

import re

#: Of facts in a bundle, and of a Need's kind.
TYPES = frozenset({"Query", "Timeline", "Twins", "Sample"})
KINDS = frozenset({"twins"})
#: Schemas of results, each with its name now.
SCHEMAS = {"svcpath.drill/v1": "svcpath.drain/v1"}
#: Fields and values in the JSON of a result.
FIELDS = re.compile(
    rb'"(?:not_tested|standing|falsifier|mends|mended|told_by_hook|said)"\s*:|"outcome"\s*:\s*"(?:lost|open)"'
)


def advice(command: str) -> str:
    """What is said of such a document."""
    return f"written by an earlier svcpath: run `{command}` again"
