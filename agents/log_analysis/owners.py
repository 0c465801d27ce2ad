"""Tells which words of a question name a service, a host or a pod of the log: then its own lines are counted; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import re2

from agents.log_analysis.questions import Question
from agents.runtime.spec import CallRequest, DoneCall
from kernel.states import CallState

#: What a log may call somebody, the likeliest first; and words of a request that are looked up.
_KINDS, _WORDS = ("service", "host", "pod"), 3
#: Names of one answer: those that share a line with the word.
_ROWS = 40
#: Topics whose lines may be those of one.
_TOPICS = ("count", "most", "each")
#: What stands before and after the name of somebody.
_BEFORE = r"\b(?:on|in|of|from|for|at|by|service|host|node|machine|server|pod|container|app)\s+(?:the\s+)?"
_AFTER = (
    r"(?:\s+(?:service|host|node|machine|server|pod|container|app|log|have|has|had|errors?|warnings?)\b"
    r"|\s?[\u4e00-\u9fff])"
)
#: A name with a number in it, and one in Chinese that says itself what it is.
_NUMBERED = re.compile(r"(?=.*[A-Za-z])(?=.*\d)(?=.*[-_.])[\w.-]+|[A-Za-z]+\d{1,4}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,8}?(?:服务|系统|组件|应用)")


def lookups_of(question: Question, request: str) -> list[CallRequest]:
    """Return the calls that tell whether words of a question are names of somebody; none where no word looks so."""
    asked = [one for one in (question, question.then) if one and one.topic in _TOPICS and not one.exact]
    terms = " ".join(one.term for one in asked)
    words = [word for word in dict.fromkeys(terms.split()) if _may_be(word, request)]
    words += [name for name in _CHINESE.findall(request) if terms and not _rest(terms, name)[1]]
    return [
        CallRequest(
            tool="entities",
            arguments={"by": by, "pattern": _pattern(word), "limit": _ROWS},
        )
        for word, by in product(words[:_WORDS], _KINDS)
    ]


def owned(question: Question, looked_up: Sequence[DoneCall]) -> Question:
    """Return a question on the lines of one service, host or pod where the log has it, and its second one so too."""
    for call in looked_up:
        if call.state == CallState.done and (name := _named(call)):
            question = _owned(question, call.arguments["by"], name)
    then = question.then
    return replace(question, then=owned(then, looked_up)) if then is not None else question


def _owned(question: Question, by: str, name: str) -> Question:
    rest, gone = _rest(question.term, name)
    if gone and question.topic == "each" and question.entity == by:
        return replace(question, term=rest)
    if (
        gone and question.topic == "count" and question.of.startswith(f"{by}=")
    ):  # several are named: the lines of each
        return replace(question, topic="each", term=rest, entity=by, of="")
    if question.of or question.exact or question.topic not in _TOPICS or not gone or by == question.entity:
        return question
    return replace(question, term=rest, of=f"{by}={name}")


def _rest(term: str, name: str) -> tuple[str, bool]:
    """Return the words that are left without those of a name, and whether any of them was of it."""
    words = term.split()
    left = [w for w in words if w.lower() != name.lower() and (w.isascii() or w not in name)]
    return " ".join(left), len(left) < len(words)


def _named(call: DoneCall) -> str:
    rows: list[dict[str, Any]] = (call.value or {}).get("entities", [])
    names = [str(row["entity"]) for row in rows]
    return next((name for name in names if _pattern(name.lower()) == call.arguments["pattern"].lower()), "")


def _pattern(word: str) -> str:
    return str(re2.escape(word))


def _may_be(word: str, request: str) -> bool:
    name = re.escape(word)
    around = rf"(?i){_BEFORE}{name}(?![\w-])|(?<![\w-]){name}{_AFTER}"
    return bool(_NUMBERED.fullmatch(word) or re.search(around, request))
