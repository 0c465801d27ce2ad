"""The sentences of a request: what recalled a memory, what states something, and what was asked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from kernel.sentences import RECALLED, REMEMBER, SENTENCES, wishes

#: Characters without spaces and marks that a served text must share with a sentence to be its source.
_LEAST_SHARED = 6
#: A sentence that says this much more than what was served says something new.
_SAME = 0.7


def own_words(text: str, served: Iterable[str]) -> str:
    """Return a text without the blocks and sentences that repeat what was recalled: only the rest may be learnt."""
    rest = _without_wrapped(RECALLED.sub("", text), served)
    return "\n".join(line for line in rest.split("\n") if not repeats(line, served))


def _without_wrapped(text: str, served: Iterable[str]) -> str:
    """Return a text without served texts that run over the end of a line, as quotes in mails do."""
    places = [(place, letter) for place, c in enumerate(text) for letter in squashed(c)]
    letters = "".join(letter for _, letter in places)
    for known in map(squashed, served):
        start = letters.find(known) if len(known) >= _LEAST_SHARED else -1
        while start >= 0:
            first, last = places[start][0], places[start + len(known) - 1][0]
            if "\n" in text[first:last]:
                text = f"{text[:first]}{' ' * (last + 1 - first)}{text[last + 1 :]}"
            start = letters.find(known, start + len(known))
    return text


def repeats(text: str, served: Iterable[str]) -> bool:
    """Return whether a text says what a served memory says, whatever its spacing, case and marks."""
    said = squashed(text)
    return any(_repeats(said, squashed(known)) for known in served)


def _repeats(said: str, known: str) -> bool:
    if min(len(said), len(known)) < _LEAST_SHARED:
        return bool(said) and said == known
    return said in known or (known in said and len(known) >= _SAME * len(said))


def squashed(text: str) -> str:
    """Return the letters and digits of a text alone, without case and width."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum())


def asked(request: str) -> str:
    """Return what a request asks, without what it states beside."""
    sentences = [s.strip() for s in SENTENCES.split(RECALLED.sub("", request)) if s.strip()]
    rest = [s for s in sentences if not REMEMBER.match(s) and not wishes(s)]
    return " ".join(" ".join(rest or sentences).split())
