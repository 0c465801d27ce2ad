"""A template: one kind of line, how it reads, and the values its places took."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, zip_longest

from agents.log_analysis.mining.parameters import Parameter, Values
from agents.log_analysis.mining.words import BLANK, TRAIL, WILD

#: All of a template's first events are looked at for their values; then ever fewer: about 11 per doubling.
LOOK_ALL, LOOK_SHARE = 32, 16
#: Places of one template whose values are kept.
PLACES = 12
_EDGES = "()[]{}<>,;:\"'"
#: What two readings share up to one of these is a name, and what follows is the value.
_ENDS = TRAIL.replace(">", "")  # that would cut <*>
_SIGNS = ":=([{\"'"


@dataclass(slots=True)
class Template:
    """One kind of line; `alias` points to the template it was merged into.

    `tokens` decide which lines belong to it; `shown` says how each token reads in all its lines.
    """

    group: str
    tokens: tuple[str, ...]
    shown: tuple[str, ...] = ()
    count: int = 0
    alias: int = -1
    merged: bool = False
    looked: int = 0
    next_look: int = 1
    values: dict[int, Values] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shown = self.shown or self.tokens

    def text(self) -> str:
        """Return the template as one line."""
        return " ".join(self.shown)

    def widen(self, shown: tuple[str, ...]) -> bool:
        """Take in how another line of this kind reads; return whether that was new."""
        before = self.shown
        if shown != before:
            readings = zip(before, shown, self.tokens, strict=True)
            self.shown = tuple(
                [old if old in (new, WILD) else _both(old, new, token) for old, new, token in readings]
            )
        return self.shown != before

    def widen_to(self, tokens: tuple[str, ...]) -> None:
        """Become the template of these tokens; a word that is a value from now on had one value so far."""
        for place, (old, new) in enumerate(zip(self.tokens, tokens, strict=True)):
            if old != new and WILD in new and place not in self.values and len(self.values) < PLACES:
                kept = self.values[place] = Values()
                kept.add(value_of(self.shown[place]), self.looked if WILD not in old else 0)
        self.tokens, self.merged = tokens, True

    def look(self, words: list[str], starts: tuple[int, ...]) -> None:
        """Keep the values of one line, given its words and where in them each token starts."""
        self.looked += 1
        self.next_look = self.count + 1 if self.count < LOOK_ALL else self.count + self.count // LOOK_SHARE
        last = len(starts) - 1
        for place, kept in self.values.items():
            source = words[starts[place] : starts[place + 1] if place < last else None]
            kept.add(value_of(source[0] if len(source) == 1 else " ".join(source)))

    def absorb(self, other: Template, *, read: bool = True) -> None:
        """Take in another template of the same length, whose tokens fit these, and all that it counted.

        Unless `read`, how its lines read is known already.
        """
        other_looked = other.looked
        for place, kept in self.values.items():
            if place in other.values:
                kept.merge(other.values[place])
            elif WILD not in other.tokens[place]:
                kept.add(value_of(other.shown[place]), other_looked)
        if read:
            self.widen(other.shown)
        self.looked += other_looked
        self.count += other.count
        self.next_look = max(self.next_look, other.next_look, self.count if self.count >= LOOK_ALL else 0)

    def parameters(self) -> list[Parameter]:
        """Return what is known of the values of each place that is shown as one."""
        found = []
        for place, kept in sorted(self.values.items()):
            if WILD in self.shown[place] and kept.count:
                label = self.shown[place].partition(WILD)[0].strip(_EDGES)
                if not label and place:
                    label = self.shown[place - 1].strip(_EDGES)
                found.append(kept.parameter(place, label))
        return found


def value_of(source: str) -> str:
    """Return the value in the words behind a token: without brackets, quotes and the name before a sign."""
    if source.isalnum():
        return source
    bare = source.strip(_EDGES).replace(BLANK, " ")
    name, sign, value = bare.partition("=")
    return value.strip(_EDGES) if sign and name.isidentifier() else bare


def _both(old: str, new: str, token: str) -> str:
    """Return how a place reads when lines read it in two ways: a name and a sign they share stay."""
    if token != WILD and (pieces := token.split(WILD))[1:]:
        olds, news = _holes(old, pieces), _holes(new, pieces)
        if olds and news:
            values = map(_value, olds, news)
            return "".join(chain.from_iterable(zip_longest(pieces, values, fillvalue="")))
    start = _shared(old, new)
    start = start[: max(start.rfind(sign) for sign in _SIGNS) + 1]
    end = _shared(old[len(start) :][::-1], new[len(start) :][::-1])
    end = end[: len(end) - len(end.lstrip(_ENDS))][::-1]
    return f"{start}{WILD}{end}" if start or end else token


def _value(old: str, new: str) -> str:
    """Return how one value reads in two ways; lists of one length read so item by item."""
    if old == new:
        return old
    olds, news = old.split(", "), new.split(", ")
    if len(olds) != len(news):
        return WILD
    return ", ".join(a if a == b else _both(a, b, WILD) for a, b in zip(olds, news, strict=True))


def _holes(shown: str, pieces: list[str]) -> list[str]:
    """Return what stands between the pieces of a token in one of its readings; nothing where it reads otherwise."""
    found, place = [], len(pieces[0])
    if not shown.startswith(pieces[0]):
        return []
    for piece in pieces[1:-1]:
        end = shown.find(piece, place)
        if end < 0:
            return []
        found.append(shown[place:end])
        place = end + len(piece)
    end = len(shown) - len(pieces[-1])
    return [*found, shown[place:end]] if place <= end and shown.endswith(pieces[-1]) else []


def _shared(one: str, two: str) -> str:
    """Return what both begin with."""
    length = next(
        (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
    return one[:length]
