"""The generated runs: names, configurations and answers, all from one seed.

What would make the real outcome a matter of packet order is held still: with several servers each waits 60 ms longer than
the one before it, silent answers are rare, and every lookup is a process (or channel) of its own.
"""

from __future__ import annotations

import random
from typing import Any

from svcpath.models.resolvers.environment import fold

SUFFIXES = (
    "ops.svc.cluster.local",
    "svc.cluster.local",
    "cluster.local",
    "corp.example",
    "a.t",
    "b.t.",
    "lan",
    "x.y.z.w",
)
# Share of the runs in percent; libc's own users get few, since their rules are libc's.
SHARES = {
    "musl-1.2.3": 17,
    "musl-1.2.5": 18,
    "glibc": 19,
    "go-pure": 13,
    "cares-gai": 12,
    "dnspython-search": 5,
    "dnspython": 2,
    "hickory": 4,
    "hickory-0.26": 4,
    "node-resolve4": 2,
    "nginx": 2,
    "go-default": 1,
    "go-cgo": 1,
    "python-gai": 1,
    "node-lookup": 1,
    "jvm": 1,
    "glibc-nss": 1,
}
AT_MOST = {"jvm": 100, "node-lookup": 100, "python-gai": 100, "node-resolve4": 100, "go-cgo": 100, "go-default": 100}
HICKORY = ("hickory", "hickory-0.26")
LABELS = ("echo", "web", "db-0", "x1", "api", "Up", "k8s")
ODD = (
    "a_b.c",
    "-a.b",
    "a-.b",
    "*.w",
    "b\u00fccher.w",
    "a..b",
    "a/b.c",
    "a:b",
    ".a",
    "w..",
    "1.2.3",
    "127.1",
    "0x7f.1",
    "999.1.1.1",
)
LITERALS = ("1.2.3.4", "::1", "10.0.0.1.", "fe80::1")
LOUD = (
    ("NXDOMAIN", 40),
    ("NODATA", 12),
    ("A:10.1.1.{n}", 9),
    ("AAAA:fd00::{n}", 3),
    ("A:10.1.1.{n},10.1.2.{n}", 2),
    ("SERVFAIL", 3),
    ("REFUSED", 3),
    ("NOTIMP", 1),
    ("FORMERR", 2),
    ("LAME", 3),
    ("CNAME:gone.invalid", 3),
    ("CNAME:alias.w=10.3.3.{n}", 3),
    ("TC:A:10.4.4.{n}", 2),
    ("TC:NODATA", 1),
    ("TCDROP:A:10.4.5.{n}", 1),
)
QUIET = ("DROP", "WRONGID:A:10.9.9.9")
OPTIONS = (
    "use-vc",
    "edns0",
    "no-aaaa",
    "no-tld-query",
    "trust-ad",
    "single-request",
    "single-request-reopen",
    "no-reload",
)
NSSWITCH = ("hosts: files dns\n", "hosts: dns files\n", "hosts: files\n", "hosts: dns\n", "passwd: files\n")
MORE_NSSWITCH = (
    "hosts: files mdns4_minimal [NOTFOUND=return] dns\n",
    "hosts: files resolve [!UNAVAIL=return] dns\n",
    "hosts: dns mdns4\n",
    "hosts: files [NOTFOUND=return] dns\n",
    "hosts:   files   dns   # both\n",
    "hosts: dns [!UNAVAIL=return] files\n",
    "hosts: files myhostname dns\n",
)


def jobs(count: int, seed: int, probes: set[str]) -> list[dict[str, Any]]:
    """``count`` jobs for the probes at hand, in a mixed order."""
    source = random.Random(seed)
    weights = {probe: share for probe, share in SHARES.items() if probe.removesuffix("-nss") in probes}
    total = sum(weights.values())
    wanted = {
        probe: max(1, min(AT_MOST.get(probe, count), round(count * share / total))) for probe, share in weights.items()
    }
    spare = [probe for probe in ("musl-1.2.5", "glibc", "go-pure") if probe in wanted]
    if spare:
        wanted[spare[0]] += max(0, count - sum(wanted.values()))
    made = [_job(source, probe, number) for probe, amount in wanted.items() for number in range(amount)]
    source.shuffle(made)
    return made


