"""Turns a message into template tokens: values become <*>, and words that belong to a value join it; memoised."""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.log_analysis.mining.words import BLANK, CALENDAR, TRAIL, WILD, mask_word

__all__ = ["TOKEN_LIMIT", "WILD", "Masked", "Masker"]

#: Tokens of one message that are looked at; the rest of a very long message says little about its kind.
TOKEN_LIMIT = 120

_MEMO_LIMIT = 50_000
#: Words longer than this are not remembered: they are dumps, and seldom come twice.
_MEMO_LENGTH = 128

#: A unit after a number belongs to the number: `1.5 KB`, `<1 sec`.
_UNIT = re.compile(
    r"ms|us|ns|s|secs?|seconds?|mins?|minutes?|hours?|days?|msecs?|milliseconds|microseconds"
    r"|bytes?|B|[kKMGT]i?B|[kMG]?Hz"
)

#: The word after `user` is a name if the line ends or goes on with one of these; so is the word in `for NAME from`.
_AFTER_NAME = re.compile(r"from|by|at|on|in|to|with|for|via|is|was|has|logged|port")
_NO_NAME = re.compile(_AFTER_NAME.pattern + r"|and|or|not|unknown|name")
_AFTER_SIGNS = ",:;)]\"'"

#: `RequestID: abcdef`: an id is a value though it may be made of letters alone.
_ID = re.compile(r"(?i)[\w.-]{0,64}id[:=]")

#: `Set(a, b)`, `[main, jobs, mail]`: a list is one word; with names in it, `(rank=1, bit=2)`, it is a sentence.
_ITEM = r"(?:[^\s\[\](){},=:;\"']|:(?=\d))"
_LISTED = re.compile(rf"[\[({{]{_ITEM}{{1,64}}(?:, {_ITEM}{{1,64}}){{1,40}}[\])}}]")
_QUOTED = re.compile(r'="[^"]{1,200}"')
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d|\d\d?[-/]\d\d?[-/]\d{2,4}")
_TIME_OR_YEAR = re.compile(r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?Z?|\d{1,2}|(?:19|20)\d\d|[+-]\d{4}")
_ZONE = re.compile(r"[A-Z]{1,4}T|UTC|Z")


_DIGIT = re.compile(r"\d")
_SIGNS = (":", "=")
_OPEN = (WILD, "(<*>")
_BEFORE_NAMES = ("user", "for")
_JOINED, _BRACKET = "joined", "joined in brackets"


class Masked(NamedTuple):
    """A message as tokens: `keys` tell kinds of lines apart, `shown` is how each reads; `starts` counts words."""

    keys: tuple[str, ...]
    shown: tuple[str, ...]
    starts: tuple[int, ...]
    words: list[str]

    def literal(self, shown: tuple[str, ...]) -> tuple[int, ...]:
        """Return the words whose digits are shown, here and in a template that reads so: others may not share them."""
        found: list[int] = []
        if _DIGIT.search("".join(shown)) is None:
            return ()
        ends = (*self.starts[1:], len(self.words))
        for start, end, mine, theirs in zip(self.starts, ends, self.shown, shown, strict=True):
            if mine == theirs and _DIGIT.search(mine):
                found += range(start, end)
        return tuple(found)


def words_of(message: str) -> list[str]:
    """Split a message into words; a quoted value behind a sign, or a list, is one word."""
    if '="' in message:
        message = _QUOTED.sub(_closed, message)
    if ", " in message and ("(" in message or "[" in message or "{" in message):
        message = _LISTED.sub(_closed, message)
    return message.split(None, TOKEN_LIMIT)[:TOKEN_LIMIT]


def _closed(found: re.Match[str]) -> str:
    return found[0].replace(" ", BLANK)


class Masker:
    """Masks messages; remembers words, because logs repeat themselves."""

    def __init__(self) -> None:
        self._memo: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._memo)

    def tokens(self, message: str) -> tuple[str, ...]:
        """Return the template tokens of a message."""
        return self.masked(message).keys

    def masked(self, message: str) -> Masked:
        """Return the message as tokens."""
        words = words_of(message)
        known = self._memo.get
        pairs = [known(word) or self._mask(word) for word in words]
        return _joined(words, pairs)

    def fine(self, word: str) -> str:
        """Return how a word reads on its own."""
        return (self._memo.get(word) or self._mask(word))[1]

    def _mask(self, word: str) -> tuple[str, str]:
        masked = mask_word(word)
        if len(word) <= _MEMO_LENGTH:
            if len(self._memo) > _MEMO_LIMIT:
                self._memo.clear()
            self._memo[word] = masked
        return masked


