"""The log agent without a model: overview, errors, before and after, ranked causes; a pure function of the journal."""

from __future__ import annotations

import re
from typing import Any

import re2

from agents.log_analysis.answering import answered, conclude
from agents.log_analysis.asked import all_calls_for, calls_apart, calls_for, graded, narrowed
from agents.log_analysis.mentioned import lookups
from agents.log_analysis.owners import lookups_of, owned
from agents.log_analysis.pairs import asked_of
from agents.log_analysis.questions import LEADS, Question, cause_first, quoted_term
from agents.log_analysis.remembered import DIRECTED, directed
from agents.log_analysis.replies import missing, reply
from agents.log_analysis.spans import Span, span_of
from agents.log_analysis.wording import words
from agents.runtime.spec import CallRequest, DoneCall, Turn, TurnView
from kernel.contracts import NotDone, Outcome
from kernel.sentences import statements
from kernel.states import CallState
from kernel.wording import Words

#: Lines of the search for errors, and of the search for what the request quotes.
_ERRORS = 12
_ASKED = 10
_ASKED_LIMIT = 50
#: Words of trouble, for logs that name no level.
_WORDS = r"error|exception|fail|fatal|panic|refused|timed? ?out|denied|unavailable|exhausted|traceback|out of memory"

#: A quoted text is to be listed where the request says so; else it is a name.
_LISTED = re.compile(
    r"(?i)\b(?:list|show|find|post|print|search|grep|give|display|get|fetch|lines?|logs?|entries|contain\w*|match\w*)\b"
    r"|列出|查找|查询|显示|找出|找到|搜索|包含|含有|日志"
)
_ASKED_NOTE, _APART_NOTE, _OWNER_NOTE = "asked for", "asked for, word by word", "asked for, whose lines"
_CONTAINS = re.compile(r"(?i)\b(?:contain(?:s|ing)?|match(?:es|ing)?|with the word)\s+([\w.:/-]{2,60})")
#: Turns that a cause takes after the first look: errors, before and after, the answer; a further look needs one more.
_TURNS = 3
_LAST = re.compile(r"(?i)\b(?:last|latest|newest|most recent)\b\s*(\d{1,3})?|最(?:近|后|新)的?\s*(\d{1,3})?")


def routine(view: TurnView) -> Turn:
    """Return the next turn: what to ask next, or the outcome."""
    if not view.work.sources:
        return _end(_stated(view) or _no_source(words(view)))
    question = None if "alertname" in view.work.labels else asked_of(view.work.request)
    if question and (told := _noted(view, _OWNER_NOTE)):
        question = owned(question, told[-1])
    hits = view.calls("overview")
    if not hits:
        known = None if question else directed(view)
        return known or _ask(view, [CallRequest(tool="overview")], "a first look at the logs")
    first = next((c for c in reversed(hits) if c.state == CallState.done), hits[-1])
    if first.state != CallState.done:
        return _end(_failed(view, first))
    overview = first.value or {}
    span = _span(view, hits[0].value or {})
    if question and (turn := _question(view, question, span, overview)):
        return turn
    if span and len(hits) == 1 and view.turns_left > _TURNS:
        again = CallRequest(tool="overview", arguments=span.around.arguments)
        return _ask(view, [again], "the window that was asked about")
    if not _wide_searches(view):
        return _ask(view, _searches(view, overview, span), "the errors themselves")
    if overview.get("problems") and not _compared(view):
        return _ask(view, _comparisons(overview, hits[0].value or {}), "before and after the trouble began")
    lead = _told(view, question, span.around, overview) if question else ""
    last = question is not None and question.topic == "recovered" and cause_first(view.work.request)
    return _end(conclude(view, overview, **{"after" if last else "lead": lead}))


def _span(view: TurnView, overview: dict[str, Any]) -> Span:
    window = overview.get("window") or {}
    return span_of(view.work.request, window.get("from", ""), window.get("to", ""))


def _question(view: TurnView, question: Question, span: Span, overview: dict[str, Any]) -> Turn | None:
    """Return the turn that a question needs, or its answer; None where the cause is to be looked for (too)."""
    made, apart = _noted(view, _ASKED_NOTE), _noted(view, _APART_NOTE)
    wanted: list[CallRequest] = []
    note = _ASKED_NOTE
    if not made and not _noted(view, _OWNER_NOTE) and (names := lookups_of(question, view.work.request)):
        wanted, note = names, _OWNER_NOTE
    elif not made:
        wanted = all_calls_for(question, span, overview)
    elif len(made) == 1 and _nothing(made[0]) and (asked := graded(question, overview)) != question:
        wanted = all_calls_for(asked, span, overview)
    elif not apart and _nothing(made[-1]):
        wanted, note = calls_apart(question, span), _APART_NOTE
    elif apart and len(made) == 1 and (asked := narrowed(question, apart[0])) != question:
        wanted = all_calls_for(asked, span, overview)
    if wanted and all(call.tool in view.tools for call in wanted) and view.turns_left > 1:
        return Turn(text="Looking for what was asked.", calls=wanted, note=note)
    leads = question.topic in LEADS and (not made or _nothing(made[-1]))
    told = _told(view, question, span, overview)
    if question.why or leads or not told or (question.topic == "exists" and _nothing(made[-1])):
        return None
    return _end(answered(view, overview, told))