def _job(source: random.Random, probe: str, number: int) -> dict[str, Any]:
    suffixes = _suffixes(source)
    name = _name(source)
    while probe in ("cares-gai", "node-resolve4") and (not name.isascii() or len(name) > 200):
        name = _name(source)
    if probe == "nginx":
        name = f"n{source.randrange(10**9)}.{'.'.join(source.choices(LABELS, k=source.randint(1, 3)))}"
    servers = 1 if source.random() < 0.75 or probe in (*HICKORY, "nginx", "node-resolve4") else source.randint(2, 4)
    if probe == "hickory-0.26":
        servers = 1 if source.random() < 0.9 else 2
    quiet = source.random() < 0.07
    job: dict[str, Any] = {
        "probe": probe.removesuffix("-nss"),
        "name": name,
        "args": [],
        "conf": _conf(source, probe, suffixes, servers),
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "nsswitch": "hosts: files dns\n",
        "hostname": "box" if source.random() < 0.93 else "box.corp.example",
        "variables": {},
        "actions": _actions(source, name, suffixes, servers, quiet),
        "default": source.choices(["NXDOMAIN", "NODATA", "SERVFAIL"], [94, 4, 2])[0],
        "delays": [0.06 * index for index in range(servers)] if servers > 1 else [],
    }
    if probe.startswith(("musl", "glibc", "go", "cares")) and source.random() < 0.12:
        job["args"] = ["-4"] if probe in ("go-cgo", "go-default") else [source.choice(["-4", "-6"])]
    if source.random() < 0.12:
        job["hosts"] += _hosts(source, name, suffixes)
    if probe == "nginx":  # it keeps targets for a second, also those of the job before
        fresh = f"gone{source.randrange(10**9)}.invalid"
        job["actions"] = {key: action.replace("gone.invalid", fresh) for key, action in job["actions"].items()}
    if probe in HICKORY and source.random() < 0.4:  # an alias whose target is asked
        job["actions"] = {key: action.replace("gone.invalid", "gone.w") for key, action in job["actions"].items()}
        job["actions"] |= {f"gone.w/{kind}": _action(source, 9) for kind in ("A", "AAAA")}
    if probe != "nginx" and source.random() < 0.08:
        job["nsswitch"] = source.choice(NSSWITCH)
    if probe == "glibc-nss" or (probe in ("go-default", "cares-gai") and source.random() < 0.1):
        job["nsswitch"] = source.choice(NSSWITCH + MORE_NSSWITCH)
    if probe in ("glibc", "go-default", "python-gai") and source.random() < 0.05:
        job["variables"] = source.choice(
            [
                {"LOCALDOMAIN": "a.t lan"},
                {"RES_OPTIONS": "ndots:3"},
                {"LOCALDOMAIN": "", "RES_OPTIONS": "ndots:1 no-aaaa"},
            ]
        )
    if probe == "go-pure" and source.random() < 0.03:
        job["variables"] = {"GODEBUG": "netdns=cgo"}
    return job