def _joined(words: list[str], pairs: list[tuple[str, str]]) -> Masked:
    """Apply the rules that look at neighbours: units, sizes in brackets, dates, names, lists of values."""
    keys: list[str] = []
    shown: list[str] = []
    starts: list[int] = []
    dated = False
    last = previous = ""
    for position, (word, (key, fine)) in enumerate(zip(words, pairs, strict=True)):
        if last in _OPEN and keys and (joined := _join(keys, shown, word, key, fine, dated, previous)):
            if joined is _BRACKET:
                starts.pop()
            last, previous = keys[-1], word
            continue
        names = key != WILD and (previous in _BEFORE_NAMES or previous[-1:] in _SIGNS)
        if names and previous.endswith('":'):
            key = fine  # noqa: PLW2901 - `"event": "paid"` is no value before it proves to be one
        elif names and _names(previous, words, position):
            key = fine = WILD + word[len(word.rstrip(TRAIL)) :]  # noqa: PLW2901 - the word is a name after all
        keys.append(key)
        shown.append(fine)
        starts.append(position)
        last, previous = key, word
        dated = key == WILD and _dated(word)
    return Masked(tuple(keys), tuple(shown), tuple(starts), words)


def _dated(word: str) -> bool:
    if word.isalpha():
        return CALENDAR.fullmatch(word) is not None
    return ("-" in word or "/" in word) and _DATE.fullmatch(word) is not None


def _join(
    keys: list[str], shown: list[str], word: str, key: str, fine: str, dated: bool, previous: str
) -> str:
    """Join a word to the value before it where it belongs to it; return how, or nothing."""
    bare = word.rstrip(TRAIL)
    if keys[-1] != WILD:
        if len(keys) == 1 or not _UNIT.fullmatch(bare):
            return ""
        keys.pop()  # `8451 bytes (8.25 KB)`: the same number once more
        bracket = shown.pop()
        shown[-1] += f" {bracket} {word}"
        return _BRACKET
    if _UNIT.fullmatch(bare) or (dated and _ZONE.fullmatch(bare)):
        keys[-1] = WILD + word[len(bare) :]
        shown[-1] += word[len(bare) :] if dated else " " + word
    elif previous[0] == "/" and word.startswith("HTTP/"):
        keys[-1] = shown[-1] = WILD + word[len(bare) :]  # a request line: the version says nothing
    elif len(keys) > 1 and (key == WILD or (dated and key.startswith(WILD))):
        keys[-1] = key  # a list of values of any length is one value
        if not (dated and (_TIME_OR_YEAR.fullmatch(bare) or CALENDAR.fullmatch(bare))):
            shown[-1] += " " + fine
        else:
            shown[-1] += key[len(WILD) :]
    else:
        return ""
    return _JOINED


def _names(previous: str, words: list[str], position: int) -> bool:
    """Tell whether the word before says that this one is a name or an id."""
    word = words[position]
    bare = word.rstrip(TRAIL)
    if _NO_NAME.fullmatch(bare) or not bare.isidentifier():
        return False
    after = words[position + 1] if position + 1 < len(words) else ""
    if previous == "user":
        return word[-1] in _AFTER_SIGNS or (
            bare == word and (not after[:1].isalnum() or _AFTER_NAME.fullmatch(after) is not None)
        )
    if previous == "for":
        return after == "from"
    return previous[-1] in ":=" and _ID.fullmatch(previous) is not None
