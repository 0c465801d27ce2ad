"""Levels of log lines: from words, letters and numbers, and hints where a line names none; pure."""

from __future__ import annotations

import re
from enum import IntEnum
from math import isfinite
from typing import Any

from agents.log_analysis.formats.columns import COLUMN, DEVICE


class Level(IntEnum):
    """How bad a line says it is."""

    unknown = 0
    trace = 1
    debug = 2
    info = 3
    warning = 4
    error = 5
    fatal = 6


def _table(*rows: tuple[Level, str]) -> dict[str, Level]:
    return {word: level for level, words in rows for word in words.split()}


#: Words for levels that may stand in any line, as capitals or where a level stands.
_SPOKEN = _table(
    (Level.trace, "trace verbose"),
    (Level.debug, "debug"),
    (Level.info, "information info notice note log"),
    (Level.warning, "warning warn"),
    (Level.error, "error err severe failure"),
    (Level.fatal, "critical crit fatal alert emergency emerg panic"),
)
#: The same in other languages, as localised databases, runtimes and consoles write them.
_FOREIGN = _table(
    (Level.trace, "跟踪 追踪 トレース"),
    (Level.debug, "调试 除錯 偵錯 デバッグ 디버그 отладка"),
    (Level.info, "信息 资讯 資訊 提示 日志 日誌 通知 情報 정보 информация infos información"),
    (Level.warning, "警告 告警 注意 경고 warnung avertissement attention advertencia aviso avviso предупреждение"),
    (Level.error, "错误 錯誤 异常 異常 严重 嚴重 エラー 오류 fehler erreur grave schwerwiegend erro errore ошибка"),
    (Level.fatal, "致命 致命错误 致命錯誤 紧急 緊急 致命的 fatale schwerwiegender критический"),
)  # fmt: skip
_WORDS = {
    **_SPOKEN,
    **_FOREIGN,
    **_table(
        (Level.trace, "finest finer silly trc"),
        (Level.debug, "debug1 debug2 debug3 debug4 debug5 fine dbg"),
        (Level.info, "informational config inf success system"),
        (Level.warning, "wrn deprecation deprecated"),
        (Level.error, "fail eror"),
        (Level.fatal, "dpanic ftl"),
    ),
}
#: Words in Latin letters, in capitals.
_LATIN = {word.upper(): level for word, level in {**_FOREIGN, **_SPOKEN}.items() if word.isascii()}
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

