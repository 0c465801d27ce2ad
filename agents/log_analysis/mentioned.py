"""The names a request speaks of: which of them no line holds, and the lines of an id; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agents.log_analysis.judging.placing import code
from agents.log_analysis.observed import quoted
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
"""
_STEMS = frozenset(word.rstrip("e") for word in _PLAIN.split())
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？]\s*)([A-Z]\w*)")

_Names = list[str]


def names_of(request: str) -> _Names:
    """Return the names in a request that lines may hold, those written like one first."""
    first = {match[1] for match in _SENTENCE_START.finditer(request)}
    words = [w for w in terms_of(request) if (w.isascii() and not w.isdigit()) or _is_id(w)]
    named = [w for w in words if _is_id(w) or (_NAME.fullmatch(w) and w not in first)]
    plain = [w for w in words if w not in named and len(w) > 3 and not _general(w)]  # noqa: PLR2004 - as in most words
    return [w for w in [*named, *plain] if not _general(w)][:_NAMES]


def lookups(request: str) -> list[CallRequest]:
    """Return a search for each name."""
    return [
        CallRequest(tool="search", arguments={"pattern": pattern_of([name]), "limit": _LINES})
        for name in names_of(request)
    ]


def is_lookup(call: DoneCall, request: str) -> bool:
    """Tell whether a search is one of those for the names of a request."""
    return call.arguments in [one.arguments for one in lookups(request)]


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


def lines_of_ids(request: str, calls: Sequence[DoneCall], say: Words) -> str:
    """Return the lines with an id of the request, where they are few enough to read."""
    parts = []
    for call in calls:
        name = _name(request, call)
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
    return {name: call.value["total"] for call in calls if (name := _name(request, call)) and _done(call)}


def _done(call: DoneCall) -> bool:
    return call.state == CallState.done and isinstance(call.value, dict)


def _name(request: str, call: DoneCall) -> str:
    """Return the name that a search was for, or nothing."""
    named: dict[str, Any] = {pattern_of([name]): name for name in names_of(request)}
    return str(named.get(call.arguments.get("pattern", ""), "")) if is_lookup(call, request) else ""


def _is_id(word: str) -> bool:
    return bool(_ID.fullmatch(word))


def _general(word: str) -> bool:
    plain = word.lower().replace("'", "")
    return plain.rstrip("e") in _STEMS or ending_off(plain).rstrip("e") in _STEMS
