"""c-ares' configuration and hosts file (ares_sysconfig_files.c, ares_sysconfig.c, ares_init.c, ares_hosts_file.c;
1.34)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import C_SPACE, Environment, c_fields, ipv6_literal, split_lines

VALUE_BYTES, OPTION_BYTES = 511, 31
HOSTNAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/*")


class CaresConfig(msgspec.Struct, frozen=True):
    servers: tuple[str, ...]
    domains: tuple[str, ...]
    ndots: int = 1
    timeout: float = 2.0
    tries: int = 3
    rotate: bool = False
    use_tcp: bool = False
    lookups: str = "fb"


def read(environment: Environment) -> CaresConfig:
    variables = environment.variables
    return _read(
        environment.resolv_conf,
        environment.nsswitch,
        environment.hostname,
        variables.get("LOCALDOMAIN"),
        variables.get("RES_OPTIONS", ""),
    )


@lru_cache(maxsize=256)
def _read(
    text: str | None, nsswitch: str | None, hostname: str, localdomain: str | None, res_options: str
) -> CaresConfig:
    servers: list[str] = []
    domains: list[str] | None = None
    settings: dict[str, int] = {"ndots": 1}
    lookups = ""
    for raw in split_lines(text or ""):
        line = raw.strip(C_SPACE)
        if not line or line[0] in "#;":
            continue
        keyword, value = _split(line)
        if not value or len(keyword) > OPTION_BYTES or len(value) > VALUE_BYTES or not _printable(value):
            continue
        value = value.strip(C_SPACE)
        if keyword == "domain":
            domains = _domains(value)[:1] if domains is None else domains
        elif keyword == "search":
            domains = _domains(value)
        elif keyword == "nameserver":
            servers.extend(address for word in _words(value, ", ") if (address := _server(word)))
        elif keyword == "options":
            _options(value, settings)
        elif keyword in ("lookup", "hostresorder"):
            lookups = _lookups(value) or lookups
    for raw in split_lines(nsswitch or ""):
        line = raw.strip(C_SPACE)
        database, colon, value = line.partition(":")
        if not line.startswith("#") and colon and database.strip(C_SPACE) == "hosts":
            lookups = _lookups(value) or lookups
    if localdomain is not None:
        domains = _domains(localdomain)[:1]
    _options(res_options, settings)
    if not domains:
        _, dot, domain = hostname.partition(".")
        domains = [domain] if dot and domain else []
    unique = list(dict.fromkeys(servers))
    return CaresConfig(
        tuple(unique) or ("127.0.0.1",),
        tuple(domains),
        settings["ndots"],
        float(settings.get("timeout", 2)),
        settings.get("attempts", 3),
        "rotate" in settings,
        "use-vc" in settings,
        lookups or "fb",
    )


def _printable(value: str) -> bool:
    """ares_buf_tag_fetch_string refuses a value with anything but printable ASCII, a tab too: the line is ignored."""
    return all(" " <= character <= "~" for character in value)


def _split(line: str) -> tuple[str, str]:
    """The first word, and the rest up to a comment sign."""
    end = next((index for index, character in enumerate(line) if character in C_SPACE), len(line))
    rest = line[end:].lstrip(C_SPACE)
    cut = min((at for at in (rest.find("#"), rest.find(";")) if at >= 0), default=len(rest))
    return line[:end], rest[:cut]


def _words(text: str, separators: str) -> list[str]:
    for separator in separators[1:]:
        text = text.replace(separator, separators[0])
    return [word.strip(C_SPACE) for word in text.split(separators[0]) if word.strip(C_SPACE)]


def _domains(value: str) -> list[str]:
    """ares_strsplit at comma and space (not at tabs), duplicates without regard to case removed."""
    seen: dict[str, str] = {}
    for word in _words(value, ", "):
        seen.setdefault(word.lower(), word)
    return list(seen.values())


def _server(word: str) -> str:
    """An address, with an optional port: [v6]:port, v4:port."""
    text = word
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return address(text.partition("%")[0])


def inet_net_pton(text: str) -> str:
    """An IPv4 address as c-ares reads it (ares_inet_net_pton.c): decimal parts from the left, zeros may lead, and missing
    ones are zeros at the right ("127.1" is 127.1.0.0)."""
    parts = text.split(".")
    if not 1 <= len(parts) <= 4 or any(
        not (part.isascii() and part.isdigit()) or int(part[:9]) > 255 for part in parts
    ):
        return ""
    return ".".join(str(int(part)) for part in (*parts, *("0" for _ in range(4 - len(parts)))))


def address(text: str) -> str:
    """ares_dns_pton without a family: IPv4, else IPv6 without a scope; "" for what is neither."""
    v4 = inet_net_pton(text)
    if v4:
        return v4
    v6 = ipv6_literal(text)
    return v6[0] if v6 and not v6[1] else ""


def _options(text: str, settings: dict[str, int]) -> None:
    for word in c_fields(text, " \t"):
        key, colon, value = word.partition(":")
        number = 0
        if colon and value:
            if not (value.isascii() and value.isdigit()) or len(value) > 10 or int(value) > 0xFFFFFFFF:
                continue
            number = int(value)
        if key == "ndots":
            settings["ndots"] = number
        elif key in ("retrans", "timeout") and number:
            settings["timeout"] = number
        elif key in ("retry", "attempts") and 0 < number <= 255:
            settings["attempts"] = number
        elif key == "rotate":
            settings["rotate"] = 1
        elif key in ("use-vc", "usevc"):
            settings["use-vc"] = 1


def _lookups(value: str) -> str:
    letters = ""
    for word in c_fields(value, " \t"):
        lower = word.lower()
        letter = ""
        if lower in ("dns", "bind", "bind4", "bind6", "resolv", "resolve"):
            letter = "b"
        elif lower in ("files", "file", "local", "local4", "local6"):
            letter = "f"
        if letter and letter not in letters:
            letters += letter
    return letters


class _Entry:
    """Addresses and names that share a line, directly or by merging (ares_hosts_file.c ares_hosts_file_add)."""

    def __init__(self) -> None:
        self.addresses: list[str] = []


@lru_cache(maxsize=64)
def _table(text: str) -> dict[str, tuple[str, ...]]:
    by_address: dict[str, _Entry] = {}
    by_name: dict[str, _Entry] = {}
    for raw in split_lines(text):
        words = c_fields(raw)
        # A "#" begins a comment where a word begins, and is a part of the word elsewhere.
        words = words[: next((at for at, word in enumerate(words) if word.startswith("#")), len(words))]
        if len(words) < 2:
            continue
        where = address(words[0])
        if not where:
            continue
        names = [word.lower() for word in words[1:] if HOSTNAME_CHARACTERS.issuperset(word) and len(word) < 256]
        if not names:
            continue
        entry = by_address.get(where)
        if entry is None:
            entry = next((by_name[name] for name in names if name in by_name), None) or _Entry()
            entry.addresses.append(where)
            by_address[where] = entry
        for name in names:
            by_name.setdefault(name, entry)
    return {name: tuple(entry.addresses) for name, entry in by_name.items()}


def hosts(text: str, name: str) -> tuple[str, ...]:
    return _table(text).get(name.lower(), ())
