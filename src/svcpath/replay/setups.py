"""What surrounded the recorded special cases: hosts, nsswitch, hostname, environment and server delays by case label.

The rows carry the resolv.conf but not these; they are written down here from the recordings' description. A row may
also give ``hosts``, ``nsswitch``, ``hostname`` or ``variables`` itself, which then count.
"""

from __future__ import annotations

import msgspec

# Addresses of the scripted server, by the index that a row's queries carry.
SERVERS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "::1")


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """``delays`` in seconds, by server or by "server type"."""

    hosts: str = "127.0.0.1 localhost\n::1 localhost\n"
    nsswitch: str | None = "hosts: files dns\n"
    hostname: str = "box"
    variables: dict[str, str] = {}
    delays: dict[str, float] = {}


DEFAULT_SETUP = Setup()
HOSTS = """\
127.0.0.1 localhost
::1 localhost
10.5.5.5 myhost myhost.example
10.5.5.6 only-fqdn.service-ops.svc.cluster.local
10.5.5.7 other # commented
10.5.5.8 MiXed.Example
10.5.5.9 dotted.example.
"""


def _hosts(nsswitch: str | None) -> Setup:
    return Setup(hosts=HOSTS, nsswitch=nsswitch)


SETUPS: dict[str, Setup] = {
    "H1-hosts": _hosts("hosts: files dns\n"),
    "H1b-hosts-6": _hosts("hosts: files dns\n"),
    "H2-files": _hosts("hosts: files\n"),
    "H2-dnsfiles": _hosts("hosts: dns files\n"),
    "H2-myhostname": _hosts("hosts: files myhostname dns\n"),
    "H2-resolve": _hosts("hosts: resolve [!UNAVAIL=return] files dns\n"),
    "H2-none": _hosts(None),
    "H2-mdns": _hosts("hosts: files mdns4_minimal [NOTFOUND=return] dns\n"),
    "S8-hostdomain": Setup(hostname="box.service-ops.svc.cluster.local"),
    "V4-env-RES": Setup(variables={"LOCALDOMAIN": "a.t", "RES_OPTIONS": "ndots:1"}),
    "M1b-slowNX,A": Setup(delays={"127.0.0.1": 0.08}),
    "M1c-NX,slowA": Setup(delays={"127.0.0.2": 0.08}),
    "X4-A-then-slow": Setup(delays={"127.0.0.1 AAAA": 0.7}),
}
