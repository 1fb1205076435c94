"""Connections and datagrams from inside a container: which script makes them, and its lines read as Attempts.

How each URL is greeted: tcp (opened and closed), http (GET /), https (a TLS handshake), large (GET / with a header that fills
whole segments), udp (an empty datagram: silence says nothing, a port unreachable says refused), udp+dns (a question, which a
DNS server answers). What has no Python does what its tool can; datagrams and unacknowledged bytes only Python tells.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.connections import NO_REPLY, Attempt, Attempts
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation, Provenance, State
from svcpath.evidence.formats.attempts import outcome_of, target
from svcpath.evidence.sources.inpod_scripts import Script, available
from svcpath.evidence.sources.scripts import one_line, text

#: Bytes of a large request's header, where the dialler does not say.
PADDED = 3000

#: Program that connects -> shell text; URLs are "$@".
DIALS: Mapping[str, str] = {
    "python3": 'python3 -c "$DIAL" "$@"',
    **{program: one_line(f"dial_{program}.sh") for program in ("curl", "bash", "nc", "wget")},
}
#: The program that python3 finds in $DIAL.
PYTHON_DIAL = text("dial.py")


def script() -> Script:
    """Runs the first of DIALS that the container has; the URLs are its arguments."""
    return Script.of({"dial": available(tuple(DIALS), DIALS)}, {"DIAL": PYTHON_DIAL})


def read(text: str, client: str, at: str) -> tuple[str, dict[str, tuple[Attempt, ...]]]:
    """The program that dialled ("none": there is nothing to dial with) and its attempts by URL."""
    program, _, rows = text.partition("\n")
    found: dict[str, tuple[Attempt, ...]] = {}
    for row in rows.split("\n"):
        if (attempt := attempt_of(row, program, client, at)) is not None:
            url = row.partition("\t")[0]
            found[url] = (*found.get(url, ()), attempt)
    return program, found


def observations(
    program: str, attempts: Mapping[str, tuple[Attempt, ...]], where: Callable[[str], Provenance]
) -> tuple[Observation[Attempts], ...]:
    """One for each place; ``where`` takes the command that connects there again."""
    return tuple(
        Observation(
            Kind.ATTEMPTS,
            State.PRESENT,
            Attempts(attempts=tried, repeated=True),
            provenance=where(dial_command(program, url)),
        )
        for url, tried in attempts.items()
    )


def dial_command(program: str, url: str) -> str:
    where = target(url) or ("ADDRESS", 0)
    place = f'("{where[0]}", {where[1]})'
    if url.startswith("udp"):
        text = (
            f"import socket; s=socket.socket(socket.{'AF_INET6' if ':' in where[0] else 'AF_INET'},socket.SOCK_DGRAM); "
        )
        text += f"s.connect({place}); s.settimeout(2); s.send(b); print(s.recv(512))"
        return f"{program} -c {shlex.quote(text)}"
    if url.startswith("large"):
        return f"curl -svk -m 4 -H \"X-Pad: $(printf %3000s | tr ' ' x)\" {shlex.quote('http' + url[5:] + '/')}"
    if program == "curl" and url.startswith("http"):
        return f"curl -svk --connect-timeout 2 {shlex.quote(url + '/')}"
    if program.startswith("python"):
        return f"{program} -c {shlex.quote(f'import socket; print(socket.create_connection({place}, 2))')}"
    if program == "nc":
        return f"nc -v -z -w 2 {where[0]} {where[1]}"
    if program == "wget":
        return f"wget -T 2 -q -O /dev/null {shlex.quote(url + '/')}"
    return f"timeout 3 bash -c 'exec 3<>/dev/tcp/{where[0]}/{where[1]}'"


_CURL = re.compile(r"^(.*?)\s*W=(\d{3}) I=(\S*) P=(-?\d+) T=([\d.]+)$")
_CURL_EXITS = {"28": "timeout", "35": "tls-error", "60": "tls-error", "52": "http-error", "56": "http-error"}


def attempt_of(row: str, program: str, pod: str, at: str) -> Attempt | None:
    """One line of a dial script as an Attempt; None for a line that is none."""
    words = row.split("\t")
    where = target(words[0]) if words[0] else None
    if where is None or len(words) < 3:
        return None
    status, source, source_port, seconds = 0, "", 0, None
    scheme = words[0].partition(":")[0]
    padded, segment, unacknowledged = PADDED if scheme == "large" else 0, 0, None
    if program == "python3":
        if len(words) not in (7, 10):
            return None
        if len(words) == 10 and padded:
            padded, segment = _number(words[7]) or padded, _number(words[8])
            unacknowledged = _number(words[9]) if words[9].isdecimal() else None
        outcome, error = words[1], words[6]
        status = int(words[2]) if words[2].isdecimal() else 0
        source, source_port = words[3], int(words[4]) if words[4].isdecimal() else 0
        seconds = float(words[5]) if re.fullmatch(r"\d+\.\d+", words[5]) else None
        if outcome == "errno":
            outcome = outcome_of(error)[0]
    elif program == "curl":
        outcome, error, status, source, source_port, seconds = _curl(words[1], words[2])
        if outcome == "ok" and words[1] == "28" and scheme in ("http", "https"):
            outcome, error = "http-error", f"{NO_REPLY} 4 s"
    else:
        outcome, error = _plain(words[1], words[2])
    if padded and not status and seconds is not None and outcome in ("ok", "http-error") and program == "curl":
        outcome = "stalled"
    if outcome == "ok" and status >= 400:
        outcome = "http-error"
    host, port = where
    return Attempt(
        client=pod,
        host=host,
        port=port,
        outcome=outcome,
        address=address_of(host),
        protocol="UDP" if scheme.startswith("udp") else "TCP",
        status=status,
        seconds=seconds,
        source_address=address_of(source),
        source_port=source_port,
        at=at,
        error="" if outcome == "ok" else error[:200],
        padded=padded,
        segment=segment,
        unacknowledged=unacknowledged,
    )


def _number(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) < 10 else 0


def _curl(code: str, text: str) -> tuple[str, str, int, str, int, float | None]:
    match = _CURL.match(text)
    if match is None:
        return "error", text or f"curl: exit {code}", 0, "", 0, None
    word, status, source, port, took = match.groups()
    seconds = float(took) if float(took) > 0 else None
    local = (int(status), source, max(int(port), 0), seconds)
    if code == "0" or (seconds is not None and code in ("28", "48")):
        # telnet:// and a server that stays silent: the connection itself stood.
        return ("ok" if code == "0" or int(status) == 0 else "http-error"), word, *local
    meant = outcome_of(word)[0]
    outcome = meant if code in ("7", "28") and meant in ("refused", "timeout", "no-route", "reset") else ""
    if not outcome:
        outcome = _CURL_EXITS.get(code, "http-error" if seconds is not None else "")
    if not outcome:
        after = re.search(r"after (\d{1,9}) ms", word)
        outcome = "refused" if code == "7" and after and int(after.group(1)) < 1000 else "error"
    return outcome, word, *local


def _plain(code: str, text: str) -> tuple[str, str]:
    """bash, nc and wget: exit code and what was said."""
    if code == "0":
        return "ok", ""
    if code in ("124", "143"):
        return "timeout", text or "no answer in 3 s"
    outcome, _ = outcome_of(text)
    if outcome != "error":
        return outcome, text
    if re.search(r"server returned error|HTTP/1", text):
        return "http-error", text
    # nc says nothing of a refusal unless asked, and its time is bounded above: what it means stays open.
    return "error", text or f"exit {code}"
