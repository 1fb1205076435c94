"""Generated runs for the corners that the first grid leaves out: what is in the files more than what the servers say.

Names that are or look like addresses, hosts lines of every shape, nsswitch actions, options with odd values, several of
them at once, nameservers written oddly, one server failing where another answers. One seed gives all; what would make the
real outcome packet order is held still as in the first grid.
"""

from __future__ import annotations

import random
from typing import Any

SUFFIXES = ("ops.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example", "a.t", "lan", "Up.Per")
#: Shares of the runs in percent. nginx, Node's resolve4 and dnspython read little of what is varied here.
SHARES = {
    "musl-1.2.3": 16,
    "musl-1.2.5": 18,
    "glibc": 26,
    "go-pure": 16,
    "cares-gai": 12,
    "go-default": 2,
    "go-cgo": 1,
    "hickory": 4,
    "hickory-0.26": 3,
    "dnspython-search": 3,
    "python-gai": 1,
    "node-lookup": 1,
}
AT_MOST = {"python-gai": 60, "node-lookup": 60, "go-cgo": 60, "go-default": 150}
NUMERIC = (
    "0x7f.1",
    "127.1",
    "1.2.3.4.5",
    "::1",
    "fe80::1%lo",
    "fe80::1%1",
    "fe80::1%99",
    "fe80::1%nosuch",
    "2001:db8::1%lo",
    "::ffff:1.2.3.4",
    "1.2.3.4.",
    "0",
    "00000001",
    "0x",
    "0x0",
    "4294967295",
    "4294967296",
    "1e3",
    "256.1",
    "1.256",
    "010.1",
    "08.1",
    "1.2.3.",
    "1..2",
    "[::1]",
    "::1.",
    "1:2",
    "::g",
    "12345678::1",
    "1::2::3",
    "1.2.65536",
    "1.2.65535",
    "255.255.255.255",
    "0x7F000001",
    "+1",
    "-1",
    " 1",
)
NAMES = (
    "_http._tcp.web",
    "web_1",
    "a",
    ".",
    "..",
    "a.",
    "a..",
    ".a.",
    "a.b..",
    "\u00e9t\u00e9",
    "xn--bcher-kva.w",
    "UP.Case",
    "-a",
    "a-",
    "a.-b",
    "a+b",
    "a@b",
    "a\\b",
    "a$b.w",
    "x" * 63,
    "x" * 64,
    "x" * 63 + ".y",
    "w." + "x" * 64,
    "web",
    "web.ops",
    "web.ops.svc",
    "web.ops.svc.cluster.local",
    "web.ops.svc.cluster.local.",
    "db-0.web",
    "localhost",
    "localhost.",
    "LocalHost",
    "x.localhost",
    "ip6-localhost",
    "box",
    "box.",
    "BOX",
    "box.corp.example",
)
NSSWITCH = (
    "hosts: files [NOTFOUND=return] dns\n",
    "hosts: dns [NOTFOUND=return] files\n",
    "hosts: dns [!UNAVAIL=return] files\n",
    "hosts: dns [SUCCESS=continue] files\n",
    "hosts: files [SUCCESS=continue] dns\n",
    "hosts: files [SUCCESS=merge] dns\n",
    "hosts: dns [TRYAGAIN=return] files\n",
    "hosts: dns [UNAVAIL=return TRYAGAIN=continue] files\n",
    "hosts: dns [tryagain=return notfound=continue] files\n",
    "hosts: files dns [NOTFOUND=return]\n",
    "hosts: files\tdns\n",
    "  hosts: dns files\n",
    "hosts:files dns\n",
    "hosts : dns\n",
    "HOSTS: dns\n",
    "hosts:\n",
    "hosts: \n",
    "hosts: # files\n",
    "hosts: files #dns\n",
    "hosts: dns\nhosts: files\n",
    "hosts: nosuch dns\n",
    "hosts: nosuch [UNAVAIL=return] dns\n",
    "hosts: nosuch [!SUCCESS=return] files\n",
    "passwd: files\nhosts: dns\n",
    "",
)
ODD_OPTIONS = (
    "ndots:05",
    "ndots:",
    "ndots:x",
    "ndots:-1",
    "ndots:3x",
    "ndots:99999999999",
    "ndots=4",
    "Ndots:4",
    "ndots: 4",
    "timeout:1x",
    "attempts:1x",
    "timeout:+1",
    "attempts:01",
    "rotate",
    "use-vc",
    "edns0",
    "trust-ad",
    "single-request",
    "single-request-reopen",
    "no-aaaa",
    "no-tld-query",
    "no-reload",
    "no-check-names",
    "inet6",
    "insecure1",
    "debug",
    "unknown-thing",
    "ip6-dotint",
    "strict-error",
)
SERVERS = (
    "127.0.0.1 extra words",
    "127.0.0.1#comment",
    "127.0.0.1 # comment",
    "127.1",
    "2130706433",
    "::1",
    "::1%lo",
    "::1%1",
    "[::1]",
    "127.0.0.1:53",
    "[127.0.0.1]:53",
    "localhost",
    "",
    "300.1.1.1",
    "0x7f.0.0.1",
    "127.0.0.01",
    "::ffff:127.0.0.1",
)
ACTIONS = (
    ("NXDOMAIN", 36),
    ("NODATA", 12),
    ("A:10.1.1.{n}", 12),
    ("AAAA:fd00::{n}", 5),
    ("SERVFAIL", 6),
    ("REFUSED", 5),
    ("LAME", 2),
    ("CNAME:gone.invalid", 2),
    ("CNAME:alias.w=10.3.3.{n}", 4),
    ("CNAME:alias.w=fd03::{n}", 2),
    ("TC:A:10.4.4.{n}", 4),
    ("TC:NODATA", 1),
    ("TC:NXDOMAIN", 1),
    ("TC:SERVFAIL", 1),
    ("TCDROP:A:10.4.5.{n}", 2),
)


