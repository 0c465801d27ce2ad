"""The calls that questions need which are no search for a cause: counts, breakdowns, windows; pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import re2

from agents.log_analysis.questions import Question
from agents.log_analysis.spans import Span
from agents.runtime.spec import CallRequest

#: Lines shown beside a count, of a moment, and of those who have most.
_SHOWN, _MOMENT, _MOST = 5, 20, 10
#: Buckets the histogram makes at most.
_BUCKETS = 60
_UNITS = {"1s": 1, "1m": 60, "1h": 3600, "1d": 86_400}
#: Words of a phrase stand so near each other in a line.
_GAP = ".{0,40}"
_SHORT, _PAIR = 4, 2
_ENDING = re.compile(r"(?:ures?|ed|ing|es|s)$")


def calls_for(question: Question, span: Span, overview: dict[str, Any]) -> list[CallRequest]:
    """Return the calls a question needs; none where the first look has the answer."""
    window = span.arguments
    lines: dict[str, Any] = {**window}
    if question.term:
        lines["pattern"] = re2.escape(question.term) if question.exact else pattern_of(question.term)
    elif question.level:
        lines["level"] = question.level
    if question.topic == "rate":
        return [
            CallRequest(tool="histogram", arguments={**lines, "bucket": _bucket(question, span, overview)})
        ]
    if question.topic == "most":
        return [CallRequest(tool="entities", arguments={**lines, "by": question.entity, "limit": _MOST})]
    if question.topic == "count":
        return [CallRequest(tool="search", arguments={**lines, "limit": _SHOWN})]
    if question.topic == "start" and question.term:
        return [CallRequest(tool="search", arguments={**lines, "limit": 1})]
    if question.topic == "at":
        trouble = CallRequest(tool="search", arguments={**window, "level": "warning", "limit": _MOMENT})
        return [trouble, CallRequest(tool="search", arguments={**window, "limit": _MOMENT})]
    if question.topic == "changed":
        split = span.at or span.since or overview.get("onset", "")
        return [CallRequest(tool="compare", arguments={"split_at": split})] if split else []
    return []


def pattern_of(term: str) -> str:
    """Return the expression for a phrase: its words in any form, near each other; two words in either order."""
    words = [_stem(word) for word in term.split()]
    pattern = _GAP.join(words)
    return f"{pattern}|{_GAP.join(reversed(words))}" if len(words) == _PAIR else pattern


def _stem(word: str) -> str:
    """Return an expression for a word in its forms, for English words; others stand as they are."""
    if len(word) <= _SHORT or not (word.isalpha() and word.isascii() and word.islower()):
        return str(re2.escape(word))
    return _ENDING.sub("", word) + r"\w*"


def _bucket(question: Question, span: Span, overview: dict[str, Any]) -> str:
    width = _UNITS.get(question.bucket, 0)
    start = span.since or overview["window"]["from"]
    end = span.until or overview["window"]["to"]
    if not width or not start or not end:
        return "auto"
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    return question.bucket if seconds <= width * _BUCKETS else "auto"
