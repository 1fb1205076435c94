"""nsswitch.conf's `hosts:` line as glibc reads it (nss/nss_action_parse.c, nss/nss_database.c; 2.36-2.41)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import c_fields, split_lines

STATUSES = ("SUCCESS", "NOTFOUND", "UNAVAIL", "TRYAGAIN")
DEFAULT_ACTIONS = {"SUCCESS": "return", "NOTFOUND": "continue", "UNAVAIL": "continue", "TRYAGAIN": "continue"}


class NssSource(msgspec.Struct, frozen=True):
    """A source and what to do after each status (return, continue, merge)."""

    name: str
    actions: tuple[tuple[str, str], ...]
    plain: bool

    def after(self, status: str) -> str:
        return dict(self.actions)[status]


def _service(name: str, criteria: list[str]) -> NssSource:
    actions = dict(DEFAULT_ACTIONS)
    for criterion in criteria:
        status, _, action = criterion.partition("=")
        negated, status = status.startswith("!"), status.lstrip("!").upper()
        if status not in STATUSES:
            continue
        for outcome in STATUSES if negated else (status,):
            if not negated or outcome != status:
                actions[outcome] = action.lower()
    return NssSource(name, tuple(actions.items()), not criteria)


DEFAULT = (_service("files", []), _service("dns", []))


@lru_cache(maxsize=64)
def hosts_services(text: str | None) -> tuple[NssSource, ...]:
    """Sources of `hosts`; no file or no line: files, dns (nss_database.c nss_database_default_dns). The last line counts,
    and one that names nothing leaves no source at all."""
    found: tuple[NssSource, ...] = DEFAULT
    for line in split_lines(text or ""):
        database, colon, rest = line.strip().partition(":")
        if not colon or database.strip() != "hosts":
            continue
        found = _services(rest)
    return found


def _services(text: str) -> tuple[NssSource, ...]:
    services: list[NssSource] = []
    rest = text
    name = ""
    criteria: list[str] = []
    while rest:
        rest = rest.lstrip()
        if not rest:
            break
        if rest.startswith("["):
            inside, _, rest = rest[1:].partition("]")
            criteria.extend(inside.replace(" =", "=").replace("= ", "=").split())
            continue
        if name:
            services.append(_service(name, criteria))
        words = c_fields(rest.partition("[")[0], " \t")
        name, criteria = words[0] if words else "", []
        rest = rest[len(name) :] if name else ""
    if name:
        services.append(_service(name, criteria))
    return tuple(services)
