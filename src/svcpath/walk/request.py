from svcpath.evidence.facts.request import Request as Request
