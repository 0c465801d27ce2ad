"""Which templates tell of trouble, and how likely each is the root of it; pure."""

from __future__ import annotations

import math
import re

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.alarms import ASKED_WRONGLY, TRICKLES, alarms, well
from agents.log_analysis.judging.precedence import WARNINGS, Problem, follows, order, strong_of
from agents.log_analysis.kinds import ERROR, SYMPTOM, Kind
from agents.log_analysis.scanning.scan import Profile, Scan
from agents.log_analysis.scanning.summary import PARTS, Group, Summary

#: A kind of line that is there all the time is not what broke something now.
CHRONIC_SHARE = 0.6
#: … if it is there in the first so many parts of the window, too,
EARLY = 4
#: … unless one part of the window has so many times its usual number.
BURST_FACTOR = 5.0

#: A log with fewer lines of health than this share says nothing of what is usual.
_HEALTHY = 0.02
_ONLY_TROUBLE = "the log holds nothing but trouble, so what is usual cannot be told from what is new"

#: So many lines at once that were asked for wrongly are no slip of one caller.
_ONE_CALLER = 20
#: What each fact adds to the weight of a kind. Set by hand on made-up incidents, not fitted to a data set.
FIRST = 0.35
_FATAL = 0.05
_WARNING = -0.3
_CHRONIC = -0.45
_NAMES_CULPRIT = -0.35
_MANY = 0.08
#: What each doubt takes away: a line that says it is no alarm is not the root.
_DOUBT = -0.45
#: … and one that tells what it saw of another service, whose failure came before.
_FOLLOWS = -0.4

_SATURATED = re.compile(r"\b(\d{1,7})\s?/\s?(\d{1,7})\b")
_TRACEBACK = "Traceback (most recent call last):"
_IDS = re.compile(r"(?i)\b(?:trace|span|request|req|correlation)[_ -]?id[:=]\s*[\w-]+[,;]?\s*")
_PLACE = re.compile(r"^(?:[\w.$\[\]/-]+#\d+|\[[\w.$@:/-]+\] -|[\w./-]+\.\w{1,4}:\d+\]?)\s+")
#: A word of trouble that is somebody's or something's name.
_NAMED = re.compile(
    r"(?i)\b(?:user|username|name|login|account|owner|author|title|product|item|query|q|search|term|topic|channel|tag|file"
    r"|path|url|uri)[\"']?\s?[:= ]\s?[\"'“]?[\w@./-]{1,60}"
)
#: Where a line is on a setting, names that are joined of several words are names of settings; so is what has a number.
_ON_SETTINGS = re.compile(
    r"(?i)\bdeprecat\w*|\bobsolete\b|\b(?:options?|settings?|parameters?|propert(?:y|ies)|flags?|directives?|arguments?"
    r"|config\w*|env(?:ironment)? variables?)\b|已弃用|废弃|配置项|参数"
)
_SETTING = re.compile(
    r"(?<![\w.-])-{0,2}(?:[A-Za-z0-9]{1,40}[_.-]){1,8}[A-Za-z0-9]{1,40}(?![\w-])|(?<![\w-])--\w{1,40}"
    r"|\b[a-z]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b"
)
_FAILS = re.compile(
    r"(?i)fail|error|unavail|unable|cannot|refus|timed? ?out|\b5\d\d\b|invalid|down\b|lost|returned|respon"
)


#: What a log complains of that has nothing worse: warnings that say so, or any lines that say an exception was thrown,
_COMPLAINS = re.compile(
    r"(?i)(?<![=\"'\w])(?:fail(?:ed|ures?|s|ing)?|\w{0,60}exceptions?)\b(?!\W{0,3}0\b)|失败(?!\s?0)|异常"
)
_THROWN = re.compile(
    r"(?i)\bexception (?:was |is |has been )?(?:thrown|raised|caught|occurred)"
    r"|\b(?:got|caught|threw) (?:an? )?exception\b"
)
#: … unless they say in the same breath that there was none, or that it went well the next time.
_NONE = re.compile(
    r"(?i)\b(?:0|no|zero) (?:\w+ )?(?:failed|exceptions?)\b|\bretr\w+ (?:\w+ )?succe|\bsucceeded (?:after|on|at)\b"
)
_COMPLAINT = 0.3


def problems(scan: Scan, summary: Summary, whole: Summary | None = None) -> list[Problem]:
    """Return all problems, the likeliest root first.

    Where the scan is a window of a log, `whole` is the summary of all of it: only there one sees what is chronic.
    """
    whole = whole or summary
    found = [
        p
        for g in summary.groups.values()
        if (p := _problem(scan.profiles[g.template], g, whole.groups[g.template]))
    ]
    if not found:
        return _complaints(scan, summary, whole)
    verdicts = {alarm.template: alarm for alarm in alarms(scan, whole)}
    for problem in found:
        verdict = verdicts.get(problem.group.template)
        if verdict is not None and not verdict.raised:
            many = problem.group.count >= _ONE_CALLER and not any(
                whole.groups[problem.group.template].parts[:EARLY]
            )
            problem.doubts = tuple(d for d in verdict.against if not (many and d == ASKED_WRONGLY))
    errors = any(p.group.level >= Level.error for p in found)
    if not errors:
        found = [p for p in found if p.group.count >= WARNINGS or p.kind.alone or _full(p.profile.message)]
    bare = _bare(whole, found)
    sudden = sorted((p for p in found if not p.chronic), key=(lambda p: -p.group.count) if bare else order)
    new = [
        p for p in sudden if whole.groups[p.group.template].first == p.group.first
    ]  # and not from before a window
    strong = strong_of(new)
    for rank, problem in enumerate(strong):
        problem.rank = rank + bare  # by numbers alone the first is less sure than by what came first
    names = _names(scan, found)
    for problem in found:
        problem.blames = _blamed(scan, problem, names)
        problem.score = _score(problem, early=problem in strong)
        if follows(problem, strong, summary):
            problem.score += _FOLLOWS
    return sorted(found, key=lambda p: (-p.score, order(p)))