def jobs(count: int, seed: int, probes: set[str]) -> list[dict[str, Any]]:
    """``count`` jobs for the probes at hand, in a mixed order."""
    source = random.Random(seed)
    weights = {probe: share for probe, share in SHARES.items() if probe in probes}
    total = sum(weights.values())
    made = []
    for probe, share in weights.items():
        amount = max(1, min(AT_MOST.get(probe, count), round(count * share / total)))
        made += [_job(source, probe) for _ in range(amount)]
    source.shuffle(made)
    return made


def _job(source: random.Random, probe: str) -> dict[str, Any]:
    name = _name(source)
    while probe == "cares-gai" and (not name.isascii() or not name.strip()):
        name = _name(source)
    suffixes = source.sample(SUFFIXES, source.randint(0, 4))
    servers = 1 if source.random() < 0.6 or probe == "hickory" else source.randint(2, 4)
    if probe == "hickory-0.26":  # among more than two it chooses by what it measured
        servers = min(servers, 2)
    if probe.startswith("cares"):
        # Where its retries over TCP go among several servers is not modelled.
        servers = 1
    hosts = _hosts(source, name, suffixes) if source.random() < 0.5 else "127.0.0.1 localhost\n::1 localhost\n"
    args = []
    if probe.startswith(("musl", "glibc", "go", "cares")) and source.random() < 0.25:
        args = ["-4"] if probe in ("go-cgo", "go-default") else [source.choice(["-4", "-6"])]
    nsswitch = _nsswitch(source, probe, args)
    if "files" not in nsswitch.partition("hosts:")[2].partition("dns")[0]:
        # A long line makes gethostbyname_r start all over with a larger buffer, DNS included.
        hosts = "\n".join(line for line in hosts.split("\n") if "pad" not in line)
    return {
        "probe": probe,
        "name": name,
        "args": args,
        "conf": _conf(source, probe, suffixes, servers),
        "hosts": hosts,
        "nsswitch": nsswitch,
        "hostname": source.choice(["box", "box.corp.example"]),
        "variables": _variables(source, probe),
        "actions": _actions(source, name, suffixes, servers),
        "default": "NXDOMAIN",
        "delays": [0.06 * index for index in range(servers)] if servers > 1 else [],
    }


def _nsswitch(source: random.Random, probe: str, args: list[str]) -> str:
    if source.random() > 0.3:
        return "hosts: files dns\n"
    while True:
        text = source.choice(NSSWITCH)
        # glibc 2.36 merges from memory that it never wrote, and a caller without any source may crash in it.
        merged = "merge" in text and "-4" in args
        none = not text.partition("hosts:")[2].partition("#")[0].strip() and "hosts:" in text
        if not (merged or (none and probe in ("python-gai", "node-lookup"))):
            return text


