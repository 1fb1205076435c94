"""The Corefile: server blocks, the zones and port they serve, and their plugins with arguments and line numbers.

Syntax from github.com/coredns/caddy caddyfile (lexer.go, parse.go) and core/dnsserver/address.go, register.go, CoreDNS
1.14: words with quotes and \\" escapes, # comments at a word's start, braces, snippets ``(name) { }``, ``import``,
{$VAR} and {%VAR%}.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

import msgspec

from svcpath.errors import FormatError

MAX_BYTES = 1 << 20
MAX_DEPTH = 20


class Directive(msgspec.Struct, frozen=True):
    """A plugin (or an option inside one): its name, arguments, line, and the lines of its block."""

    name: str
    args: tuple[str, ...]
    line: int
    block: tuple[Directive, ...] = ()

    def options(self, name: str) -> tuple[Directive, ...]:
        return tuple(option for option in self.block if option.name == name)

    def option(self, name: str) -> Directive | None:
        found = self.options(name)
        return found[-1] if found else None


class Zone(msgspec.Struct, frozen=True):
    """What a server block serves: a zone in lower case with its final dot, and a port."""

    name: str
    port: str
    transport: str = "dns"


class ServerBlock(msgspec.Struct, frozen=True):
    zones: tuple[Zone, ...]
    line: int
    directives: tuple[Directive, ...]

    def plugins(self, name: str) -> tuple[Directive, ...]:
        return tuple(directive for directive in self.directives if directive.name == name)


class Corefile(msgspec.Struct, frozen=True):
    """``not_understood`` lists lines whose meaning depends on files that are not at hand (imports)."""

    blocks: tuple[ServerBlock, ...]
    not_understood: tuple[tuple[int, str], ...] = ()

    def plugins(self, name: str) -> Iterator[tuple[ServerBlock, Directive]]:
        for block in self.blocks:
            for directive in block.plugins(name):
                yield block, directive


class _Token(msgspec.Struct, frozen=True):
    text: str
    line: int
    quoted: bool = False


def parse(text: str, *, path: str = "", variables: Mapping[str, str] | None = None) -> Corefile:
    """Parse a Corefile; FormatError with the line for what CoreDNS itself would not start with."""
    if len(text) > MAX_BYTES:
        raise FormatError(f"a Corefile above {MAX_BYTES} bytes", path=path)
    return _Parser(_tokens(text, path, variables or {}), path).corefile()


def _tokens(text: str, path: str, variables: Mapping[str, str]) -> list[_Token]:
    tokens: list[_Token] = []
    line, start = 1, 1
    word: list[str] | None = None
    quoted = comment = escaped = False
    for character in text:
        if quoted:
            if escaped:
                word = [*(word or []), character if character == '"' else "\\" + character]
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                tokens.append(_Token("".join(word or []), start, True))
                word, quoted = None, False
            else:
                (word := word if word is not None else []).append(character)
            line += character == "\n"
            continue
        if character.isspace():
            if word is not None:
                tokens.append(_Token("".join(word), start))
                word = None
            if character == "\n":
                line, comment = line + 1, False
            continue
        if character == "#" and word is None:
            comment = True
        if comment:
            continue
        if word is None:
            start = line
            if character == '"':
                quoted, word = True, []
                continue
            word = []
        word.append(character)
    if quoted:
        raise FormatError("a quoted word without its end", path=path, line=start)
    if word is not None:
        tokens.append(_Token("".join(word), start))
    return [msgspec.structs.replace(token, text=_expand(token.text, variables)) for token in tokens]


def _expand(text: str, variables: Mapping[str, str]) -> str:
    for opening, closing in (("{$", "}"), ("{%", "%}")):
        at = text.find(opening)
        while at >= 0:
            end = text.find(closing, at)
            if end < 0:
                break
            key = text[at + 2 : end]
            if key not in variables:
                at = text.find(opening, end)
                continue
            text = text[:at] + variables[key] + text[end + len(closing) :]
            at = text.find(opening, at)
    return text


class _Parser:
    def __init__(self, tokens: list[_Token], path: str) -> None:
        self.tokens = tokens
        self.path = path
        self.at = 0
        self.snippets: dict[str, tuple[Directive, ...]] = {}
        self.missing: list[tuple[int, str]] = []

    def fail(self, message: str, line: int) -> FormatError:
        return FormatError(message, path=self.path, line=line)

    def corefile(self) -> Corefile:
        blocks: list[ServerBlock] = []
        while self.at < len(self.tokens):
            keys, line, opened = self._keys()
            if keys == ["import"]:
                continue
            if len(keys) == 1 and keys[0].startswith("(") and keys[0].endswith(")"):
                self.snippets[keys[0][1:-1]] = self._block(line, 1)
                continue
            directives = self._block(line, 1) if opened else self._rest(line)
            blocks.append(ServerBlock(tuple(self._zone(key, line) for key in keys), line, directives))
        return Corefile(tuple(blocks), tuple(self.missing))

    def _keys(self) -> tuple[list[str], int, bool]:
        """The words before a server block's brace, over several lines after a comma."""
        keys: list[str] = []
        line = self.tokens[self.at].line
        last = line
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "{" and not token.quoted:
                self.at += 1
                if not keys:
                    raise self.fail("a server block without a zone", token.line)
                return keys, line, True
            if token.text == "}" and not token.quoted:
                raise self.fail("a brace that closes nothing", token.line)
            if keys and token.line != last and not self.tokens[self.at - 1].text.endswith(","):
                break
            if token.text == "import" and not keys:
                self._import_top(token)
                return ["import"], line, False
            keys.extend(part for part in token.text.rstrip(",").split(",") if part)
            last = token.line
            self.at += 1
        return keys, line, False

    def _import_top(self, token: _Token) -> None:
        self.at += 1
        while self.at < len(self.tokens) and self.tokens[self.at].line == token.line:
            self.missing.append((token.line, f"import {self.tokens[self.at].text}"))
            self.at += 1

    def _rest(self, line: int) -> tuple[Directive, ...]:
        """A Corefile of one server block may leave its braces out."""
        directives: list[Directive] = []
        while self.at < len(self.tokens):
            if self.tokens[self.at].text == "}":
                raise self.fail("a brace that closes nothing", self.tokens[self.at].line)
            directives.extend(self._directive(1))
        return tuple(directives)

    def _block(self, line: int, depth: int) -> tuple[Directive, ...]:
        if depth > MAX_DEPTH:
            raise self.fail("blocks nested too deeply", line)
        directives: list[Directive] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "}" and not token.quoted:
                self.at += 1
                return tuple(directives)
            if token.text == "{" and not token.quoted:
                raise self.fail("a brace where a plugin or option was expected", token.line)
            directives.extend(self._directive(depth))
        raise self.fail("a block without its closing brace", line)

    def _directive(self, depth: int) -> tuple[Directive, ...]:
        """One line and its block; an import of a snippet stands for the snippet's lines."""
        first = self.tokens[self.at]
        self.at += 1
        args: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at].line == first.line:
            token = self.tokens[self.at]
            if not token.quoted and token.text in ("{", "}"):
                break
            args.append(token.text)
            self.at += 1
        block: tuple[Directive, ...] = ()
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "{" and not token.quoted and token.line == first.line:
                self.at += 1
                block = self._block(first.line, depth + 1)
        if first.text == "import" and args:
            if args[0] in self.snippets:
                return self.snippets[args[0]]
            self.missing.append((first.line, f"import {args[0]}"))
            return ()
        return (Directive(first.text, tuple(args), first.line, block),)

    def _zone(self, key: str, line: int) -> Zone:
        transport, rest = "dns", key
        scheme, separator, after = key.partition("://")
        if separator:
            transport, rest = scheme.lower(), after
        port = {"tls": "853", "grpc": "443", "https": "443", "quic": "853"}.get(transport, "53")
        host, colon, number = rest.rpartition(":")
        if colon and number.isdigit():
            rest, port = host, number
        names = normalize(rest)
        if not names:
            raise self.fail(f"{key!r} is no zone", line)
        return Zone(names[0], port, transport)


