"""The calls that questions need which are no search for a cause: counts, breakdowns, windows; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import re2

from agents.log_analysis.questions import BY, Question
from agents.log_analysis.spans import Span
from agents.log_analysis.terms import pattern_of, telling, ways_of
from agents.runtime.spec import CallRequest, DoneCall
from kernel.states import CallState

#: Lines shown beside a count, of a moment, and of those who have most.
_SHOWN, _MOMENT, _MOST, _EACH = 5, 20, 10, 30
#: Topics whose answer is a number of lines.
COUNTED = ("count", "most", "each", "rate")
#: What somebody did, where a question says no more than that: then what failed is told by how lines are graded.
_FAILED = re.compile(r"(?i)(?:fail\w*|失败)(?: (?:fail\w*|失败))*")
#: Buckets the histogram makes at most.
_BUCKETS = 60
_UNITS = {"1s": 1, "1m": 60, "1h": 3600, "1d": 86_400}


def calls_for(question: Question, span: Span, overview: dict[str, Any]) -> list[CallRequest]:
    """Return the calls a question needs; none where the first look has the answer.

    What several lines tell of is counted each way, so that no event counts twice.
    """
    calls = _calls_for(question, span, overview)
    ways = [] if question.exact or question.topic not in COUNTED else ways_of(question.term.split())
    return [
        call.model_copy(update={"arguments": {**call.arguments, "pattern": way}})
        for way in ways
        for call in calls
    ] or calls


def _calls_for(question: Question, span: Span, overview: dict[str, Any]) -> list[CallRequest]:
    topic, lines = question.topic, _lines(question, span)
    if topic == "rate":
        bucket = _bucket(question, span, overview)
        return [CallRequest(tool="histogram", arguments={**lines, "bucket": bucket})]
    if topic in BY or question.of:
        return _by_whom(question, lines)
    if topic == "top":
        arguments = {"level": question.level or "error", "limit": _MOST}
        return [CallRequest(tool="templates", arguments=arguments)]
    if topic in ("count", "exists"):
        return [CallRequest(tool="search", arguments={**lines, "limit": _SHOWN})]
    if topic == "last" or (topic == "start" and question.term):
        return [CallRequest(tool="search", arguments={**lines, "limit": 1})]
    if topic == "at":
        trouble = CallRequest(
            tool="search", arguments={**span.arguments, "level": "warning", "limit": _MOMENT}
        )
        return [trouble, CallRequest(tool="search", arguments={**span.arguments, "limit": _MOMENT})]
    if topic == "changed":
        split = span.at or span.since or overview.get("recording") or overview.get("onset", "")
        return [CallRequest(tool="compare", arguments={"split_at": split})] if split else []
    return []


def _by_whom(question: Question, lines: dict[str, Any]) -> list[CallRequest]:
    """Return counts by who: of each, or of the one that is named beside those of all."""
    of = {"of": question.of} if question.of else {}
    if question.topic not in BY:
        every = {**lines, "by": question.of.partition("=")[0], "limit": _MOST}
        return [CallRequest(tool="entities", arguments=one) for one in ({**every, **of}, every)]
    kinds = ("host", "ip") if question.entity == "host" else (question.entity,)  # hosts often go by address
    limit = _EACH if question.topic == "each" else _MOST
    return [CallRequest(tool="entities", arguments={**lines, **of, "by": by, "limit": limit}) for by in kinds]


def _lines(question: Question, span: Span) -> dict[str, Any]:
    """Return the arguments that name the lines a question is about."""
    lines: dict[str, Any] = dict(span.arguments)
    if question.term:
        exact, words = question.exact, question.term.split()
        lines["pattern"] = re2.escape(question.term) if exact else pattern_of(words)
    if question.level:
        alone = question.level == "warning" and not question.wide and question.topic in (*COUNTED, "last")
        lines["level"] = f"={question.level}" if alone else question.level
    return lines


def calls_apart(question: Question, span: Span) -> list[CallRequest]:
    """Return a search for each word of a question whose words no line holds together."""
    if question.exact or question.topic not in ("count", "most", "each", "rate", "last"):
        return []
    words = telling(question.term.split())
    arguments = [
        {**span.arguments, "pattern": rf"\b{word}\b" if word.isdigit() else pattern_of([word]), "limit": 1}
        for word in words
    ]
    return [CallRequest(tool="search", arguments=one) for one in arguments]


def narrowed(question: Question, apart: Sequence[DoneCall]) -> Question:
    """Return a question with those of its words that the log has, and at any level."""
    words = telling(question.term.split())
    if len(apart) != len(words) or any(call.state != CallState.done for call in apart):
        return question
    kept = [word for word, call in zip(words, apart, strict=True) if call.value["total"]]
    if not kept or (question.level and kept == words):  # all are known: at this level there is none
        return question
    term, exact = " ".join(kept), len(kept) == 1 and kept[0].isdigit()
    then = question.then
    if then is not None and then.term == question.term:
        then = replace(then, term=term, level="", exact=exact)
    return replace(question, term=term, level="", exact=exact, then=then)


def graded(question: Question, overview: dict[str, Any]) -> Question:
    """Return a question on what failed, where no line has that word, by levels; by status where none are graded."""
    if question.exact or question.level or not _FAILED.fullmatch(question.term):
        return question
    bad = {"warning", "error", "fatal"} & set(overview.get("levels", {}))
    return (
        replace(question, term="", level="warning", wide=True) if bad else replace(question, term="4xx/5xx")
    )


def all_calls_for(question: Question, span: Span, overview: dict[str, Any]) -> list[CallRequest]:
    """Return the calls of a question and of the one asked with it."""
    calls = calls_for(question, span, overview)
    return [*calls, *(calls_for(question.then, span, overview) if calls and question.then else [])]


def _bucket(question: Question, span: Span, overview: dict[str, Any]) -> str:
    width = _UNITS.get(question.bucket, 0)
    start = span.since or overview["window"]["from"]
    end = span.until or overview["window"]["to"]
    if not width or not start or not end:
        return "auto"
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    return question.bucket if width <= seconds <= width * _BUCKETS else "auto"
