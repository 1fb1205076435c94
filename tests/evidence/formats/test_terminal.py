"""What a terminal shows around output is recognised by the first and last lines, however long the output is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.formats import terminal
from svcpath.evidence.formats import text as texts

LINES = (
    "",
    "  ",
    "\r",
    "Defaulted container app out of: app, side",
    "Warning: v1 Endpoints is deprecated",
    "I1201 10:00:00.000000   12 loop.go:3] said",
    "command terminated with exit code 1",
    "user@host:~$ kubectl get pods",
    "$ cat /etc/hosts",
    "#",
    "{",
    "}",
    "nameserver 10.96.0.10",
    "anything else\r",
)


@given(st.lists(st.sampled_from(LINES), max_size=7).map("\n".join))
def test_a_look_at_both_ends_finds_what_a_look_at_every_line_finds(shown: str) -> None:
    text = texts.of(shown)
    assert terminal.output(text).text == terminal.every_line(text).text


def test_long_output_without_anything_around_it_is_not_cut_into_lines() -> None:
    text = texts.of("{\n" + '"a": 1,\n' * 100 + "}\n")
    assert terminal.output(text) is text
    assert "lines" not in vars(text)
