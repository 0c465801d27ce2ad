"""Finds how long things took in what a line says: `took 7.3s`, `duration_ms=91`, `completed in 10.01 seconds`; pure."""

from __future__ import annotations

import re

import re2

_UNIT_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "millis": 1e-3,
    "milliseconds": 1e-3,
    "millisecond": 1e-3,
    "毫秒": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "秒": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minutes": 60.0,
    "minute": 60.0,
    "分钟": 60.0,
}
_UNITS = "|".join(sorted(_UNIT_SECONDS, key=len, reverse=True))
_NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"

#: A field that names a duration, with its unit in its name or after its value.
_FIELD = re.compile(
    r"(?i)(took|elapsed|duration|latency|response[_-]?time|request[_-]?time"
    r"|time[_-]?taken|query[_-]?time|\brt\b|\bcost|exec(?:ution)?[_-]?time|processing[_-]?time|耗时|用时)"
    rf"(?:[_-]?(ns|us|ms|s|sec|secs|seconds|millis|msec))?[\"']?\s?[=:：]\s?[\"']?{_NUMBER}\s?({_UNITS})?(?![\w.%])"
)
#: A duration in a sentence, after a word that says so.
_SAID = re.compile(
    rf"(?i)\b(?:took|taking|taken|in|after|within|elapsed|duration|latency|spent|waited|lasted"
    rf"|slow \w{{3,12}}|耗时|用时)[ :]{{1,2}}"
    rf"(?:about |only |over |of )?{_NUMBER}\s?({_UNITS})(?![\w/])|(?:耗时|用时)\s?{_NUMBER}\s?({_UNITS})"
)
#: What is a setting, a plan or an age, and no measure of work.
_SETTING = re.compile(
    r"(?i)time[- ]?out|\bretr|\bevery\b|interval|\bsleep|\bttl\b|expir|uptime|back-?off|\bdelay(?:ed|ing)? (?:by|of)"
    r"|schedul|\bnext\b|\bin the (?:last|past)\b|deadline|keep-?alive|lease|grace|\bage\b"
)
_LIMIT = 1200
#: What a line with a duration holds: asked first, because most lines have none.
_HINT = re2.compile(
    r"(?i)took|tak(?:en|ing)|elapsed|duration|latency|(?:response|request|query|exec\w{0,5}|processing)[_-]?time|\brt\b|cost"
    r"|\b(?:in|after|within|spent|waited|lasted|slow) |耗时|用时"
)


def duration(text: str) -> float | None:
    """Return the seconds a line says something took, or None; a number whose unit nobody knows is none."""
    text = text[:_LIMIT]
    if not _HINT.search(text):
        return None
    if found := _FIELD.search(text):
        unit = (found[4] or found[2] or "").lower()
        if not unit and "." in found[3]:
            unit = "s"  # a unitless decimal is how web servers write seconds
        return float(found[3]) * _UNIT_SECONDS[unit or "ms"]
    for found in _SAID.finditer(text):
        if not _SETTING.search(text[max(0, found.start() - 40) : found.end()]):
            number, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
            return float(number) * _UNIT_SECONDS[unit.lower()]
    return None


#: From so many seconds on, fractions say nothing.
_WHOLE = 1000
_DAY = 86_400.0


def lasting(seconds: float) -> str:
    """Return a long time as people say it."""
    for size, unit in ((_DAY, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return told(seconds)


def told(seconds: float) -> str:
    """Return a duration as people say it, with three digits that count."""
    if seconds >= 1:
        return f"{float(f'{seconds:.3g}'):g} s" if seconds < _WHOLE else f"{seconds:,.0f} s"
    return f"{float(f'{seconds * 1000:.3g}'):g} ms"
