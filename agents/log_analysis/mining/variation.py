"""Tells which places of lines prove to be variables where lines of one kind differ in several at once: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agents.log_analysis.mining.words import WILD

#: So many lines that differ in the same places; at a place of plain words, so many words.
MEMBERS = 5
#: Words that look like values (`shop-api`, `mode=fast`, `key: word,`) need fewer, but more than on and off.
_LIKELY = 4
#: Of a line, so much must stay the same: where plain words vary, and where all that varies looks like values.
_SAME, _SAME_LIKELY = 0.5, 0.3
#: Plain words that vary in one kind of line; a sentence whose words all vary is another sentence.
_PLAIN = 3
_SHORTEST = 3
_EDGES = "()[]{}<>,;:.\"'"


class Variation(NamedTuple):
    """Templates that are one kind of line, and the places where they differ."""

    members: list[int]
    places: tuple[int, ...]


def varied(tokens: tuple[str, ...], others: Mapping[int, tuple[str, ...]]) -> Variation | None:
    """Return which of the others, of the same length, are the same kind of line as one with these tokens."""
    if len(tokens) < _SHORTEST:
        return None
    differing = {}
    for number, theirs in others.items():
        places = frozenset(i for i, (a, b) in enumerate(zip(tokens, theirs, strict=True)) if a != b)
        if places and len(places) <= len(tokens) * (1 - _SAME_LIKELY):
            differing[number] = places
    if len(differing) < MEMBERS - 1:
        return None
    for chosen in sorted(set(differing.values()), key=lambda places: (len(places), sorted(places))):
        members = [number for number, places in differing.items() if places <= chosen]
        if len(members) < MEMBERS - 1 or len(chosen) == 1:
            continue  # one place alone is judged by the index
        ordered = tuple(sorted(chosen))
        if _vary([tokens, *(others[number] for number in members)], ordered):
            return Variation(members, ordered)
    return None


def _vary(lines: Sequence[tuple[str, ...]], places: tuple[int, ...]) -> bool:
    """Tell whether all these places of the lines are variables."""
    plain: list[int] = []
    for place in places:
        words = {line[place] for line in lines}
        if WILD in words:
            continue
        likely = all(looks_like_value(line, place) for line in lines)
        if len(words) < (_LIKELY if likely else MEMBERS):
            return False
        if not likely:
            if plain and plain[-1] == place - 1:
                return False  # two words side by side are a phrase: `illegal instruction`, `trap imprecise`
            plain.append(place)
    length = len(lines[0])
    return len(plain) <= _PLAIN and length - len(places) >= length * (_SAME if plain else _SAME_LIKELY)


def looks_like_value(tokens: tuple[str, ...], place: int) -> bool:
    """Tell whether the word at a place looks like a value: signs in it, or `name: word,` around it."""
    token = tokens[place] if tokens else ""
    if not place and token[-1:] == ":":
        return False  # who speaks, or which error it is
    bare = token.strip(_EDGES)
    if WILD in token:
        return False
    if not bare.isalpha():
        return any(character.isalpha() for character in bare)
    named = place > 0 and tokens[place - 1][-1:] in (":", "=")
    return named and (token[-1:] in (",", ";") or place == len(tokens) - 1)
