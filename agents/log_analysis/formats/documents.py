"""Records over several lines whose end is told: JSON, XML, journal exports, rows with an open quote; pure."""

from __future__ import annotations

import json
import re
from typing import Protocol

#: A document that is longer is read as the lines it is made of.
_LINES = 50_000
_SIZE = 4 << 20
#: What is not sure to be one ends sooner: a mark that never comes must not hide what follows.
_FEW_LINES, _SMALL = 500, 256 << 10
_OPENINGS = frozenset(("{", "[", "[{"))
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"?")
#: Elements that loggers write for each record.
_ELEMENT = re.compile(r"\s{0,8}<((?:\w{1,20}:)?(?:[Ee]vent|[Rr]ecord|[Ll]og[Ee]ntry))(?=[\s>])")
#: A line of its own: a document that was never closed has ended before it.
_DATED = re.compile(r"\[?(?:\d{4}[-/.]\d\d[-/.]\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|\d\d:\d\d:\d\d)")
_EXPORTED = ("__CURSOR=", "__REALTIME_TIMESTAMP=")
_PAIR = re.compile(r"(\w{1,64})=(.*)", re.DOTALL)


class Document(Protocol):
    """The lines of one document while they come in; `number` is that of the first."""

    number: int
    lines: int

    @property
    def text(self) -> str:
        """Return the document on one line."""

    @property
    def over(self) -> bool:
        """Return whether the document has ended, or is too long to be one."""

    def add(self, text: str) -> None:
        """Take the next line."""

    def goes_on(self, text: str) -> bool:
        """Tell whether a line may belong to the document."""


class JsonDocument:
    """JSON as people and exporters print it."""

    def __init__(self, number: int) -> None:
        self.number, self.lines = number, 0
        self._texts: list[str] = []
        self._size = self._depth = 0

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
        return not text or (text[0] in ' \t}]{,"' or text[0].isdigit())


class MarkedDocument:
    """What ends with a mark: an element of XML, or a row whose last cell has an open quote."""

    def __init__(self, number: int, end: str) -> None:
        self.number, self.lines = number, 0
        self._end = end
        self._texts: list[str] = []
        self._size = 0
        self._ended = False

    @property
    def text(self) -> str:
        """Return the document as one text."""
        return "\n".join(self._texts)

    @property
    def over(self) -> bool:
        """Return whether the document has ended, or is too long to be one."""
        return self._ended or self.lines >= _FEW_LINES or self._size > _SMALL

    def add(self, text: str) -> None:
        """Take the next line."""
        if (
            self._end == '"'
        ):  # the quote that the first line opens closes with the next one that is not doubled
            self._ended = (text.count('"') % 2 == 1) == (self.lines > 0)
        else:
            self._ended = self._end in text
        self._texts.append(text)
        self._size += len(text)
        self.lines += 1

    def goes_on(self, text: str) -> bool:
        """Tell whether a line may belong to the document: it does not begin with a time."""
        return _DATED.match(text) is None and not (self._end != '"' and _ELEMENT.match(text))


class ExportedRecord:
    """A record of `journalctl -o export`: a field a line, up to an empty line."""

    def __init__(self, number: int) -> None:
        self.number, self.lines = number, 0
        self._fields: dict[str, str] = {}

    @property
    def text(self) -> str:
        """Return the record as JSON, as `journalctl -o json` writes it."""
        return json.dumps(self._fields, ensure_ascii=False)

    @property
    def over(self) -> bool:
        """Return whether the record is too long to be one."""
        return self.lines >= _FEW_LINES

    def add(self, text: str) -> None:
        """Take the next line."""
        self.lines += 1
        if found := _PAIR.fullmatch(text):
            self._fields.setdefault(found[1], found[2])
        elif text.isidentifier():  # the name of a field whose value follows as bytes, after their number
            self._fields.setdefault(text, "")
        elif self._fields:
            name, value = self._fields.popitem()
            self._fields[name] = (
                f"{value}\n{text}" if value else re.sub(r"^(?:\\x[0-9a-f]{2}|\\.|.){0,8}\\x00", "", text)
            )

    def goes_on(self, text: str) -> bool:
        """Tell whether a line may belong to the record."""
        return bool(text) and not text.startswith("__CURSOR=") and _DATED.match(text) is None


def opened(number: int, text: str, separator: str = "") -> Document | None:
    """Return the document that a line opens and does not close; `separator` is that of the cells of a table."""
    first = text[0]
    if first in "{[":
        return JsonDocument(number) if text.rstrip() in _OPENINGS else None
    if first in "< " and (found := _ELEMENT.match(text)):
        end = f"</{found[1]}>"
        return None if end in text or text.rstrip().endswith("/>") else MarkedDocument(number, end)
    if first == "_" and text.startswith(_EXPORTED):
        return ExportedRecord(number)
    if separator and '"' in text and _open_quote(text, separator):
        return MarkedDocument(number, '"')
    return None


def may_open(text: str) -> bool:
    """Tell whether a line may be the first of several, whatever the separator of its table is."""
    return opened(0, text) is not None or ('"' in text and any(_open_quote(text, sign) for sign in ",;\t"))


def _open_quote(text: str, separator: str) -> bool:
    """Tell whether the last cell of a row begins with a quote that is not closed."""
    at = text.rfind(f'{separator}"')
    return at >= 0 and text.count('"', at + 2) % 2 == 0 and text.count('"') % 2 == 1