def _name(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.07:
        return source.choice(ODD)
    if kind < 0.09:
        return source.choice(LITERALS)
    if kind < 0.13:
        return _long(source)
    if kind < 0.15:
        return source.choice(["localhost", "LOCALHOST", "foo.localhost", "foo.onion", "localhost."])
    labels = source.choices(LABELS, k=source.randint(1, 7))
    if source.random() < 0.25:
        labels += source.choice(SUFFIXES).rstrip(".").split(".")
    return ".".join(labels) + ("." if source.random() < 0.25 else "")


def _long(source: random.Random) -> str:
    if source.random() < 0.3:
        return "x" * source.choice([62, 63, 64]) + source.choice(["", ".w", "."])
    length = source.randint(240, 258)
    return ("abcdefg." * 33)[: length - 1] + "z"


def _suffixes(source: random.Random) -> list[str]:
    if source.random() < 0.4:
        return ["ops.svc.cluster.local", "svc.cluster.local", "cluster.local"]
    chosen = source.sample(SUFFIXES, source.randint(0, 8))
    if chosen and source.random() < 0.08:
        chosen.append(source.choice(chosen))
    if source.random() < 0.05:
        chosen.insert(source.randint(0, len(chosen)), ".")
    return chosen


def _conf(source: random.Random, probe: str, suffixes: list[str], servers: int) -> str:
    lines = []
    if suffixes:
        separator = "\t" if source.random() < 0.04 else " "
        words = list(suffixes)
        if source.random() < 0.04:
            length = source.choice([240, 247, 248, 255, 300, 511, 520])
            words.append(("p" * 20 + ".q.")[:22] * 30)
            words[-1] = words[-1][: max(1, length - len("search " + " ".join(words[:-1])) - 1)].strip(".") or "pp"
            words[-1] = ".".join(part for part in words[-1].split(".") if part)
        lines.append("search " + separator.join(words))
        if source.random() < 0.05:
            lines.append(f"domain {source.choice(SUFFIXES)}")
    elif source.random() < 0.4:
        lines.append("domain corp.example")
    if source.random() < 0.03:
        lines = [source.choice([" ", "\t"]) + line for line in lines]
    if source.random() < 0.03:
        lines.append("search")
    addresses = [f"127.0.0.{index + 1}" for index in range(servers)]
    if servers == 1 and source.random() < 0.03 and probe not in (*HICKORY, "nginx"):
        addresses = ["127.0.0.9"]
    elif probe != "nginx" and servers == 1 and source.random() < 0.04:
        addresses = ["::1"]
    lines += [f"nameserver {address}" for address in addresses]
    options = [f"ndots:{source.choice([0, 1, 1, 2, 3, 4, 5, 5, 5, 5, 6, 10, 15, 16])}", "timeout:1", "attempts:1"]
    if source.random() < 0.04:
        odd = source.choice(["timeout:0", "attempts:0", "attempts:2"])
        if odd != "timeout:0" or probe not in HICKORY:
            options[1 if odd == "timeout:0" else 2] = odd
    if source.random() < 0.25:
        options.append(source.choice(OPTIONS))
    if source.random() < 0.03:
        options.append(source.choice(["xndots:5", "ndots:2", "debug", "inet6"]))
    if source.random() < 0.03 and servers == 2:
        options.append("rotate")
    source.shuffle(options)
    if source.random() < 0.1:
        lines += [f"options {option}" for option in options]
    else:
        lines.append("options " + " ".join(options))
    if source.random() < 0.06:
        lines.append(source.choice(["# comment", "; comment", "", "options # ndots:1"]))
    end = "\r\n" if source.random() < 0.01 else "\n"
    return end.join(lines) + ("" if source.random() < 0.03 else end)


def _actions(source: random.Random, name: str, suffixes: list[str], servers: int, quiet: bool) -> dict[str, str]:
    bare = name.removesuffix(".")
    candidates = [bare, *(f"{bare}.{suffix}".removesuffix(".").removesuffix(".") for suffix in suffixes)]
    actions: dict[str, str] = {}
    for number, candidate in enumerate(dict.fromkeys(fold(wire(candidate)) for candidate in candidates)):
        both = _action(source, number)
        for kind in ("A", "AAAA"):
            actions[f"{candidate}/{kind}"] = both if source.random() < 0.7 else _action(source, number)
        if servers > 1 and source.random() < 0.6:
            for server in range(servers):
                actions[f"{server}/{candidate}/A"] = _action(source, number)
    if source.random() < 0.5:
        actions[f"{fold(wire(bare))}/A"] = "A:10.5.5.5"
    if quiet and actions:
        for key in source.sample(sorted(actions), min(2, len(actions))):
            actions[key] = source.choice(QUIET)
    return actions


def _action(source: random.Random, number: int) -> str:
    return source.choices([action for action, _ in LOUD], [weight for _, weight in LOUD])[0].format(n=number + 1)


def wire(name: str) -> str:
    return name if name.isascii() else name.encode().decode("latin-1")


def _hosts(source: random.Random, name: str, suffixes: list[str]) -> str:
    bare = name.removesuffix(".")
    full = f"{bare}.{suffixes[0]}" if suffixes else f"{bare}.w"
    choice = source.choice([name, bare, bare + ".", full, bare.upper(), "other"])
    if not choice.isascii() or " " in choice or not 0 < len(choice) < 250:
        choice = "other"
    lines = [f"{source.choice(['10.7.7.7', 'fd00::7'])} {source.choice(['first', choice])} {choice}"]
    if source.random() < 0.3:
        lines.append(f"10.7.7.8\t{choice} # note")
    if source.random() < 0.2:
        lines.append(f"# 10.7.7.9 {choice}")
    return "\n".join(lines) + ("" if source.random() < 0.1 else "\n")
