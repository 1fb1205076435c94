"""Each shortcut for big tables says what the long way says, whatever is wrong with the table.

The tables are kube-proxy's for random Services, then damaged: rules removed, altered, reordered, doubled, foreign ones
between them, other probabilities and ports, garbage. That the shortcut was really taken is counted.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import ServiceTable, drift, iptables, nftables, parse
from svcpath.models.dataplanes.iptables.shapes import SHAPES
from svcpath.models.dataplanes.nftables.shapes import by_shape
from svcpath.models.dataplanes.quick import QuickCheck
from svcpath.models.dataplanes.ruleset import Ruleset
from tests.models.dataplanes.written import NODE_VIEW, Written, written

KINDS = (Kind.IPTABLES_SAVE, Kind.NFT_LIST)
LISTING_BY_SHAPE = "svcpath.models.dataplanes.nftables.listing.by_shape"
SEEDS = range(12)
SERVICES = 6
#: Words that look like what may stand there.
WORDS = (
    *("", "!", "-j", "-s", "-d", "-p", "-m", "tcp", "udp", "sctp", "TCP", "icmp", "6", "all", "comment", "statistic"),
    *("ACCEPT", "DROP", "RETURN", "DNAT", "MARK", "KUBE-MARK-MASQ", "KUBE-SVC-X", "jump", "goto", "return", "drop"),
    *("10.244.2.10", "10.244.2.10/32", "10.244.2.10/24", "10.244.2.010/32", "10.244.2.0/24", "256.1.1.1/32", "::1/128"),
    *("10.244.2.10:8080", "10.244.2.10:080", "10.244.2.10:0", "10.244.2.10:65536", "10.244.2.10:٣", "[fd00::1]:80"),
    *("0", "1", "2", "80", "080", "8081", "65535", "65536", "-1", "٣", "80:81", "http", "0.5", "0.33333333349", "1.0"),
    *("1.5", "nan", "1e-1", ".5", '"', '"a', 'a"', "\\", "'", "{", "}", ",", ":", "a,", "!=", "random", "nth", "mod"),
)
#: What others write, and what kube-proxy would not.
FOREIGN = {
    Kind.IPTABLES_SAVE: (
        "-A PREROUTING -d 172.30.0.11/32 -p tcp -j DROP",
        "-A PREROUTING -j CNI-HOSTPORT",
        "-A OUTPUT -d 10.244.2.0/24 -p tcp -j REDIRECT --to-ports 15001",
        "-A KUBE-SERVICES -d 172.30.0.0/16 -p tcp -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable",
        "-A KUBE-SERVICES -d 10.244.2.10/32 -j RETURN",
        "-A KUBE-MARK-MASQ -d 172.30.0.12/32 -j RETURN",
        "-A KUBE-POSTROUTING -s 10.244.2.10/32 -j RETURN",
        "-A FORWARD -d 10.244.2.11/32 -j DROP",
        "-A KUBE-FORWARD -m set --match-set cali40 dst -j ACCEPT",
        "*mangle",
        "COMMIT",
        ":KUBE-SVC-X - [0:0]",
        "[12:840] -A KUBE-SERVICES -j KUBE-NODEPORTS",
        "# a remark",
        "",
    ),
    Kind.NFT_LIST: (
        "\t\tip daddr 10.244.2.10 drop",
        "\t\tip daddr 10.244.2.0/24 ip saddr != 10.244.0.0/16 jump mark-for-masquerade",
        "\t\tip saddr 10.244.2.10 jump mark-for-masquerade",
        "\t\tmeta l4proto tcp dnat to 10.244.2.99:8080",
        "\t\tnumgen random mod 2 vmap { 0 : goto endpoint-x, 1 : goto endpoint-y }",
        "\t\tnumgen inc mod 1 vmap { 0 : goto endpoint-x }",
        "\t\taccept",
        "\t\treturn",
        "\t}",
        "\tchain x {",
        "table ip other {",
        "\t\t# a remark",
        "",
    ),
}

Damage = Callable[[list[str]], list[str]]


def _hit(lines: list[str], at: int, change: Callable[[str], list[str]]) -> list[str]:
    place = at % len(lines)
    return [*lines[:place], *change(lines[place]), *lines[place + 1 :]]


def _worded(at: int, word: int, put: tuple[str, ...], drop: int) -> Damage:
    """``put`` in place of ``drop`` words of a line."""

    def change(line: str) -> list[str]:
        words = line.split(" ")
        place = word % len(words)
        return [" ".join([*words[:place], *put, *words[place + drop :]])]

    return lambda lines: _hit(lines, at, change)


def _swapped(at: int, other: int) -> Damage:
    def change(lines: list[str]) -> list[str]:
        changed = list(lines)
        first, second = at % len(lines), other % len(lines)
        changed[first], changed[second] = lines[second], lines[first]
        return changed

    return change


def _borrowed(at: int, word: int, source: int) -> Damage:
    """A word of another line in the same place: another chain, address, port or probability of the same table."""

    def change(lines: list[str]) -> list[str]:
        mine, theirs = lines[at % len(lines)].split(" "), lines[source % len(lines)].split(" ")
        place = word % len(mine)
        mine[place] = theirs[place % len(theirs)]
        return _hit(lines, at, lambda _: [" ".join(mine)])

    return change


def _renumbered(at: int, number: str) -> Damage:
    """Another figure for the last one of a line that has a probability, a port or a modulus."""

    def change(lines: list[str]) -> list[str]:
        places = [place for place, line in enumerate(lines) if re.search(r"probability|port|numgen|dnat|--to-d", line)]
        if not places:
            return lines
        place = places[at % len(places)]
        return _hit(lines, place, lambda line: [re.sub(r"\d+(?=\D*$)", number, line)])

    return change


def damages(kind: Kind) -> st.SearchStrategy[Damage]:
    places = st.integers(0, 4000)
    few = st.integers(0, 24)
    words = st.one_of(st.sampled_from(WORDS), st.text(max_size=4))
    return st.one_of(
        places.map(lambda at: lambda lines: _hit(lines, at, lambda _: [])),
        places.map(lambda at: lambda lines: _hit(lines, at, lambda line: [line, line])),
        st.builds(lambda at, end: lambda lines: _hit(lines, at, lambda line: [line[:end]]), places, st.integers(0, 90)),
        st.builds(
            lambda at, put: lambda lines: _hit(lines, at, lambda line: [put, line]),
            places,
            st.one_of(st.sampled_from(FOREIGN[kind]), st.text(max_size=12)),
        ),
        st.builds(_swapped, places, places),
        st.builds(_borrowed, places, few, places),
        st.builds(lambda at, word, put, drop: _worded(at, word, (put,), drop), places, few, words, st.integers(0, 1)),
        st.builds(lambda at, word: _worded(at, word, (), 1), places, few),
        st.builds(_renumbered, places, st.sampled_from(("0", "1", "5", "9999", "65536", "33333333343"))),
    )


class Case:
    """A healthy table and its damaged text; shown as what is different."""

    def __init__(self, made: Written, text: str) -> None:
        self.made = made
        self.text = text

    def __repr__(self) -> str:
        lines = difflib.unified_diff(self.made.text.split("\n"), self.text.split("\n"), n=0, lineterm="")
        return "\n".join(line[:300] for line in itertools.islice(lines, 2, 40))


@st.composite
def tables(draw: st.DrawFn, kind: Kind) -> Case:
    """A healthy table and its damaged text; one in some is left whole."""
    family = draw(st.sampled_from((4, 4, 6)))
    made = written(kind, draw(st.sampled_from(SEEDS)), SERVICES, big=draw(st.booleans()), family=family)
    lines = made.text.split("\n")
    for damage in draw(st.lists(damages(kind), max_size=4)):
        lines = damage(lines) or [""]
    return Case(made, "\n".join(lines))


def _without_shapes() -> ExitStack:
    stack = ExitStack()
    stack.enter_context(mock.patch.dict(SHAPES, clear=True))
    stack.enter_context(mock.patch(LISTING_BY_SHAPE, return_value=False))
    return stack


def _picture(rules: Ruleset) -> object:
    """All that a reader can ask of a rule set."""
    return (
        {
            name: (
                {
                    chain.name: (
                        *(chain.line, chain.declared, chain.hook, chain.type, chain.priority, chain.policy),
                        [(rule.line, rule.matches, rule.target, rule.argument, rule.comment) for rule in chain.rules],
                    )
                    for chain in table.chains.values()
                },
                {key: (set_.elements, set_.prefixes, set_.flags, set_.timeout) for key, set_ in table.sets.items()},
            )
            for name, table in rules.tables.items()
        },
        {hook: [(chain.table, chain.name) for chain in chains] for hook, chains in rules.base.items()},
        rules.not_understood,
        rules.damaged,
        rules.variant,
    )


def _read(kind: Kind, text: str) -> object:
    try:
        return _picture(iptables.parse(text) if kind is Kind.IPTABLES_SAVE else nftables.parse(text))
    except FormatError as error:
        return str(error)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_a_table_read_by_shapes_is_the_table_read_word_by_word(kind: Kind) -> None:
    taken = Counter[str]()

    def counted(read: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(read)
        def shape(*arguments: object) -> object:
            found = read(*arguments)
            taken["asked"] += 1
            taken["taken"] += found not in (None, False)
            taken[read.__name__] += found not in (None, False)
            return found

        return shape

    @given(case=tables(kind))
    @settings(max_examples=300, deadline=None)
    def equal(case: Case) -> None:
        counting = {count: counted(read) for count, read in SHAPES.items()}
        with (
            mock.patch.dict(SHAPES, counting),
            mock.patch(LISTING_BY_SHAPE, counted(by_shape)),
        ):
            fast = _read(kind, case.text)
        with _without_shapes():
            assert _read(kind, case.text) == fast

    equal()
    assert taken["taken"] > taken["asked"] / 4, taken
    if kind is Kind.IPTABLES_SAVE:
        assert {read.__name__ for read in SHAPES.values()} <= taken.keys(), taken
        assert min(taken.values()) > 100, taken


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_a_frontend_right_by_its_shape_has_no_difference_when_walked(kind: Kind) -> None:
    taken = Counter[bool]()
    whole = QuickCheck.holds

    def counted(self: QuickCheck, item: object) -> bool:
        found = whole(self, item)  # type: ignore[arg-type]
        taken[found] += 1
        return found

    def differences(table: ServiceTable, made: Written, holds: Callable[..., bool]) -> object:
        with mock.patch.object(QuickCheck, "holds", holds):
            report = drift(table, made.services, made.slices, NODE_VIEW)
        return report.rows, report.undecided, report.foreign, report.not_covered, report.backends, report.frontends

    @given(case=tables(kind))
    @settings(max_examples=120, deadline=None)
    def equal(case: Case) -> None:
        try:
            read = parse(kind, case.text, node=NODE_VIEW.name, node_addresses=NODE_VIEW.addresses)
        except FormatError:
            return
        table = max(read, key=lambda table: len(table.frontends))
        assert differences(table, case.made, counted) == differences(table, case.made, lambda *_: False)

    equal()
    assert taken[True] > taken.total() / 10, taken


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.IPTABLES_SAVE, "-A KUBE-SEP-X -p tcp -m tcp -j DNAT --to-destination 10.244.2.10:0"),
        (Kind.IPTABLES_SAVE, "-A KUBE-SEP-X -j "),
        (Kind.IPTABLES_SAVE, "-A  -j KUBE-SEP-X"),
        (Kind.NFT_LIST, "\t\tmeta l4proto tcp dnat to 10.244.2.10:0"),
        (Kind.NFT_LIST, "\t\tip daddr 172.30.0.11 ip saddr != 10.244.0.0/16 jump "),
    ],
)
def test_a_rule_that_only_looks_like_kube_proxys_is_read_word_by_word(kind: Kind, text: str) -> None:
    if kind is Kind.IPTABLES_SAVE:
        table = f"*nat\n:KUBE-SEP-X - [0:0]\n{text}\nCOMMIT\n"
    else:
        table = f"table ip kube-proxy {{\n\tchain endpoint-x {{\n{text}\n\t}}\n}}\n"
    fast = _read(kind, table)
    with _without_shapes():
        assert _read(kind, table) == fast
