"""How long a shell script takes, as far as that can be read off (POSIX shell command language, 2.9 and 2.10).

Lists, pipelines, groups and subshells are followed; loops and conditionals are not evaluated and have no upper bound, and a
script that defines functions is not read at all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import msgspec

from svcpath.models.drain.commands import command
from svcpath.models.drain.lengths import UNKNOWN, CommandEnd, Length

_OPENING = frozenset(("for", "while", "until", "if", "case", "select"))
_CLOSING = frozenset(("done", "fi", "esac"))
#: Words behind which another command begins.
_BEFORE_COMMAND = frozenset(("do", "then", "else", "elif", "!", "if", "while", "until"))
#: Words that may end the script, wherever they stand.
_ENDING = frozenset(("exit", "return", "exec", "eval", ".", "source"))
_DESCRIPTOR = re.compile(r"(?<![^\s;&|()])\d+(?=[<>])")
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2")
_LONGEST_SCRIPT = 20_000
_DEEPEST = 50


def shell(operands: Sequence[str]) -> Length:
    """sh -c SCRIPT with options in any order; a script file can't be read."""
    is_command = False
    options = ""
    for word in operands:
        if word.startswith(("-", "+")) and not (is_command and not word[1:].isalpha()):
            is_command = is_command or (not word.startswith("--") and "c" in word[1:])
            options += word[1:] if not word.startswith("--") else ""
        elif is_command:
            return script(word, errors_end="e" in options)
        elif word not in ("errexit", "pipefail", "nounset"):
            break
    return UNKNOWN


def script(text: str, *, errors_end: bool = False) -> Length:
    """The length of a script. ``errors_end``: a command that fails ends it (set -e)."""
    if len(text) > _LONGEST_SCRIPT:
        return UNKNOWN
    words = _words(_without_here_documents(text))
    if words is None or _defines_function(words):
        return UNKNOWN
    reader = _Reader(words, errors_end)
    found = reader.commands(frozenset())
    return UNKNOWN if reader.lost or reader.at < len(words) else found


def _without_here_documents(text: str) -> str:
    """The script without the text that is fed to its commands."""
    lines = text.split("\n")
    kept: list[str] = []
    waiting: list[tuple[str, bool]] = []
    for line in lines:
        if waiting:
            end, tabs = waiting[0]
            if (line.lstrip("\t") if tabs else line) == end:
                waiting.pop(0)
            continue
        waiting = [(match[3], bool(match[1])) for match in _HERE_DOCUMENT.finditer(line)]
        kept.append(_HERE_DOCUMENT.sub(" ", line))
    return "\n".join(kept)


