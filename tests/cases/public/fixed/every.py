"""The fixed variant of any case."""

from __future__ import annotations

import dataclasses

from tests.cases.public.case import Case
from tests.cases.public.fixed import dataplane, lifecycle, objects, resolution

FIX = {**resolution.FIX, **objects.FIX, **dataplane.FIX, **lifecycle.FIX}


def fixed(case: Case) -> Case:
    files = {path: raw.decode() for path, raw in case.files.items()}
    FIX[case.name](files)
    return dataclasses.replace(
        case,
        name=f"{case.name} fixed",
        files={path: text.encode() for path, text in files.items()},
        status="OK",
    )