def _name(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.25:
        return source.choice(NUMERIC)
    if kind < 0.3:
        return source.choice(NUMERIC) + source.choice([".", ".w", "x"])
    return source.choice(NAMES)


def _variables(source: random.Random, probe: str) -> dict[str, str]:
    if probe not in ("glibc", "go-default", "python-gai") or source.random() > 0.12:
        return {}
    return source.choice(
        [
            {"LOCALDOMAIN": "a.t lan\tcorp.example"},
            {"LOCALDOMAIN": " "},
            {"RES_OPTIONS": "ndots:3 timeout:1\tattempts:1"},
            {"RES_OPTIONS": "no-aaaa use-vc"},
            {"RES_OPTIONS": "ndots:x"},
            {"LOCALDOMAIN": "lan", "RES_OPTIONS": "ndots:9"},
        ]
    )


def _hosts(source: random.Random, name: str, suffixes: list[str]) -> str:
    bare = name.removesuffix(".")
    known = [bare, name, f"{bare}.", bare.upper(), f"{bare}.{suffixes[0]}" if suffixes else f"{bare}.w", "other", "web"]
    known = [
        option
        for option in known
        if option.isascii() and option.strip() == option and " " not in option and 0 < len(option) < 200
    ]
    known = known or ["other"]
    places = (
        "10.7.7.7",
        "10.7.7.8",
        "fd00::7",
        "fd00::8",
        "::ffff:10.7.7.9",
        "127.1",
        "fe80::7%lo",
        "0.0.0.0",
        "::",
        "bad",
    )
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"] if source.random() < 0.7 else []
    for _ in range(source.randint(1, 4)):
        words = [source.choice(places), *source.choices(known, k=source.randint(1, 3))]
        if source.random() < 0.06:
            words[1:1] = ["pad" * 9] * source.choice([18, 19, 40])
        line = source.choice([" ", "\t", "  ", " \t "]).join(words)
        if source.random() < 0.12:
            line = source.choice([" ", "\t", "#", "# "]) + line
        if source.random() < 0.15:
            line += source.choice([" # note", "#note", "\r", " ", f" #{source.choice(known)}"])
        lines.append(line)
    if source.random() < 0.1:
        lines.insert(source.randint(0, len(lines)), source.choice(["", "   ", "10.7.7.6", "web", "\t"]))
    return "\n".join(lines) + ("" if source.random() < 0.15 else "\n")


def _conf(source: random.Random, probe: str, suffixes: list[str], servers: int) -> str:
    lines = []
    if suffixes:
        words = [suffix + ("." if source.random() < 0.08 else "") for suffix in suffixes]
        lines.append(source.choice(["search ", "search\t", "search  "]) + source.choice([" ", "\t", "  "]).join(words))
    if source.random() < 0.15:
        lines.append(
            source.choice(["domain corp.example", "domain a.t lan", "search lan", "search", "domain", "search ."])
        )
    addresses = [f"127.0.0.{index + 1}" for index in range(servers)]
    # Several names of one server would make its log ambiguous: an odd spelling stands alone.
    if servers == 1 and source.random() < 0.25 and probe != "hickory":
        addresses = [source.choice(SERVERS)]
    lines += [
        f"{source.choice(('nameserver ', 'nameserver ', 'nameserver' + chr(9)))}{address}" for address in addresses
    ]
    options = [f"ndots:{source.choice([0, 1, 2, 3, 5, 5, 15, 20])}", "timeout:1", "attempts:1"]
    if source.random() < 0.35 and probe != "hickory":
        options += source.sample(ODD_OPTIONS, source.randint(1, 3))
    if servers > 1 and source.random() < 0.25:
        options.append("rotate")
    source.shuffle(options)
    cut = source.randint(1, len(options)) if source.random() < 0.3 else len(options)
    lines += [f"options {' '.join(part)}" for part in (options[:cut], options[cut:]) if part]
    if source.random() < 0.12:
        more = [
            "; c",
            "#c",
            " # c",
            "sortlist 10.0.0.0/8",
            "lookup file bind",
            "family inet4",
            "options",
            "options\t",
            "bogus x",
        ]
        lines.insert(source.randint(0, len(lines)), source.choice(more))
    if source.random() < 0.15:
        source.shuffle(lines)
    end = "\r\n" if source.random() < 0.03 else "\n"
    return end.join(lines) + ("" if source.random() < 0.08 else end)


def _actions(source: random.Random, name: str, suffixes: list[str], servers: int) -> dict[str, str]:
    bare = name.removesuffix(".")
    actions: dict[str, str] = {}
    candidates = [bare, *(f"{bare}.{suffix}" for suffix in [*suffixes, "corp.example", "a.t", "lan"])]
    for number, candidate in enumerate(
        dict.fromkeys(candidate.lower() for candidate in candidates if candidate.isascii())
    ):
        for kind in ("A", "AAAA"):
            actions[f"{candidate}/{kind}"] = _action(source, number)
            if servers > 1 and source.random() < 0.5:
                for server in range(servers):
                    actions[f"{server}/{candidate}/{kind}"] = _action(source, number)
    if actions and source.random() < 0.04:
        actions[source.choice(sorted(actions))] = "DROP"
    return actions


def _action(source: random.Random, number: int) -> str:
    return source.choices([action for action, _ in ACTIONS], [weight for _, weight in ACTIONS])[0].format(n=number + 1)
