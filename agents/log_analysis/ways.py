"""Picks, of the ways in which an event was counted that several lines tell of, the surest, and names it; pure."""

from __future__ import annotations

import re
from typing import Any

from agents.log_analysis.judging.placing import code
from agents.log_analysis.questions import Question
from agents.log_analysis.terms import LOGIN_FAILED, REFUSED, telling, ways_of
from agents.runtime.spec import DoneCall
from kernel.wording import Words

#: Words that name a kind of line by how it begins.
_BEGIN = 3

_Values = list[dict[str, Any]]


def surest(
    question: Question, calls: list[DoneCall], values: _Values, say: Words
) -> tuple[list[DoneCall], _Values, str]:
    """Return the calls of the first way that found something, their values, and what all lines with the words are."""
    ways = _ways(question)
    if not ways or not calls or len(calls) % len(ways) or calls[0].arguments.get("pattern") != ways[0]:
        return calls, values, ""
    size = len(calls) // len(ways)
    totals = [max(map(_total, values[n : n + size])) for n in range(0, len(values), size)]
    best = next((n for n, total in enumerate(totals) if total), 1)
    best = 1 if totals[0] == totals[1] > 0 else best  # then the words say as well what was counted
    more = ""
    if not best and totals[1] > totals[0]:
        words = " + ".join(map(code, telling(question.term.split())))
        more = say("In all, {total} lines have {words}, or other words for it.", total=totals[1], words=words)
    part = slice(best * size, (best + 1) * size)
    return calls[part], values[part], more


def kind_counted(question: Question, call: DoneCall, say: Words) -> str:
    """Return the kind of lines that a call counted; nothing where it was all lines with the words."""
    ways, pattern = _ways(question), call.arguments.get("pattern")
    if not ways or pattern not in (ways[0], ways[2]):
        return ""
    if pattern == ways[2]:
        return say("lines of the kind {kind}", kind=say.plain(REFUSED.label))
    hits = (call.value or {}).get("hits", [])
    found = [(hit["quote"], re.search(f"(?i){LOGIN_FAILED}", hit["quote"])) for hit in hits]
    begun = [quote[match.start() :].split() if match else [] for quote, match in found]
    if not begun or len({tuple(words[:2]) for words in begun}) > 1 or not begun[0]:
        return say("lines that say that a login failed")
    return say("lines of the kind {kind}", kind=code(f"{' '.join(begun[0][:_BEGIN])} …"))


def _ways(question: Question) -> list[str]:
    return [] if question.exact else ways_of(question.term.split())


def _total(value: dict[str, Any]) -> int:
    return int(value.get("total", value.get("events", 0)))
