"""Words the answers to questions that are no search for a cause, from what their calls returned; pure."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.breakdowns import each, most, of_one
from agents.log_analysis.judging.placing import code, where_of
from agents.log_analysis.observed import quoted
from agents.log_analysis.paragraphs import shapes
from agents.log_analysis.questions import LEADS, Question
from agents.log_analysis.rates import rate
from agents.log_analysis.recovery import recovered, started
from agents.log_analysis.terms import telling
from agents.log_analysis.ways import kind_counted, surest
from agents.runtime.spec import DoneCall
from kernel.states import CallState
from kernel.wording import Words

#: Lines told of those who have most.
_MOST = 10


def reply(question: Question, calls: list[DoneCall], overview: dict[str, Any], say: Words) -> str:
    """Return the paragraphs that answer a question and what was asked beside it; nothing where its calls failed."""
    told = [
        _reply(question, calls, overview, say),
        *(_LEADS[topic](overview, say) for topic in question.also),
        *(_around(overview, say) if question.topic == "changed" else []),
    ]
    return "\n\n".join(filter(None, told))


def _reply(question: Question, calls: list[DoneCall], overview: dict[str, Any], say: Words) -> str:
    values = [c.value for c in calls if c.state == CallState.done and isinstance(c.value, dict)]
    if question.topic in LEADS and (not values or values[0].get("total") == 0) and not question.exact:
        return _LEADS[question.topic](overview, say)
    if len(values) < len(calls) or not values:
        return ""
    calls, values, more = surest(question, calls, values, say)
    told: str = _REPLIES[question.topic](question, calls, values, say)
    return f"{told}\n\n{more}" if more else told


def missing(question: Question, apart: list[DoneCall], say: Words) -> str:
    """Return which words of a question were not looked for, and which of the others no line holds."""
    words = question.term.split()
    left = [word for word in words if word not in telling(words)] if not question.exact else []
    text = say("Not looked for: {words}.", words=", ".join(map(code, left))) if left else ""
    return " ".join(filter(None, [text, _absent(question, apart, say)]))


def _absent(question: Question, apart: list[DoneCall], say: Words) -> str:
    if not apart or any(call.state != CallState.done for call in apart):
        return ""
    counts = dict(zip(telling(question.term.split()), (call.value["total"] for call in apart), strict=True))
    absent = [word for word, count in counts.items() if not count]
    if absent:
        return say("No line holds {words}.", words=", ".join(map(code, absent)))
    told = ", ".join(f"{code(word)} {count}" for word, count in counts.items())
    if question.level:
        return say("At any level, lines with each word: {told}.", told=told)
    return say("No line holds all of it; lines with each word: {told}.", told=told)


def _what(question: Question, call: DoneCall, say: Words) -> str:
    """Return what was counted, as the call asked for it."""
    level, pattern = call.arguments.get("level"), call.arguments.get("pattern")
    words = [question.term] if question.exact else telling(question.term.split())
    named = " + ".join(map(code, words))
    alone = (level or "").startswith("=")
    level = (level or "").removeprefix("=")
    if kind := kind_counted(question, call, say):
        text = kind
    elif alone and pattern:
        text = say("lines of level {level} with {pattern}", level=level, pattern=named)
    elif alone:
        text = say("lines of level {level}", level=level)
    elif level and pattern:
        text = say("lines of level {level} or worse with {pattern}", level=level, pattern=named)
    elif level:
        text = say("lines of level {level} or worse", level=level)
    else:
        text = say("lines with {pattern}", pattern=named) if pattern else say("lines")
    if "of" in call.arguments:
        by, _, name = call.arguments["of"].partition("=")
        text = say("{what} of {name} ({by})", what=text, by=say.plain(by), name=code(name))
    since, until = call.arguments.get("since", ""), call.arguments.get("until", "")
    if since or until:
        text += say(
            " from {start} to {end}", start=since or say("the beginning"), end=until or say("the end")
        )
    return text


def _rate(question: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    found, what = values[0], _what(question, calls[0], say)
    if not found["total"]:
        return say("There are no {what}.", what=what)
    return rate(found, question.bucket, what, say)


def _by(question: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    what = _what(question, calls[0], say)
    return each(values, what, say) if question.topic == "each" else most(values, what, say)


def _count(question: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    if question.of:
        return of_one(question, values, _what(question, calls[1], say), say)
    found, what = values[0], _what(question, calls[0], say)
    if not found["total"]:
        return say("There are no {what}.", what=what)
    first, last = found["first"], found["last"]
    if found["total"] == 1:
        text = "1 line only ({what}), at {time} ({where})."
        one = say(text, what=what, time=first["time"] or say("no time"), where=where_of(first))
        return f"{one}\n\n{quoted(first)}"
    text = "{total} {what}, the first at {start} ({first}), the last at {end} ({last})."
    spots = {"first": where_of(first), "last": where_of(last)}
    none = say("no time")
    head = say(
        text, total=found["total"], what=what, start=first["time"] or none, end=last["time"] or none, **spots
    )
    return "\n\n".join([head, "\n".join(map(quoted, found["hits"]))])


def _at(question: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    trouble, every = values
    text = "{total} {what}, {bad} of them warnings or worse."
    parts = [say(text, total=every["total"], what=_what(question, calls[1], say), bad=trouble["total"])]
    if trouble["hits"]:
        parts.append("\n".join([say("Warnings and worse:"), *map(quoted, shapes(trouble["hits"]))]))
    told = {(hit["source"], hit["line"]) for hit in trouble["hits"]}
    rest = shapes([hit for hit in every["hits"] if (hit["source"], hit["line"]) not in told])
    parts.append("\n".join([say("What the log said:"), *map(quoted, rest)]) if rest else "")
    return "\n\n".join(p for p in parts if p)


def _changed(_: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    found = values[0]
    counts = {name: found[f"{name}_total"] for name in ("new", "more", "fewer", "vanished")}
    text = "Since {time}: of the kinds of lines {new} new, {more} more often, {fewer} less often, {vanished} vanished."
    parts = [say(text, time=calls[0].arguments["split_at"], **counts)]
    for name, heading in (
        ("new", "New:"),
        ("more", "More often:"),
        ("vanished", "Vanished:"),
        ("fewer", "Less often:"),
    ):
        rows = found.get(name, [])
        line = "- {template}: {before} before, {after} after ({where})"
        told = [
            say(
                line,
                template=code(r["template"]),
                before=r["before"],
                after=r["after"],
                where=where_of(r),
            )
            for r in rows
        ]
        parts += ["\n".join([say(heading), *told])] if told else []
    return "\n\n".join(parts)


def _around(overview: dict[str, Any], say: Words) -> list[str]:
    """Return the lines that tell of changes, and those that the log hardly ever has shortly before the trouble."""
    changes = overview.get("changes", [])
    known = {where_of(row) for row in changes}
    rare = [row for row in overview.get("before", []) if where_of(row) not in known]
    lists = (("Changes seen:", changes), ("Hardly ever seen, and shortly before the trouble:", rare))
    return ["\n".join([say(heading), *map(quoted, rows)]) for heading, rows in lists if rows]


def _began(_: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    found = values[0]
    if not found["total"]:
        return say("No line says so.")
    return _edge(
        "The first line that says so is of {time} ({where}); {total} lines do.",
        found["first"],
        found["total"],
        say,
    )


def _last(_: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    found = values[0]
    if not found["total"]:
        return say("No line says so.")
    return _edge(
        "It came last at {time} ({where}); {total} lines say so.", found["last"], found["total"], say
    )


def _edge(text: str, spot: dict[str, Any], total: int, say: Words) -> str:
    head = say(text, time=spot["time"] or say("no time"), where=where_of(spot), total=total)
    return f"{head}\n\n{quoted(spot)}"


def _top(_: Question, calls: list[DoneCall], values: list[dict[str, Any]], say: Words) -> str:
    line = "{number}. {count} lines: {message} ({where})"
    rows = values[0]["templates"][:_MOST]
    if not rows:
        return say("There are no {what}.", what=_what(_, calls[0], say))
    told = [
        say(line, number=n, count=row["count"], message=code(row["template"]), where=where_of(row))
        for n, row in enumerate(rows, 1)
    ]
    what = say("lines of level {level} or worse", level=calls[0].arguments["level"])
    return "\n".join([say("The most frequent {what}:", what=what), *told])


_REPLIES = {
    "rate": _rate,
    "most": _by,
    "each": _by,
    "count": _count,
    "exists": _count,
    "start": _began,
    "last": _last,
    "top": _top,
    "at": _at,
    "changed": _changed,
}
_LEADS = {"start": started, "recovered": recovered}
