"""The mended twin of any case."""

from __future__ import annotations

import dataclasses

from tests.cases.public.case import Case
from tests.cases.public.mended import dataplane, lifecycle, objects, resolution

MEND = {**resolution.MEND, **objects.MEND, **dataplane.MEND, **lifecycle.MEND}


def mended(case: Case) -> Case:
    files = {path: raw.decode() for path, raw in case.files.items()}
    MEND[case.name](files)
    return dataclasses.replace(
        case,
        name=f"{case.name} mended",
        files={path: text.encode() for path, text in files.items()},
        status="OK",
    )