_CAPITALS = re.compile(r"[A-Z]{3,15}")
#: Every word for a level has one of these; words in other languages in small letters do not count.
_STEMS = (
    "error", "err:", "err]", "=err", "err ", "warn", "info", "debug", "fatal", "crit", "notice", "note", "trace",
    "severe", "failure", "alert", "emerg", "panic", "log:", "log]", "=log", "verbose",
    *(word for word in _FOREIGN if word.isascii()),
)  # fmt: skip
_BEFORE = frozenset(" \t[]()<|:\"'=./-")
_AFTER = frozenset(" \t[])>|:,;\"'=/-!")
#: Short forms that are words of their own elsewhere: they count in brackets, before one, and first.
_SHORT = _table(
    (Level.trace, "TRC VRB"),
    (Level.debug, "DBG DEBU"),
    (Level.info, "INF"),
    (Level.warning, "WRN"),
    (Level.error, "ERRO"),
    (Level.fatal, "FTL CRT FATA PANI"),
)
_OPENING, _CLOSING = frozenset("[<("), frozenset("]>)[")
_COLUMNS = _table((Level.info, "A O Default"), (Level.fatal, "Fault"))
#: Where a level stands: first, bracketed, before a colon, after `level=`.
_PLACE = re.compile(
    r"(?:\[\w{1,30}:|^\W{0,2}|[\[<(|]\s?|[\s.](?=[A-Za-z]{3,11}:\s)|[Ll]evel[=:]\s?\"?)([A-Za-z]{3,11})(?=[\]>)|:,\s\"])"
)
_PLACE_FOREIGN = re.compile(
    r"(?:^\W{0,2}|[\[【<(（|]\s?|[\s:：】](?=\w{2,16}[:：]))([^\W\d_]{2,16})(?=[\]】>)）|:：,，\s]|$)"
)
#: Words that begin a sentence as the level of it.
_SAID = frozenset((
    "error", "Error", "warning", "Warning", "fatal", "Fatal", "critical", "Critical", "info", "debug", "trace", "warn",
    "verbose", "err", "crit", "severe",
))  # fmt: skip
_NONE = re.compile(r"(?:\b(?:NO|0|ZERO) )$")
_NOTHING = ("NO ", "0 ", "ZERO ")
_ZERO = re.compile(r"S?\"?[=:] ?0\b")
_ZERO_STARTS = frozenset('S"=:')
_PRIORITY = re.compile(r"^<(\d{1,3})>")
_LETTER = re.compile(
    r"^([IWEF])\d{4} |^\s*(?:\d+\s+){0,2}([VDIWEF])(?: (?=[\w.-]{1,60}\s{0,20}[:(\[])|/(?=[\w.$-]{2,60}[:(]))"
    r"|^\s?([DIWEFN])\s{2}|^\s?\[([DIWEF])\]"
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
    if column := COLUMN.match(head):
        word, end = column[column.lastindex or 1], column.end(column.lastindex or 1)
        end += head[end : end + 1] == "/"
        return _COLUMNS.get(word) or _LETTERS.get(word) or from_word(word), end
    if found := _capital(head) or _placed(head):
        return found
    if letter := _LETTER.match(head):
        return _LETTERS[letter[letter.lastindex or 1]], letter.end()
    if head[:1] == "<" and (number := _PRIORITY.match(head)) and int(number[1]) < 192:  # noqa: PLR2004 - facilities
        return from_severity(int(number[1]) & 7), number.end()
    if "%" in head and (device := DEVICE.search(head)):
        return from_severity(int(device[1] or device[2])), 0
    return (Level.unknown, 0) if head.isascii() else _foreign(head)


def _capital(head: str) -> tuple[Level, int] | None:
    """Return the first level in capitals that stands alone."""
    for found in _CAPITALS.finditer(head):
        level = _LATIN.get(found[0])
        if level is not None:
            start, end = found.span()
            if _stands(head, start, end):
                return level, end
        elif found[0] in _SHORT and _marked(head, *found.span()):
            return _SHORT[found[0]], found.end()
    return None


def _placed(head: str) -> tuple[Level, int] | None:
    """Return the level that a word names where levels stand."""
    small = head.lower()
    for found in _PLACE.finditer(head) if any(map(small.__contains__, _STEMS)) else ():
        word = found[1]
        level = _SPOKEN.get(word.lower()) or _LATIN.get(word.upper() if word[0].isupper() else "")
        if level is not None and (word != "log" or head[found.start() : found.start() + 1] != "."):
            if word.isupper() or not head[found.end() : found.end() + 1].isspace() or _column(head, found):
                return level, found.end()
            # `error opening x`: the word is part of the sentence, so the sentence keeps it; `Log without …` is none
            if word in _SAID:
                return level, 0
    return None


def _column(head: str, found: re.Match[str]) -> bool:
    """Tell whether a word is a column of its own, as zap writes."""
    return head[found.end()] == "\t" and head[: found.start(1)].endswith("\t")


def _marked(head: str, start: int, end: int) -> bool:
    """Tell whether a short form stands where a level does."""
    after = head[end : end + 1]
    if start <= 1:
        return after in _CLOSING or after in " |:"
    return head[start - 1] in _OPENING and after in _CLOSING


def _stands(head: str, start: int, end: int) -> bool:
    """Tell whether a word in capitals stands alone, and not in `NO ERROR` or `ERROR=0`."""
    if (start and head[start - 1] not in _BEFORE) or (end < len(head) and head[end] not in _AFTER):
        return False
    # nearly no line says either: what they end with and go on with is looked at before patterns are
    if head.endswith(_NOTHING, 0, start) and _NONE.search(head, max(0, start - 8), start):
        return False
    return head[end : end + 1] not in _ZERO_STARTS or _ZERO.match(head, end) is None


def _foreign(head: str) -> tuple[Level, int]:
    for found in _PLACE_FOREIGN.finditer(head):
        level = _FOREIGN.get(found[1].lower())
        if level is not None and not found[1].isascii():
            return level, found.end()
    return Level.unknown, 0


def from_value(value: Any, *, numbers: str = "") -> Level:
    """Return the level of a field: a word, a letter, or a number: `syslog` (0..7), `otlp` (1..24), else 10..60."""
    if isinstance(value, str):
        if (level := _WORDS.get(value) or from_word(value)) or not value:
            return level
        if value.isdecimal() and value.isascii():
            return from_value(int(value[:9]), numbers=numbers)
        return _LETTERS.get(value, Level.unknown) if len(value) == 1 else from_text(value)[0]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return Level.unknown
    return _from_number(int(value), numbers)


def _from_number(number: int, numbers: str) -> Level:
    if numbers == "syslog" and 0 <= number <= 7:  # noqa: PLR2004 - severities of syslog and GELF
        return from_severity(number)
    if numbers != "otlp":
        if number >= 10 and number % 10 == 0:  # noqa: PLR2004 - bunyan and pino
            return Level(min(6, max(1, number // 10)))
        if 0 <= number < len(_SMALL):
            return _SMALL[number]
    return Level(min(6, 1 + (number - 1) // 4)) if 0 < number <= 24 else Level.unknown  # noqa: PLR2004 - OTLP


def from_status(status: int) -> Level:
    """Return what an HTTP status hints at: from 500 on the server failed."""
    return Level.error if 500 <= status <= 599 else Level.unknown  # noqa: PLR2004 - the class of server errors


def from_severity(number: int) -> Level:
    """Return the level of a syslog severity, 0 to 7."""
    if number <= 2:  # noqa: PLR2004 - emerg, alert, crit
        return Level.fatal
    return (Level.error, Level.warning, Level.info, Level.info, Level.debug)[min(number, 7) - 3]
