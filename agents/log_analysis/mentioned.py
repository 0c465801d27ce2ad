"""The names a request speaks of: which of them no line holds, and the lines of an id; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agents.log_analysis.judging.placing import code, where_of
from agents.log_analysis.observed import quoted
from agents.log_analysis.spans import NO_SPAN, Span
from agents.log_analysis.terms import ending_off, pattern_of, terms_of
from agents.runtime.spec import CallRequest, DoneCall
from kernel.states import CallState
from kernel.wording import Words

#: Names looked up, lines of one that are quoted, and from how many on it is no id but something the log is full of.
_NAMES, _LINES, _MANY = 3, 10, 20
#: An id has so many digits in a row, or stands among hex digits.
_ID = re.compile(r"(?i)(?=[\w.:-]*\d{4})[\w.:/@-]{5,80}|(?=[a-f]*\d)[0-9a-f-]{12,64}")
#: What is written like a name: a path, an id, parts joined, capitals inside a sentence.
_NAME = re.compile(r"\S*[\d_./:@$-]\S*|\S*[a-z][A-Z]\S*|[A-Z]\w{3,}")
#: Words for systems, for trouble and for looking into it: a log seldom has them, and they name nothing. Stems.
_PLAIN = """
servic server system appl app cluster node host machin tool databas db pod contain process job request traffic version
deploy deployment releas new old upgrad chang user customer client call connection connect pag sit websit web api
backend frontend
fail failur error wrong break broke broken crash down slow slowly hang hung stuck restart stop di dead died kill timeout
refus reject deni deny drop los lost miss missing unavailabl unreachabl unhealthy degrad overload full leak spik problem
issu incident outag troubl fault root reason bad unusual strang odd weird normal healthy ok okay fine hit affect blam
responsibl look investigat analys analyz explain check read us used use need want night nightly morn morning yesterday
hang grow growing lag high low larg increas decreas sudden suddenly some something anything nothing everything else
alarm alert warn exception load time wait answer respons respond receiv get work run running tell help pleas cannot
cant isnt doesnt dont didnt wasnt arent attack tenant account compan team peopl number thing place part side end
proxy gateway consumer producer worker schedul controller queue cach broker balancer frontend role kind
return repl recover fill
"""
#: Parts of a system that a log with trouble tells of by other names; one without any that lacks them says so.
_PARTS = re.compile(r"(?i)databases?|queues?|caches?|brokers?|prox(?:y|ies)|gateways?|balancers?")
#: What stands before a name in a question; after another word comes what it does: "why does checkout return".
_BEFORE_NAME = r"""(?xi)(?:^|[,;:.?!("'`]\s*|\b(?:an?|the|our|my|your|its|their|of|on|in|at|from|with|by|for|to
|and|or|between|why|how|did|do|does|is|are|was|were|has|have|had|can|could|will|would|if|when|tell|show|find|about)
\s+(?:(?:new|old|main|primary|whole|entire|current|other|same)\s+)?)"""
_DONE = re.compile(r"(?i)(?:\b(?:is|are|was|were|has|have|had|did|do|does)\s+)\w+(?:ed|ing)\b")
_STEMS = frozenset(word.rstrip("e") for word in _PLAIN.split())
#: Asks whether something is part of the trouble.
_AFFECTED = re.compile(r"(?i)\baffected\b|\bimpacted\b|\binvolved\b|\bhit\b|受影响|受到影响|波及")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？]\s*)([A-Z]\w*)")

_Names = list[str]


def names_of(request: str) -> _Names:
    """Return the names in a request that lines may hold, those written like one first."""
    first = {match[1] for match in _SENTENCE_START.finditer(request)}
    words = [w for w in terms_of(request) if (w.isascii() and not w.isdigit()) or _is_id(w)]
    named = [w for w in words if _is_id(w) or (_NAME.fullmatch(w) and w not in first)]
    plain = [w for w in words if w not in named and len(w) > 3 and _is_noun(w, request)]  # noqa: PLR2004 - as in most words
    return [w for w in [*named, *plain] if not _general(w)][:_NAMES]


def parts_of(request: str) -> _Names:
    """Return the parts of a system that a request asks about."""
    return [w for w in terms_of(request) if _PARTS.fullmatch(w) and _is_noun(w, request)]


def lookups(request: str, span: Span = NO_SPAN, *, calm: bool = False) -> list[CallRequest]:
    """Return a search for each name, and one for its errors, at the time asked about, where it is written like a name.

    In a `calm` log, one without a problem, parts of a system are looked up too.
    """
    names = names_of(request)
    found = [_search(name, {"limit": _LINES}) for name in [*names, *(parts_of(request) if calm else [])]]
    narrow = span.arguments if span.at else {}
    found += [_search(n, {"limit": 1, "level": "error", **narrow}) for n in names if _written(n)]
    if narrow:
        found.append(CallRequest(tool="search", arguments={"limit": 1, "level": "error", **narrow}))
    return found


def _search(name: str, more: dict[str, Any]) -> CallRequest:
    return CallRequest(tool="search", arguments={"pattern": pattern_of([name]), **more})


def is_lookup(call: DoneCall, request: str) -> bool:
    """Tell whether a search is one of those for the names of a request, or for what was at its time."""
    if call.arguments.get("limit") == 1 and call.arguments.get("level") == "error":
        return True
    return call.arguments in [one.arguments for one in lookups(request, calm=True)]


def premise(request: str, calls: Sequence[DoneCall], overview: dict[str, Any], say: Words) -> str:
    """Return that nothing is wrong with what a request names, at the time it names, where that is so.

    A log that grades no line as an error says nothing of the sort.
    """
    levels = overview.get("levels", {})
    if not (levels.get("error") or levels.get("fatal")):
        return ""
    totals = _totals(request, calls)
    errors = [call for call in calls if call.arguments.get("limit") == 1 and _done(call)]
    told = []
    for call in errors:
        name, since = _named(request, call), call.arguments.get("since", "")
        values = {"start": since, "end": call.arguments.get("until", ""), "word": code(name)}
        if not name and not call.value["total"]:
            told = [
                say("From {start} to {end} no line is of level error or worse.", **values)
            ]  # so of no name
        elif name and call.value["total"] and _AFFECTED.search(request):
            first = call.value["first"]
            where = where_of(first)
            text = "{count} of the {total} lines with {word} are of level error or worse, first at {time} ({where})."
            rest = {"count": call.value["total"], "time": first["time"] or say("no time"), "where": where}
            told.append(say(text, total=totals.get(name, 0), **values, **rest))
        elif name and totals.get(name) and not call.value["total"]:
            text = "None of the {total} lines with {word} is of level error or worse."
            if since:
                text = "No line with {word} is of level error or worse from {start} to {end}."
            told.append(say(text, total=totals[name], **values))
    return " ".join(told)


def absent(request: str, calls: Sequence[DoneCall], told: str, say: Words, *, found: bool) -> str:
    """Return which names no line holds; those that the answer itself has are not missed.

    `found` tells that a cause follows: then it is said whether it is of something else.
    """
    totals = _totals(request, calls)
    gone = [name for name, total in totals.items() if not total and ending_off(name) not in told.lower()]
    if not gone:
        return ""
    text = "No line holds {words}."
    if found and len(gone) == len(totals):
        text = "No line holds {words}; this is what the log does tell of:"
    return say(text, words=", ".join(map(code, gone)))


def none_held(request: str, calls: Sequence[DoneCall]) -> bool:
    """Tell whether no line holds any name of a request."""
    return not any(_totals(request, calls).values())


def lines_of_ids(request: str, calls: Sequence[DoneCall], say: Words) -> str:
    """Return the lines with an id of the request, where they are few enough to read."""
    parts = []
    for call in calls:
        name = "" if "level" in call.arguments else _named(request, call)
        hits = (call.value or {}).get("hits", [])
        if _is_id(name) and hits and call.value["total"] <= _MANY:
            head = say(
                "Lines with {word} ({shown} of {total}):",
                word=code(name),
                shown=len(hits),
                total=call.value["total"],
            )
            parts.append("\n".join([head, *map(quoted, hits)]))
    return "\n\n".join(parts)


def _totals(request: str, calls: Sequence[DoneCall]) -> dict[str, int]:
    """Return how many lines hold each name, whatever their level."""
    return {
        name: call.value["total"]
        for call in calls
        if "level" not in call.arguments and (name := _named(request, call)) and _done(call)
    }


def _done(call: DoneCall) -> bool:
    return call.state == CallState.done and isinstance(call.value, dict)


def _named(request: str, call: DoneCall) -> str:
    """Return the name that a search was for, or nothing."""
    named: dict[str, Any] = {pattern_of([name]): name for name in [*names_of(request), *parts_of(request)]}
    return str(named.get(call.arguments.get("pattern", ""), "")) if is_lookup(call, request) else ""


def _written(name: str) -> bool:
    """Tell whether a word is written like a name: `web-1`, `orderService`, an id."""
    return _is_id(name) or bool(re.fullmatch(r"(?=.*[a-zA-Z])(?=.*[\d_-])[\w-]+", name))


def _is_noun(word: str, request: str) -> bool:
    """Tell whether a word stands where a name does, and is not what something does."""
    spot = re.compile(rf"{_BEFORE_NAME}{re.escape(word)}(?![\w-])")
    return bool(spot.search(_DONE.sub(" ", request)))


def _is_id(word: str) -> bool:
    return bool(_ID.fullmatch(word))


def _general(word: str) -> bool:
    plain = word.lower().replace("'", "")
    return plain.rstrip("e") in _STEMS or ending_off(plain).rstrip("e") in _STEMS
