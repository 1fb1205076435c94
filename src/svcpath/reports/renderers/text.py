"""What terminal and Markdown share: making hostile text harmless without losing what it says."""

from __future__ import annotations

import unicodedata

#: Longer text is cut in the middle; a name of the API is at most 253 characters.
LIMIT = 2000


def printable(text: str) -> str:
    """Text in which every control, format (bidi statuses among them), surrogate or private character is shown as an escape,
    and line breaks and tabs as a space."""
    if len(text) > LIMIT:
        text = f"{text[: LIMIT // 2]} ... {text[-LIMIT // 2 :]}"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in "\n\t":
        return " "
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character
