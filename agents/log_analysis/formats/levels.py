"""Levels of log lines: from words, letters and numbers, and hints where a line names none; pure."""

from __future__ import annotations

import re
from enum import IntEnum
from math import isfinite
from typing import Any


class Level(IntEnum):
    """How bad a line says it is."""

    unknown = 0
    trace = 1
    debug = 2
    info = 3
    warning = 4
    error = 5
    fatal = 6


_WORDS = {
    **dict.fromkeys(["trace", "finest", "finer", "verbose", "silly"], Level.trace),
    **dict.fromkeys(["debug", "debug1", "debug2", "debug3", "debug4", "debug5", "fine", "dbg"], Level.debug),
    **dict.fromkeys(
        ["info", "information", "informational", "notice", "note", "log", "config", "inf", "success"],
        Level.info,
    ),
    **dict.fromkeys(["warn", "warning", "wrn"], Level.warning),
    **dict.fromkeys(["error", "err", "severe", "failure", "fail", "eror"], Level.error),
    **dict.fromkeys(
        ["fatal", "critical", "crit", "alert", "emerg", "emergency", "panic", "dpanic", "ftl"], Level.fatal
    ),
}
#: Single letters of glog, logcat and MongoDB.
_LETTERS = {
    "V": Level.trace,
    "T": Level.trace,
    "D": Level.debug,
    "I": Level.info,
    "N": Level.info,
    "W": Level.warning,
    "E": Level.error,
    "F": Level.fatal,
    "C": Level.fatal,
}

_NAMES = (
    "TRACE|VERBOSE|DEBUG|INFORMATION|INFO|NOTICE|NOTE|LOG|WARNING|WARN|ERROR|ERR|SEVERE|FAILURE"
    "|CRITICAL|CRIT|FATAL|ALERT|EMERGENCY|EMERG|PANIC"
)
#: In capitals anywhere near the start; in other spellings only where a level stands: first, bracketed, `level=`.
_CAPITALS = re.compile(rf"(?:^|(?<=[\s\[\](<|:\"'=./-]))({_NAMES})(?=$|[\s\])>|:,;\"'=/-])")
_SPELLED = re.compile(
    rf"(?i)(?:^\W{{0,2}}|[\[<(|]\s?|[\s.](?=\w+:\s)|level[=:]\s?\"?)({_NAMES})(?=[\]>)|:,\s\"])"
)
_PRIORITY = re.compile(r"^<(\d{1,3})>")
_LETTER = re.compile(r"^([IWEF])\d{4} |^\s*(?:\d+\s+){0,2}([VDIWEF])[/ ](?=[\w.])|^\s?([DIWEFN])\s{2}")

#: A line without a level that says this is an error.
_STRONG = re.compile(
    r"\b\w*(?:Exception|Error)\b(?! ?(?:code)?[:=] ?0\b)(?=:|\s|$)|^Traceback|^panic:|segfault"
    r"|[Ss]egmentation fault"
    r"|core dumped|[Oo]ut of memory|Killed process|[Nn]o space left|\b(?:fatal|FATAL)\b|\bBUG:|\bOops\b"
)
#: A line without a level that says this deserves a look.
_SOFT = re.compile(
    r"(?i)\b(?:fail(?:ed|ure|ures|s)?|errors?|refused|denied|timed? ?out|unable to|cannot|can't|could ?n[o']t"
    r"|rejected|unreachable|aborted|corrupt(?:ed)?|broken|失败|错误|超时|拒绝|异常)\b|失败|错误|超时|拒绝|异常"
)
_HARMLESS = re.compile(
    r"(?i)\b(?:no|0|without|zero) (?:\w+ )?(?:errors?|failures?)|\b(?:errors?|failed"
    r"|failures?)\"?[=:] ?(?:0|no|none|false|null)\b"
    r"|error[_ ](?:rate|count)"
)

#: Small numbers count up from debug (zerolog, Nextcloud); 6 and 7 only exist where they count down (syslog).
_SMALL = (
    Level.debug,
    Level.info,
    Level.warning,
    Level.error,
    Level.fatal,
    Level.info,
    Level.info,
    Level.debug,
)

#: How far into a line a level word may stand.
HEAD = 120


def from_word(word: str) -> Level:
    """Return the level a word names."""
    return _WORDS.get(word.lower().strip("[]<>() "), Level.unknown)


def from_text(text: str) -> tuple[Level, int]:
    """Return the level a line names and where the word ends, or `unknown` and 0."""
    head = text[:HEAD]
    if found := _CAPITALS.search(head):
        return _WORDS[found[1].lower()], found.end()
    if found := _SPELLED.search(head):
        # `error opening x`: the word is part of the sentence, so the sentence keeps it
        plain = not found[1].isupper() and head[found.end() : found.end() + 1].isspace()
        return _WORDS[found[1].lower()], 0 if plain else found.end()
    if found := _LETTER.match(head):
        return _LETTERS[found[found.lastindex or 1]], found.end()
    if (found := _PRIORITY.match(head)) and int(found[1]) < 192:  # noqa: PLR2004 - 24 facilities of 8 severities
        return _from_severity(int(found[1]) & 7), found.end()
    return Level.unknown, 0


def from_value(value: Any, *, syslog: bool = False) -> Level:
    """Return the level of a field: a word, a letter, a syslog severity (0..7), pino (10..60), OTLP (1..24)."""
    if isinstance(value, str):
        if (level := from_word(value)) or not value:
            return level
        if value.isdigit():
            return from_value(int(value), syslog=syslog)
        return _LETTERS.get(value, Level.unknown) if len(value) == 1 else from_text(value)[0]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return Level.unknown
    number = int(value)
    if syslog and 0 <= number <= 7:  # noqa: PLR2004 - severities of syslog and GELF
        return _from_severity(number)
    if number >= 10 and number % 10 == 0:  # noqa: PLR2004 - bunyan and pino
        return Level(min(6, max(1, number // 10)))
    if 0 <= number < len(_SMALL):
        return _SMALL[number]
    return Level(min(6, 1 + (number - 1) // 4)) if 0 < number <= 24 else Level.unknown  # noqa: PLR2004 - OTLP


def from_status(status: int) -> Level:
    """Return what an HTTP status hints at: from 500 on the server failed."""
    return Level.error if 500 <= status <= 599 else Level.unknown  # noqa: PLR2004 - the class of server errors


def hint(text: str) -> Level:
    """Return what the words of a line without a level hint at."""
    if _HARMLESS.search(text):
        return Level.unknown
    if _STRONG.search(text):
        return Level.error
    return Level.warning if _SOFT.search(text) else Level.unknown


def _from_severity(number: int) -> Level:
    if number <= 2:  # noqa: PLR2004 - emerg, alert, crit
        return Level.fatal
    return (Level.error, Level.warning, Level.info, Level.info, Level.debug)[min(number, 7) - 3]