def _told(view: TurnView, question: Question, span: Span, overview: dict[str, Any]) -> str:
    """Return the answer to a question, with which of its words no line holds."""
    made, apart = _noted(view, _ASKED_NOTE), _noted(view, _APART_NOTE)
    say, asked, calls = words(view), question, made[-1] if made else []
    if len(made) > 1:
        asked = narrowed(question, apart[0]) if apart else graded(question, overview)
    parts = [missing(question, apart[0] if apart else [], say)] if made else []
    first = len(calls_for(asked, span, overview)) if asked.then else len(calls)
    parts.append(reply(asked, calls[:first], overview, say))
    if asked.then:
        said = parts[-1].split("\n\n")
        more = reply(asked.then, calls[first:], overview, say).split("\n\n")
        parts.append("\n\n".join(part for part in more if part not in said))  # nothing is told twice
    return "\n\n".join(filter(None, parts))


def _nothing(calls: list[DoneCall]) -> bool:
    """Tell whether a count found no line."""
    values = [call.value if call.state == CallState.done else None for call in calls]
    return all(isinstance(v, dict) and not v.get("total", v.get("events", 1)) for v in values)


def _noted(view: TurnView, note: str) -> list[list[DoneCall]]:
    """Return the calls of each turn with a note."""
    return [turn.calls for turn in view.turns if turn.note == note]


def _compared(view: TurnView) -> bool:
    return any(c.tool == "compare" for t in view.turns if t.note != _ASKED_NOTE for c in t.calls)


def _ask(view: TurnView, calls: list[CallRequest], why: str) -> Turn:
    """Return a turn with calls, or the outcome where no tool may be used any more."""
    allowed = [call for call in calls if call.tool in view.tools]
    if allowed and view.turns_left > 1:
        return Turn(text=f"Looking at {why}.", calls=allowed)
    done = [c for c in view.calls("overview") if c.state == CallState.done]
    outcome = conclude(view, done[-1].value or {} if done else {})
    return _end(outcome.model_copy(update={"partial": True, "achieved": bool(done)}))


def _end(outcome: Outcome) -> Turn:
    return Turn(text=outcome.answer, outcome=outcome)


def _searches(view: TurnView, overview: dict[str, Any], span: Span) -> list[CallRequest]:
    window, problems = span.around.arguments, overview.get("problems")
    calls = [CallRequest(tool="search", arguments={"level": "error", "limit": _ERRORS, **window})]
    if not problems:
        calls.append(CallRequest(tool="search", arguments={"pattern": _WORDS, "limit": _ERRORS, **window}))
    if "alertname" not in view.work.labels:
        calls += lookups(view.work.request, span, calm=not problems)
    term = asked_term(view.work.request)
    if term:
        found = _LAST.search(view.work.request)
        number = next((int(g) for g in found.groups() if g), _ASKED) if found else _ASKED
        arguments = {
            "pattern": re2.escape(term),
            "limit": max(1, min(number, _ASKED_LIMIT)),
            "newest_first": bool(found),
            **window,
        }
        calls.append(CallRequest(tool="search", arguments=arguments))
    return calls


def asked_term(request: str) -> str:
    """Return the text that a request asks to find in lines, or nothing."""
    if (quoted := quoted_term(request)) and _LISTED.search(request):
        return quoted
    found = _CONTAINS.search(request)
    return found[1].strip() if found else ""


def _comparisons(overview: dict[str, Any], whole: dict[str, Any]) -> list[CallRequest]:
    """Return calls that set the onset apart from what was before it, up to the end of the window asked about."""
    top = overview["problems"][0]["first"]
    split = overview.get("recording") or overview.get("onset") or top["time"]
    start, until = whole.get("window", {}).get("from", ""), overview.get("asked", {}).get("until", "")
    if split and start < split < until:
        arguments = {"before": f"{start}..{split}", "after": f"{split}..{until}"}
    else:
        arguments = (
            {"split_at": split} if split else {"split_at": f"line {top['line']}", "source": top["source"]}
        )
    around = {"source": top["source"], "line": top["line"], "before": 4, "after": 8}
    return [CallRequest(tool="compare", arguments=arguments), CallRequest(tool="context", arguments=around)]


def _wide_searches(view: TurnView) -> list[DoneCall]:
    return [
        c
        for t in view.turns
        if t.note not in (DIRECTED, _ASKED_NOTE, _APART_NOTE)
        for c in t.calls
        if c.tool == "search"
    ]


# --- when there is nothing to look at ----------------------------------------------------------------------


def _stated(view: TurnView) -> Outcome | None:
    """Return the outcome of a request that states something and asks nothing; the memory learns it from the run."""
    told = [] if "alertname" in view.work.labels else statements(view.work.request)
    if not told:
        return None
    head = words(view)("Nothing was asked. The memory is given this when the run has ended:")
    return Outcome(answer="\n".join([head, "", *(f"- {one}" for one in told)]))


def _no_source(say: Words) -> Outcome:
    return Outcome(
        answer=say("No log was given, so nothing was analysed. Name one with --log PATH, or pass `sources`."),
        not_found=[say("no log was given: the request names no source")],
        not_done=[
            NotDone(what="log analysis", why="no log was given; submit again with --log PATH or sources=[…]")
        ],
        partial=True,
        achieved=False,
    )


def _failed(view: TurnView, call: DoneCall) -> Outcome:
    error = call.error or {}
    why = error.get("message") or f"the call ended as {call.state.value}"
    advice = error.get("suggestion", "")
    names = ", ".join(s.name for s in view.work.sources[:5])
    return Outcome(
        answer=words(view)("The logs could not be read: {why}. {advice}", why=why, advice=advice).strip(),
        not_found=[f"nothing was looked at: {why}"],
        not_done=[NotDone(what=f"read {names}", why=f"{why}. {advice}".strip())],
        partial=True,
        achieved=False,
    )
