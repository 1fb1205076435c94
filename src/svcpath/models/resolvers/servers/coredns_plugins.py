"""CoreDNS plugins other than kubernetes: rewrite, template, hosts, forward, and those that are not modelled.

Rules from plugin/rewrite/{name,type}.go, plugin/template/{setup,template}.go, plugin/hosts/{setup,hosts,hostsfile}.go
and plugin/forward/{setup,forward}.go of CoreDNS 1.14.7. Each returns a Response, an UnknownAnswer, or None to hand on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from svcpath.evidence.facts.addresses import address_of
from svcpath.models.resolvers.base import UNKNOWN_ADDRESS, Query, UnknownAnswer, World
from svcpath.models.resolvers.servers.coredns_records import ResourceRecord, Response
from svcpath.models.resolvers.servers.corefile import Directive, matches, normalize

ANSWERING = {
    "file",
    "auto",
    "secondary",
    "etcd",
    "route53",
    "azure",
    "clouddns",
    "k8s_external",
    "grpc",
    "erratic",
    "whoami",
    "nomad",
    "acl",
    "dns64",
}


def unmodelled(plugin: Directive, origins: tuple[str, ...], name: str) -> UnknownAnswer | None:
    """A plugin that may answer or change the answer and that this model does not know."""
    if plugin.name not in ANSWERING:
        return None
    zones = _zones(plugin.args[1:] if plugin.name in ("file", "secondary") else (), origins)
    if plugin.name in ("file", "auto", "secondary", "etcd", "k8s_external") and not matches(zones, name):
        return None
    return UnknownAnswer(f"plugin {plugin.name} answers here (Corefile line {plugin.line}) and is not modelled")


def _zones(args: Iterable[str], origins: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(zone for text in args for zone in normalize(text)) or origins


def _fallthrough(plugin: Directive) -> tuple[str, ...]:
    option = plugin.option("fallthrough")
    return () if option is None else _zones(option.args, (".",))


# --- rewrite ----------------------------------------------------------------------------------------------------------


def rewrite(chain: list[Directive], name: str, rrtype: str) -> tuple[str, str] | UnknownAnswer:
    """The question after all rewrite rules; the first that applies ends it unless it says continue."""
    for plugin in chain:
        if plugin.name != "rewrite":
            continue
        args = list(plugin.args)
        if plugin.block and not args:
            return UnknownAnswer(f"a rewrite block (Corefile line {plugin.line}) is not modelled")
        goes_on = args[:1] == ["continue"]
        if args[:1] in (["continue"], ["stop"]):
            args.pop(0)
        changed = _rule(args, name, rrtype)
        if changed is None:
            return UnknownAnswer(f"this rewrite rule (Corefile line {plugin.line}) is not modelled")
        if changed != (name, rrtype):
            name, rrtype = changed
            if not goes_on:
                break
    return name, rrtype


def _rule(args: list[str], name: str, rrtype: str) -> tuple[str, str] | None:
    field = args[0].lower() if args else ""
    if field in ("class", "edns0", "ttl", "cname", "rcode"):
        return (name, rrtype) if field in ("ttl", "edns0", "class") else None
    if field == "type" and len(args) == 3:
        return (name, args[2].upper() if rrtype == args[1].upper() else rrtype)
    if field != "name" or len(args) < 3:
        return None
    kind, source, target = ("exact", args[1], args[2]) if len(args) == 3 else (args[1].lower(), args[2], args[3])
    return (_renamed(kind, source, target, name), rrtype) if kind in _KINDS else None


_KINDS = ("exact", "prefix", "suffix", "substring", "regex")


def _renamed(kind: str, source: str, target: str, name: str) -> str:
    if kind == "regex":
        return _regex(source, target, name)
    source, target = source.lower(), target.lower()
    if kind == "exact":
        return _dotted(target) if name == _dotted(source) else name
    if kind == "suffix":
        source, target = _dotted(source), _dotted(target)
        return name[: -len(source)] + target if name.endswith(source) else name
    source, target = source.removesuffix("."), target.removesuffix(".")
    if kind == "prefix":
        return target + name[len(source) :] if name.startswith(source) else name
    return name.replace(source, target) if source in name else name


def _regex(source: str, target: str, name: str) -> str:
    try:
        found = re.search(source, name)
    except re.error:
        return name
    if not found:
        return name
    replaced = target
    for index, group in enumerate(found.groups(), 1):
        replaced = replaced.replace(f"{{{index}}}", group or "")
    return _dotted(replaced.lower())


def _dotted(name: str) -> str:
    return name if name.endswith(".") else name + "."


# --- template ---------------------------------------------------------------------------------------------------------

_FIELD = re.compile(r"\{\{\s*(.*?)\s*\}\}")


def template(
    templates: list[Directive], origins: tuple[str, ...], name: str, rrtype: str
) -> Response | UnknownAnswer | None:
    """template.go ServeDNS: zone, class and type, then the regular expressions; a miss without fallthrough is
    SERVFAIL."""
    for plugin in templates:
        klass, wanted = (*(arg.upper() for arg in plugin.args[:2]), "ANY", "ANY")[:2]
        zones = _zones(plugin.args[2:], origins)
        if not matches(zones, name) or klass not in ("IN", "ANY") or wanted not in (rrtype, "ANY"):
            continue
        patterns = [pattern for option in plugin.options("match") for pattern in option.args] or [".*"]
        found = None
        for pattern in patterns:
            try:
                found = re.search(pattern, name)
            except re.error:
                return UnknownAnswer(f"the template's pattern (Corefile line {plugin.line}) is not understood")
            if found:
                break
        if not found:
            if matches(_fallthrough(plugin), name):
                continue
            return Response("SERVFAIL", plugin="template", line=plugin.line, note="no pattern matches, no fallthrough")
        return _from_template(plugin, found, name, rrtype)
    return None


def _from_template(plugin: Directive, found: re.Match[str], name: str, rrtype: str) -> Response:
    option = plugin.option("rcode")
    rcode = option.args[0].upper() if option and option.args else "NOERROR"
    if rcode == "SERVFAIL":
        return Response(rcode, plugin="template", line=plugin.line)
    answers = []
    for text in (text for option in plugin.options("answer") for text in option.args):
        words = _fill(text, found, name, rrtype).split()
        kind = next((i for i, word in enumerate(words) if word in ("A", "AAAA", "CNAME", "SRV", "TXT", "PTR", "MX")), 0)
        if kind and kind + 1 < len(words):
            answers.append(ResourceRecord(words[0], words[kind], " ".join(words[kind + 1 :])))
    note = f"template, Corefile line {plugin.line}"
    return Response(rcode, tuple(answers), True, "template", plugin.line, note)


def _fill(text: str, found: re.Match[str], name: str, rrtype: str) -> str:
    def value(match: re.Match[str]) -> str:
        field = match.group(1)
        if field == ".Name":
            return name
        if field == ".Type":
            return rrtype
        if field == ".Class":
            return "IN"
        if field.startswith(".Group."):
            return found.groupdict().get(field[7:]) or ""
        words = field.split()
        if words[:2] == ["index", ".Match"] and len(words) == 3 and words[2].isdigit():
            index = int(words[2])
            return (found.group(index) or "") if index <= len(found.groups()) else ""
        return UNKNOWN_ADDRESS

    return _FIELD.sub(value, text)


# --- hosts ------------------------------------------------------------------------------------------------------------

_HOSTS_OPTIONS = ("fallthrough", "fallthrough_unsupported", "ttl", "no_reverse", "reload")


def hosts(
    plugin: Directive, origins: tuple[str, ...], files: dict[str, str], name: str, rrtype: str
) -> Response | UnknownAnswer | None:
    """hosts.go ServeDNS: entries of the block and, if its text is known, of the file."""
    path = plugin.args[0] if plugin.args else "/etc/hosts"
    zones = _zones(plugin.args[1:], origins)
    if not matches(zones, name):
        return None
    table: dict[str, list[str]] = {}
    lines = [(option.name, *option.args) for option in plugin.block if option.name not in _HOSTS_OPTIONS]
    lines += [tuple(line.partition("#")[0].split()) for line in files.get(path, "").splitlines()]
    for words in lines:
        address = address_of(words[0].partition("%")[0]) if words else ""
        for host in words[1:] if address else ():
            table.setdefault(_dotted(host.lower()), []).append(address)
    known = table.get(name, [])
    wanted = [address for address in known if (":" in address) == (rrtype == "AAAA")] if rrtype in ("A", "AAAA") else []
    if known:
        records = tuple(ResourceRecord(name, rrtype, address) for address in wanted)
        return Response("NOERROR", records, True, "hosts", plugin.line, f"hosts plugin, Corefile line {plugin.line}")
    if rrtype == "PTR" or matches(_fallthrough(plugin), name):
        return None
    if plugin.args and path not in files:
        return UnknownAnswer(f"the hosts plugin reads {path} (Corefile line {plugin.line}), which is not in evidence")
    return Response("SERVFAIL", plugin="hosts", line=plugin.line, note="not in hosts, no fallthrough")


# --- forward ----------------------------------------------------------------------------------------------------------


def forward(plugin: Directive, upstream: World | None, name: str, rrtype: str) -> Response | UnknownAnswer | None:
    """forward.go ServeDNS: FROM, less `except`; the upstream's reply as it is, SERVFAIL when none answers."""
    if len(plugin.args) < 2:
        return UnknownAnswer(f"forward without a destination (Corefile line {plugin.line})")
    excepted = tuple(zone for option in plugin.options("except") for text in option.args for zone in normalize(text))
    if not matches(_zones(plugin.args[:1], (".",)), name) or matches(excepted, name):
        return None
    targets = targets_of(plugin)
    if upstream is None:
        return UnknownAnswer(
            f"forwarded to {', '.join(targets)} (Corefile line {plugin.line}), whose answer is not in evidence"
        )
    transport = "tcp" if plugin.option("force_tcp") else "udp"
    answer = upstream.answer(Query(name.removesuffix("."), rrtype, targets[0], transport))
    if isinstance(answer, UnknownAnswer):
        return UnknownAnswer(
            f"forwarded to {', '.join(targets)} (Corefile line {plugin.line}): {answer.reason}", answer.alternatives
        )
    note = f"forwarded to {', '.join(targets)}, Corefile line {plugin.line}"
    if answer.silent:
        return Response("SERVFAIL", plugin="forward", line=plugin.line, note=f"{note}: no reply")
    answers = tuple(ResourceRecord(name, rrtype, address) for address in answer.addresses)
    if answer.cname:
        answers = (ResourceRecord(name, "CNAME", _dotted(answer.cname)),)
    return Response(answer.rcode, answers, bool(answer.authoritative), "forward", plugin.line, note)


def targets_of(plugin: Directive) -> tuple[str, ...]:
    """The destinations of a forward, without scheme and port (a file's path as it is)."""
    targets = []
    for text in plugin.args[1:]:
        bare = text.partition("://")[2] or text
        if bare.startswith("["):
            bare = bare[1:].partition("]")[0]
        elif bare.count(":") == 1:
            bare = bare.partition(":")[0]
        targets.append(bare.partition("%")[0])
    return tuple(targets)
