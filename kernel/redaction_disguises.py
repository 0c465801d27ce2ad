"""Disguises of a value that eyes see through and patterns do not: colours, unseen characters, full-width letters."""

from __future__ import annotations

import re

#: Escape sequences of a terminal, raw and as JSON, shells and printers of byte strings write them.
_COLOURS = r"(?:\x1b|\\{1,16}(?:u001[bB]|x1[bB]|033|e))\[[0-9;:?]{0,40}[A-Za-z]"
#: What parts words without being seen: soft hyphen, zero-width characters, marks of direction.
_UNSEEN = r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
_HIDDEN = re.compile(f"{_COLOURS}|{_UNSEEN}")
#: Full-width digits and letters, and the marks that stand in numbers, keys and addresses; never punctuation of prose.
_WIDE = (
    "０１２３４５６７８９"
    + "".join(map(chr, [*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B)]))
    + "＋－．＠＝＿"
)
_NARROW = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in _WIDE}
_ANY = re.compile(f"\x1b|\\\\(?:u001|x1|033|e\\[)|{_UNSEEN}|[{_WIDE}]")


def undisguised(text: str) -> str:
    """Return the text without them; the text itself where it has none."""
    if text.isascii() and "\x1b" not in text and "\\" not in text:
        return text  # nearly every line
    return _HIDDEN.sub("", text).translate(_NARROW) if _ANY.search(text) else text