def normalize(text: str) -> tuple[str, ...]:
    """A zone as plugin.Host.NormalizeExact makes it: lower case, with a final dot; a prefix becomes its reverse
    zone."""
    if "/" in text:
        try:
            return _reverse_zones(ipaddress.ip_network(text, strict=False))
        except ValueError:
            return ()
    name = text.lower()
    if any(character.isspace() for character in name) or ".." in name:
        return ()
    return (name if name.endswith(".") else name + ".",)


def _reverse_zones(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> tuple[str, ...]:
    bits = 8 if network.version == 4 else 4
    step = -network.prefixlen % bits
    if step > 8:
        return ()
    zones = []
    for subnet in network.subnets(prefixlen_diff=step) if step else (network,):
        labels = subnet.network_address.reverse_pointer.split(".")
        kept = subnet.prefixlen // bits
        total = 4 if subnet.version == 4 else 32
        zones.append(".".join(labels[total - kept :]) + ".")
    return tuple(zones)


def matches(zones: tuple[str, ...], name: str) -> str:
    """plugin.Zones.Matches: the longest zone that the name is in, or ""; both with final dots, in lower case."""
    best = ""
    for zone in zones:
        if (zone == "." or name == zone or name.endswith("." + zone)) and len(zone) > len(best):
            best = zone
    return best