def _complaints(scan: Scan, summary: Summary, whole: Summary) -> list[Problem]:
    """Return lines that say again and again that something failed, of a log that has nothing worse."""
    found = []
    for group in summary.groups.values():
        profile = scan.profiles[group.template]
        said = _COMPLAINS if group.level == Level.warning else _THROWN
        if group.count < WARNINGS or group.level in (Level.trace, Level.debug) or well(profile.message):
            continue
        if said.search(_NAMED.sub(" ", profile.message)) and not _NONE.search(profile.message):
            found.append(_judged(profile, group, whole.groups[group.template], ERROR))
    for problem in found:
        problem.score = _COMPLAINT + _MANY * min(1.0, math.log10(problem.group.count) / 4)
    return sorted(found, key=lambda p: (-p.score, order(p)))


def _bare(whole: Summary, found: list[Problem]) -> bool:
    """Tell whether a log holds nothing but trouble that is there all the time; then no problem is chronic.

    Such are exports of errors alone: what was usual before stands in no line of them.
    """
    events = sum(whole.levels.values())
    healthy = sum(count for level, count in whole.levels.items() if level < Level.warning)
    if healthy > _HEALTHY * events or not all(p.chronic for p in found):
        return False
    for problem in found:
        problem.chronic = False
        problem.doubts = (*(d for d in problem.doubts if d != TRICKLES), _ONLY_TROUBLE)
    return bool(found)


def _problem(profile: Profile, group: Group, whole: Group) -> Problem | None:
    """Judge one template: errors always, warnings of a known kind, other lines only where they leave no doubt.

    `whole` is its group in all of the log.
    """
    kind = profile.kind
    if group.level < Level.error:
        if kind is None or (group.level < Level.warning and not kind.alone):
            return None
        if group.level in (Level.trace, Level.debug):
            return None
        if kind.weight < SYMPTOM or well(profile.message):
            return None
        named = _NAMED.sub(" ", profile.message) if group.level < Level.warning else profile.message
        if not kind.pattern.search(unset(named)):
            return None
    return _judged(profile, group, whole, kind or ERROR)


def _judged(profile: Profile, group: Group, whole: Group, kind: Kind) -> Problem:
    """Tell whether a template's lines are there all the time, or came in a burst."""
    usual = sorted(whole.parts)[PARTS // 2]
    burst = max(whole.parts) >= BURST_FACTOR * max(1, usual) and usual > 0
    early = any(whole.parts[:EARLY])  # what begins later and stays has changed something
    chronic = whole.spread >= CHRONIC_SHARE and early and not burst
    return Problem(group, profile, kind, chronic, burst)


def unset(message: str) -> str:
    """Return a message without the names of settings, where it is on settings: `kill_timeout` is no timeout."""
    return _SETTING.sub(" ", message) if _ON_SETTINGS.search(message) else message


def readable(message: str) -> str:
    """Return a message without the ids and code places that stand before what it says."""
    short = _IDS.sub("", _PLACE.sub("", message.removeprefix(_TRACEBACK))).strip(" |")
    return short or message


def _full(message: str) -> bool:
    """Tell whether a message shows something used up, as 100/100 does."""
    return any(int(a) >= int(b) > 1 for a, b in _SATURATED.findall(message))


def _names(scan: Scan, found: list[Problem]) -> dict[str, int]:
    """Return the services that have problems themselves, by the words other lines would use for them."""
    names: dict[str, int] = {}
    for problem in found:
        if problem.group.level < Level.error:
            continue
        for number in problem.group.services:
            name = scan.services[number].lower()
            if len(name) < 4:  # noqa: PLR2004 - shorter names stand in too many words
                continue
            names[name] = number
            bare = re.sub(r"[-_. ]?(?:service|svc|server)$", "", re.sub(r"^ts-", "", name))
            if len(bare) >= 4:  # noqa: PLR2004 - as above
                names[bare + " service"] = names[bare + " svc"] = number
    return names


def _blamed(scan: Scan, problem: Problem, names: dict[str, int]) -> str:
    """Return the service with problems of its own that a line says has failed it."""
    message = problem.profile.message.lower()
    if not _FAILS.search(message):
        return ""
    for name, number in names.items():
        # by far the most names are not there: a log may hold thousands, each a pattern to compile
        if name not in message or number in problem.group.services:
            continue
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message):
            return scan.services[number]
    return ""


def _score(problem: Problem, *, early: bool) -> float:
    score = problem.kind.weight
    if problem.group.level >= Level.fatal:
        score += _FATAL
    elif problem.group.level <= Level.warning and not problem.kind.alone:
        score += _WARNING
    if problem.chronic:
        score += _CHRONIC
    elif early:
        score += FIRST / (1 + problem.rank)
    if problem.blames:
        score += _NAMES_CULPRIT
    if not problem.chronic and set(problem.doubts) - {_ONLY_TROUBLE}:
        score += _DOUBT
    return score + _MANY * min(1.0, math.log10(problem.group.count) / 4)
