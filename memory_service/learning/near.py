"""Near-equality of episodes: the same thing told in slightly other words, with every name and number agreeing."""

from __future__ import annotations

import re
import unicodedata

#: Share of words that two tellings must have in common; chosen so that a long sentence may differ in two or three
#: plain words, and a short one in none.
ALIKE = 0.8
#: How many of the latest episodes a new one is compared with: bounds the work inside the write's transaction.
LOOK_BACK = 200

_WORD = re.compile(r"[^\W_](?:[\w./:@#+\-]*[^\W_])?")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")
_DIGITS = re.compile(r"\d+")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s)$")
#: Small words that change nothing.
_FILLERS = frozenset(
    "a an the and or of to in on at for by with from as is are was were be been it its this that then again also "  # noqa: SIM905 a page of quotes reads worse
    "der die das und ein eine im am ist war wurde".split()
)
_FILLERS_CJK = frozenset("的了是在と")
#: Words that turn a sentence round: they agree like numbers do, or the two say different things.
_TURNS = frozenset(
    "not no never none without nor cannot can't don't doesn't didn't isn't wasn't won't failed succeeded up down "  # noqa: SIM905 as above
    "started stopped start stop open opened closed enabled disabled before after increased decreased rose fell "
    "more less high low healthy unhealthy true false on off added removed nicht kein keine nie vor nach".split()
)
_NEGATIONS = frozenset(
    "not no never none without nor cannot can't don't doesn't didn't isn't wasn't won't n't nicht kein keine nie "  # noqa: SIM905 as above
    "不 没 沒 未 无 無 否 非 ない ません".split()
)
_TURNS_CJK = re.compile(
    r"不|没|沒|未|无|無|否|非|ない|ません|上|下|前|后|後|开|開|关|関|閉|增|減|减|高|低|成功|失败|失敗"
)


class Told:
    """The plain words of a text, and the names, numbers and turning words in it that must agree exactly."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.exact: set[str] = set()

    @property
    def negations(self) -> set[str]:
        """Return the words that deny."""
        return self.exact & _NEGATIONS


class Telling:
    """One text that many others are compared with: it is taken apart once, and those with other numbers never."""

    def __init__(self, text: str) -> None:
        self._told = told(text)
        self._numbers = _numbers(text)

    def alike(self, other: str) -> bool:
        """Return whether another text tells of the same: like words, and the very same names, numbers and negations."""
        if _numbers(other) != self._numbers:  # a thirtieth of the time, and nearly always enough
            return False
        second = told(other)
        if self._told.exact != second.exact:
            return False
        union = self._told.words | second.words
        return not union or len(self._told.words & second.words) / len(union) >= ALIKE


def alike(one: str, other: str) -> bool:
    """Return whether two texts tell of the same."""
    return Telling(one).alike(other)


def _numbers(text: str) -> set[str]:
    """Return the runs of digits: words with a digit agree exactly, hence so do these."""
    return set(_DIGITS.findall(unicodedata.normalize("NFKC", text)))


def told(text: str) -> Told:
    """Return what a text is made of."""
    found = Told()
    plain = unicodedata.normalize("NFKC", text)
    for place, raw in enumerate(_WORD.findall(_CJK.sub(" ", plain).replace("’", "'"))):
        word = raw.casefold()
        if _is_name(raw, first=place == 0) or word in _TURNS:
            found.exact.add(word)
        elif word not in _FILLERS:
            found.words.add(_stem(word))
    for run in _CJK.findall(plain):
        kept = "".join(c for c in run if c not in _FILLERS_CJK)
        found.words.update(kept[i : i + 2] for i in range(max(1, len(kept) - 1)))
        found.exact.update(_TURNS_CJK.findall(kept))
    # `isn't` loses its apostrophe to the pattern of words
    found.exact.update(re.findall(r"n't\b", plain.casefold().replace("’", "'")))
    return found


def _is_name(raw: str, *, first: bool) -> bool:
    """Tell whether a word is an identifier, a number or a name: node-7, ERR_123, 10.0.0.1, v1.2, Ann, checkout-api."""
    if raw.isalpha() and raw.islower():  # a plain word, as most are
        return False
    return (
        any(c.isdigit() for c in raw)
        or any(c in "_./:@#+-" for c in raw)
        or (not first and any(c.isupper() for c in raw))
    )


def _stem(word: str) -> str:
    return _ENDING.sub("", word)
