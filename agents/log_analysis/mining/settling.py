"""Tells, at the end of a log, which lines seen about once each differ in nothing but a name: pure."""

from __future__ import annotations

from collections.abc import Sequence

from agents.log_analysis.mining.templates import Template
from agents.log_analysis.mining.words import WILD

#: So many different words at one place, on not many more lines: what tells events apart comes more than once.
WORDS = 3
_LINES_PER_WORD = 1.4
#: Words that must stay the same: `cannot open socket` and `cannot open database` are two findings.
_FIXED = 3
_SHORTEST = 3
_EDGES = "()[]{}<>,;:.\"'"
#: `started`, `closing`: what happened, which is no name.
_VERBS = ("ed", "ing")


def variable(alike: Sequence[Template]) -> tuple[str, ...]:
    """Return the tokens that live templates, which differed in one place when they were new, have as one; or none."""
    lines = sum(template.count for template in alike)
    if len(alike) < WORDS or lines > _LINES_PER_WORD * len(alike):
        return ()
    first, second = alike[0].tokens, alike[1].tokens
    place = next((i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b), 0)
    tokens = (*first[:place], WILD, *first[place + 1 :])
    if not place or sum(token != WILD for token in tokens) < _FIXED:
        return ()
    rest = (tokens[:place], tokens[place + 1 :])
    same = all((one.tokens[:place], one.tokens[place + 1 :]) == rest for one in alike)
    return tokens if same and all(_name(one.tokens[place]) for one in alike) else ()


def _name(token: str) -> bool:
    bare = token.strip(_EDGES)
    verb = bare.isalpha() and bare.lower().endswith(_VERBS)
    return WILD not in token and not verb and sum(character.isalpha() for character in bare) >= _SHORTEST
