"""Question 2: does the answer fit the Service's type, and is the Service what the client takes it for?"""

from __future__ import annotations

from svcpath.evidence.facts.dns import LookupQuestion
from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.finding import LayerAnswer, answer
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.service import client_family, existence, external_name, headless, urls
from svcpath.walk.scene import Scene


def layer(view: Scene) -> Asking[LayerAnswer]:
    found = yield from existence.check(view)
    if view.service is None:
        return answer([found])
    queries = yield from ask.one(Need(Kind.QUERY))
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    asked = tuple(query for query in queries.present if isinstance(query.value, LookupQuestion))
    judgements = [
        found,
        urls.check(view, asked),
        (yield from external_name.check(view, asked, attempts)),
        headless.check(view, asked, attempts),
        (yield from client_family.check(view, attempts)),
    ]
    return answer(judgements)
