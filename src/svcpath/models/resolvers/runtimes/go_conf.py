"""How Go reads resolv.conf, nsswitch.conf, hosts and its environment (net/dnsconfig_unix.go, conf.go, nss.go, hosts.go;
1.26)."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import Environment, ipv6_literal, split_lines, unmapped

GO_BLANKS = " \r\t\n"


class GoConfig(msgspec.Struct, frozen=True):
    servers: tuple[str, ...]
    search: tuple[str, ...]
    ndots: int = 1
    timeout: float = 5.0
    attempts: int = 2
    rotate: bool = False
    single_request: bool = False
    use_tcp: bool = False
    unknown: bool = False


def fields(line: str) -> list[str]:
    return [word for word in line.translate({ord(blank): " " for blank in GO_BLANKS}).split(" ") if word]


def _dtoi(text: str) -> int:
    end = 0
    while end < len(text) and "0" <= text[end] <= "9":
        end += 1
    return min(int(text[: min(end, 9)]), 0xFFFFFF) if end else 0


@lru_cache(maxsize=256)
def read(text: str | None, hostname: str) -> GoConfig:
    """dnsReadConfig. Lines may be indented; three servers; an unknown option or keyword is remembered."""
    servers: list[str] = []
    search: list[str] = []
    numbers: dict[str, int] = {"ndots": 1, "timeout": 5, "attempts": 2}
    flags: set[str] = set()
    for line in split_lines(text or ""):
        if line[:1] in (";", "#"):
            continue
        words = fields(line)
        if not words:
            continue
        if words[0] == "nameserver":
            if len(words) > 1 and len(servers) < 3 and _is_address(words[1]):
                servers.append(words[1])
        elif words[0] == "domain":
            if len(words) > 1:
                search = [_rooted(words[1])]
        elif words[0] == "search":
            search = [_rooted(word) for word in words[1:] if _rooted(word) != "."]
        elif words[0] == "options":
            for word in words[1:]:
                _option(word, numbers, flags)
        elif words[0] != "lookup":
            flags.add("unknown")
    if not search:
        _, dot, domain = hostname.partition(".")
        search = [_rooted(domain)] if dot and domain else []
    return GoConfig(
        tuple(servers) or ("127.0.0.1", "::1"),
        tuple(search),
        numbers["ndots"],
        float(numbers["timeout"]),
        numbers["attempts"],
        "rotate" in flags,
        "single-request" in flags,
        "use-vc" in flags,
        "unknown" in flags,
    )


def _option(word: str, numbers: dict[str, int], flags: set[str]) -> None:
    if word.startswith("ndots:"):
        numbers["ndots"] = min(_dtoi(word[6:]), 15)
    elif word.startswith("timeout:"):
        numbers["timeout"] = max(_dtoi(word[8:]), 1)
    elif word.startswith("attempts:"):
        numbers["attempts"] = max(_dtoi(word[9:]), 1)
    elif word in ("single-request", "single-request-reopen"):
        flags.add("single-request")
    elif word in ("use-vc", "usevc", "tcp"):
        flags.add("use-vc")
    elif word in ("rotate", "trust-ad"):
        flags.add(word)
    elif word not in ("edns0", "no-reload"):
        flags.add("unknown")


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return ipv6_literal(text) is not None
    return True


def _rooted(text: str) -> str:
    return text if text.endswith(".") else text + "."


class GoNssSource(msgspec.Struct, frozen=True):
    name: str
    standard: bool


@lru_cache(maxsize=64)
def _sources(text: str) -> tuple[GoNssSource, ...] | None:
    """nss.go parseNSSConf: the sources of `hosts`; None when the file does not parse."""
    sources: list[GoNssSource] = []
    for raw in split_lines(text):
        line = raw.partition("#")[0].strip(" \t\n\r")
        if not line:
            continue
        database, colon, rest = line.partition(":")
        if not colon:
            return None
        parsed = _criteria(rest.strip(" \t\n\r"))
        if parsed is None:
            return None
        if database.strip(" \t") == "hosts":
            sources.extend(parsed)
    return tuple(sources)


def _criteria(rest: str) -> list[GoNssSource] | None:
    sources = []
    while rest:
        word, _, rest = rest.partition(" ")
        rest = rest.strip(" \t")
        standard = True
        if rest.startswith("["):
            inside, bracket, rest = rest[1:].partition("]")
            if not bracket:
                return None
            rest = rest.strip(" \t")
            items = fields(inside)
            for index, item in enumerate(items):
                standard = standard and _standard(item.lower(), index == len(items) - 1)
        sources.append(GoNssSource(word, standard))
    return sources


def _standard(item: str, last: bool) -> bool:
    status, _, action = item.partition("=")
    default = {"success": "return", "notfound": "continue", "unavail": "continue", "tryagain": "continue"}.get(status)
    return default is not None and (action == default or (last and action == "return"))


def order(environment: Environment, build: str, name: str) -> str:
    """conf.go lookupOrder: "cgo", "files,dns", "dns,files", "files" or "dns"."""
    mode = _netdns(environment.variables.get("GODEBUG", ""))
    can_use_cgo = build != "pure" and mode != "go"
    if can_use_cgo and (build == "cgo" or mode == "cgo" or _prefers_libc(environment, name)):
        return "cgo"
    fallback = "cgo" if can_use_cgo else "files,dns"
    if environment.nsswitch is None:
        return "files,dns"
    sources = _sources(environment.nsswitch)
    if sources is None:
        return fallback
    if not sources:
        return "files,dns"
    return _from_sources(environment, sources, can_use_cgo, name.removesuffix(".")) or fallback


def _netdns(godebug: str) -> str:
    mode = ""
    for item in godebug.split(","):
        key, _, value = item.partition("=")
        if key == "netdns":
            mode = next((part for part in value.split("+") if part and not part[0].isdigit()), "")
    return mode


def _prefers_libc(environment: Environment, name: str) -> bool:
    variables = environment.variables
    if "LOCALDOMAIN" in variables or variables.get("RES_OPTIONS") or variables.get("HOSTALIASES"):
        return True
    if "\\" in name or "%" in name:
        return True
    return read(environment.resolv_conf, environment.hostname).unknown


def _from_sources(environment: Environment, sources: tuple[GoNssSource, ...], can_use_cgo: bool, name: str) -> str:
    seen: list[str] = []
    lower = name.lower()
    for source in sources:
        if source.name in ("files", "dns"):
            if can_use_cgo and not source.standard:
                return "cgo"
            seen.append(source.name)
            continue
        if can_use_cgo:
            if name and source.name == "myhostname":
                if _own(lower, environment.hostname.lower()):
                    return "cgo"
            elif name and source.name.startswith("mdns"):
                if lower.endswith(".local"):
                    return "cgo"
            else:
                return "cgo"
            continue
        if not any(other.name == "dns" for other in sources):
            seen.append("dns")
    if "files" in seen and "dns" in seen:
        return "files,dns" if seen[0] == "files" else "dns,files"
    return seen[0] if seen else ""


def _own(name: str, hostname: str) -> bool:
    local = ("localhost", "localhost.localdomain")
    return (
        name in local
        or name.endswith((".localhost", ".localhost.localdomain"))
        or name in ("_gateway", "_outbound", hostname)
    )


@lru_cache(maxsize=64)
def _table(text: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for raw in split_lines(text):
        words = fields(raw.partition("#")[0])
        if len(words) < 2 or not _is_address(words[0]):
            continue
        # net.IP prints and sorts an IPv4-mapped address as the IPv4 address within.
        canonical = unmapped(str(ipaddress.ip_address(words[0].partition("%")[0])))
        for word in words[1:]:
            key = _absolute(word.lower())
            table[key] = (*table.get(key, ()), canonical)
    return table


def _absolute(name: str) -> str:
    """absDomainName: names with a dot get a final one; single labels stay as they are."""
    return name + "." if "." in name and not name.endswith(".") else name


def hosts(text: str, name: str) -> tuple[str, ...]:
    return _table(text).get(_absolute(name.lower()), ())
