"""JSON that is spread over several lines, as people and exporters print it: which lines make one document; pure."""

from __future__ import annotations

import re

#: A document that is longer is read as the lines it is made of.
_LINES = 50_000
_SIZE = 4 << 20
_OPENINGS = frozenset(("{", "[", "[{"))
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"?")


class Document:
    """The lines of one document while they come in."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lines = 0
        self._texts: list[str] = []
        self._size = self._depth = 0

    @staticmethod
    def opens(text: str) -> bool:
        """Tell whether a line can only be the first of a document that is spread over lines."""
        return text.rstrip() in _OPENINGS

    @property
    def text(self) -> str:
        """Return the document on one line."""
        return " ".join(self._texts)

    @property
    def over(self) -> bool:
        """Return whether the document has ended, or is too long to be one."""
        return self._depth <= 0 or self.lines >= _LINES or self._size > _SIZE

    def add(self, text: str) -> None:
        """Take the next line."""
        bare = _STRING.sub("", text) if '"' in text else text
        self._depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
        self._texts.append(text.strip())
        self._size += len(text)
        self.lines += 1

    def goes_on(self, text: str) -> bool:
        """Tell whether a line may belong to the document: it is set in, or closes it."""
        return text[0] in ' \t}]{,"' or text[0].isdigit()