def _words(text: str) -> list[str] | None:
    """Words and operators; operators are marked by a leading NUL. None when the quoting is broken."""
    # A number that touches a redirection is a file descriptor; one that does not ("sleep 10 >log") is a word.
    text = _DESCRIPTOR.sub("", text.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = "#"
    found: list[str] = []
    try:
        for token in lexer:
            if token and all(character in ";&|()<>\n" for character in token):
                found.extend(f"\0{part}" for part in re.findall(r"&&|\|\||;;|\|&|&>>?|<<<|<<-?|[<>]&|>>|.|\n", token))
            elif token in ("{", "}"):
                found.append(f"\0{token}")
            else:
                found.append(token)
    except ValueError:
        return None
    return found


def _defines_function(words: Sequence[str]) -> bool:
    return "function" in words or any(
        words[at + 1 : at + 3] == ["\0(", "\0)"] for at, word in enumerate(words) if not word.startswith("\0")
    )


class _Reader:
    """Reads words by recursive descent. ``lost``: a group that is never closed, or nesting beyond all sense."""

    def __init__(self, words: Sequence[str], errors_end: bool) -> None:
        self.words = words
        self.at = 0
        self.errors_end = errors_end
        self.depth = 0
        self.lost = False

    def next(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def commands(self, until: frozenset[str]) -> Length:
        total = Length()
        joined = ";"
        while self.at < len(self.words) and self.next() not in until:
            length = self.pipeline(until)
            operator = "" if self.next() in until else self.next()
            if operator:
                self.at += 1
            if length is not None:
                total = self.join(total, length, joined, operator)
                joined = ";"
            if operator in ("\0&&", "\0||"):
                joined = operator[1:]
        return total

    def join(self, total: Length, length: Length, joined: str, operator: str) -> Length:
        if operator == "\0&":
            return total.then(length.in_background())
        if joined == "&&":
            if total.status is CommandEnd.FAILS:
                return total
            return total.then(length.perhaps() if total.status is CommandEnd.MAYBE else length)
        if joined == "||":
            if total.status is CommandEnd.SUCCEEDS:
                return total
            if total.status is CommandEnd.FAILS:
                return total.then(length)
            status = CommandEnd.ASSUMED if length.status is CommandEnd.SUCCEEDS else CommandEnd.MAYBE
            return total.then(msgspec.structs.replace(length.perhaps(), status=status))
        failing = length.status in (CommandEnd.FAILS, CommandEnd.MAYBE) and operator not in ("\0&&", "\0||")
        if self.errors_end and failing and length.ends is False:
            length = msgspec.structs.replace(length, ends=None)
        return total.then(length)

    def pipeline(self, until: frozenset[str]) -> Length | None:
        found: Length | None = None
        while self.at < len(self.words):
            length = self.element(until)
            if length is not None:
                # The last program's end is the pipeline's; all of them run beside each other.
                found = length if found is None else found.beside(length)
            if self.next() not in ("\0|", "\0|&"):
                break
            self.at += 1
        return found

    def element(self, until: frozenset[str]) -> Length | None:
        opening = self.next()
        if opening in ("\0(", "\0{"):
            closing = "\0)" if opening == "\0(" else "\0}"
            return self.group(closing)
        current: list[str] = []
        before = Length()
        while self.at < len(self.words):
            word = self.next()
            if word == "\0(" and current and current[-1].endswith("$"):
                # A command substitution: the command waits for it, and its output is not known.
                before = before.then(self.group("\0)"))
                current[-1] += "()"
                continue
            if word in until:
                break
            if word[:2] in ("\0<", "\0>") or word.startswith("\0&>"):
                self.at += 1
                if not self.next().startswith("\0"):
                    self.at += 1
                continue
            if word.startswith("\0") or (not current and word in _OPENING):
                break
            current.append(word)
            self.at += 1
        if not current and self.next() in _OPENING:
            return self.compound()
        if current and self.next() == "\0(":
            self.group("\0)")
            return UNKNOWN
        return before.then(self.simple(current)) if current else None

    def group(self, closing: str) -> Length:
        self.depth += 1
        self.at += 1
        found = Length()
        if self.depth > _DEEPEST:
            self.lost = True
            self.at = len(self.words)
        else:
            found = self.commands(frozenset((closing,)))
        self.depth -= 1
        self.lost = self.lost or self.next() != closing
        self.at += 1
        while self.next()[:2] in ("\0<", "\0>"):
            self.at += 2
        return found.in_subshell() if closing == "\0)" else found

    def compound(self) -> Length:
        """A loop or conditional, passed over: its length is unknown, and an exit in it may end the script."""
        nested = 0
        ends: bool | None = False
        begins = True
        while self.at < len(self.words):
            word = self.next()
            self.at += 1
            if word.startswith("\0"):
                begins = True
                continue
            if begins and word in _ENDING:
                ends = None
            nested += begins and word in _OPENING
            nested -= begins and word in _CLOSING
            if not nested:
                break
            begins = begins and word in _BEFORE_COMMAND
        return Length(0.0, None, status=CommandEnd.MAYBE, ends=ends)

    def simple(self, words: list[str]) -> Length:
        if words[0] == "!":
            found = self.simple(words[1:]) if words[1:] else Length()
            inverted = {CommandEnd.SUCCEEDS: CommandEnd.FAILS, CommandEnd.FAILS: CommandEnd.SUCCEEDS}
            return msgspec.structs.replace(found, status=inverted.get(found.status, CommandEnd.MAYBE))
        if words[0] in ("exit", "return"):
            return Length(ends=True)
        if words[0] == "set" and any(re.fullmatch(r"-[a-z]*e[a-z]*|errexit", word) for word in words[1:]):
            self.errors_end = True
        return command(words, shell)
