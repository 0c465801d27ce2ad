"""Lines of text: access logs, syslog, glog, labelled lines, and any other with a time or a level in it; pure."""

from __future__ import annotations

import re

from agents.log_analysis.formats.columns import REDIS, REDIS_SIGNS, status_of
from agents.log_analysis.formats.heads import NOBODY, Head, before, head
from agents.log_analysis.formats.hints import hint
from agents.log_analysis.formats.levels import (
    Level,
    from_severity,
    from_status,
    from_text,
    from_value,
    from_word,
)
from agents.log_analysis.formats.record import Record
from agents.log_analysis.formats.times import Stamps

_ACCESS = re.compile(
    r"^\S{1,255}(?: [^\s\[]\S{0,255}){0,4} \[(\d{1,2}/\w{3}/\d{4}:[^\]]{8,24})\] "
    r"(?=\"(?:[^\"\\]|\\.){0,9000}\" (\d{3}|-) )"
)
_AUDIT = re.compile(r"^(?:node=(\S{1,255}) )?(type=\S{1,60}) msg=audit\((\d{10}\.\d{1,9}):\d{1,12}\): ?")
#: What journalctl says between the lines of the log.
_JOURNAL = re.compile(r"-- (?:Logs begin|Journal begins|Boot [0-9a-f]{32}|Reboot|No entries|Subject:)")
_SLOW = ("# Time: ", "# User@Host: ")
_LABELLED = re.compile(r"^(\S{1,24}) (\d{10}) \d{4}\.\d{2}\.\d{2} (\S{1,64}) ")
_GLOG = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d+ ([\w./-]{1,120}):\d+\] ?")
_SYSLOG = re.compile(r"^\s?([\w.:-]{1,255}) ([\w./()@:-]{1,60}?)(?:\[(\d{1,10})\])?:(?: |$|(?=\D))")
_SYSLOG_5424 = re.compile(
    r"^\s?([\w.:-]{1,255}) ([\w./-]{1,48}) ([\w./-]{1,128}) ([\w./-]{1,32}) "
    r"(?:-|(?:\[[\w@.-]{1,64}(?: [\w.@-]{1,64}=\"(?:[^\"\\]|\\.){0,2000}\"){0,60}\]){1,10})(?: |$)"
)
_SD_LEVEL = re.compile(r"\b(?:level|severity|lvl)=\"(\w{1,12})\"")
_SD = 1000
_PRIORITY = re.compile(r"^<(\d{1,3})>(?:1 )?")
#: The level at the end of what stands before the message, and where it ends at least if a name is before it.
_LEVEL, _SHORTEST = re.compile(r"[^\W\d_]{1,16}$"), 7
_EDGE = " \t-|:：,]>)"
#: What stands between the time and the level (process id, thread) is dropped if it is this short.
_BEFORE_LEVEL = 48
#: What a line with a time looks like after it; asked of the first lines of a file only.
_SHAPES = (
    (
        "log4j",
        re.compile(r"^\]?\s{0,3}(?:- )?\[?[A-Z]{4,7}\]?\s{1,3}(?:\d+ )?(?:--- )?(?:\[|[\w$]{1,80}[.:])"),
    ),
    ("log4j", re.compile(r"^\s{1,3}\[[^\]]{1,80}\]\s{1,3}[A-Z]{4,7}\s{1,3}\S")),
    ("python", re.compile(r"^\s?[-:] ?(?:[\w.]{1,80} ?[-:] ?)?[A-Z]{4,8} ?[-:]")),
)
_SAMPLE = 200


class TextReader:
    """Reads lines of text; `form` is what the last one was."""

    def __init__(self, stamps: Stamps) -> None:
        self.form = "plain"
        self._stamps = stamps
        self._shapes: dict[str, int] = {}
        self._asked = 0
        self._usual = ""

    def read(self, text: str) -> Record:
        """Return what a line says."""
        first = text[:1]
        if '"' in text and (found := _ACCESS.match(text)):
            return self._access(text, found)
        if first in "IWEF" and (found := _GLOG.match(text)) and (stamp := self._stamps.find(text)):
            self.form = "glog"
            level = from_text(text[:6])[0]
            return Record(stamp[0], level, text[found.end() :], True, found[2], structured=True)
        if found := _LABELLED.match(text):
            # the label tells people what the line is: a reader that used it would know the answer
            inner = self._text(text[found.end() :])
            time = self._stamps.value(found[2])
            self.form = "labelled"
            inner.time, inner.host, inner.structured = time, inner.host or found[3], True
            return inner
        if first == "<" and (found := _PRIORITY.match(text)) and int(found[1]) < 192:  # noqa: PLR2004 - 24 facilities
            return self._with_priority(text[found.end() :], from_severity(int(found[1]) & 7))
        return self._text(text)

    def audited(self, text: str) -> Record | None:
        """Return what a line of the audit log says, or None where it is none."""
        found = _AUDIT.match(text) if " msg=audit(" in text else None
        if found is None:
            return None
        message = f"{found[2]} {text[found.end() :]}"
        time = self._stamps.value(found[3])
        return Record(time, hint(message), message, host=found[1] or "", structured=True)

    def _access(self, text: str, found: re.Match[str]) -> Record:
        self.form = "access"
        level = from_status(int(found[2])) if found[2] != "-" else Level.unknown
        message = text[found.end() :]
        time = self._stamps.value(found[1])
        return Record(time, level or hint(message), message, bool(level), structured=time is not None)

    def _with_priority(self, text: str, priority: Level) -> Record:
        record = self._text(text)
        if not self.form.startswith("syslog"):
            self.form = "syslog"
        record.level = max(record.level, priority) if record.named else priority
        record.named = record.structured = True
        return record

    def _text(self, text: str) -> Record:
        first = text[:1]
        if first == "-" and _JOURNAL.match(text):
            self.form = "plain"
            return Record(None, Level.unknown, text)
        found = self._stamps.find(text)
        time, rest = None, text
        if found:
            time, start, end = found
            rest = (
                text[end:] if start <= _BEFORE_LEVEL and text[start] not in "| " else text
            )  # the value of a field
        if first == "#" and text.startswith(_SLOW):
            self.form = "slowlog"
            return Record(time, Level.unknown, text, structured=True)
        level, stop = _level(text, rest, found[1]) if found else from_text(rest)
        timed = found is not None
        # RFC 5424 wants a T in its time; without it this is `time - name - LEVEL - message`
        modern = found is not None and "T" in text[found[1] : found[2]]
        who, host, message = self._head(rest, stop, timed=timed, modern=modern)
        if self.form == "syslog5424" and not level and (word := _SD_LEVEL.search(rest, 0, _SD)):
            level = from_value(word[1])
        named = bool(level)
        request = '"' in text or "tatus" in text or "HTTP/" in text or "TCP_" in text
        if request and (status := status_of(text)):
            level = max(level, from_status(status))
        level = level or hint(message)
        return Record(time, level, message, named, who.service, host, structured=timed, logger=who.logger)

    def _head(self, rest: str, stop: int, *, timed: bool, modern: bool) -> tuple[Head, str, str]:
        """Return who wrote what follows the time, the host and the message; `stop` is where the level ends."""
        self.form = "text" if timed else "plain"
        if timed and rest[:1] == " ":
            if modern and (found := _SYSLOG_5424.match(rest)) is not None:
                self.form = "syslog5424"
                message = rest[found.end() :].removeprefix("\ufeff").strip()
                return Head(found[2]), found[1], message or rest.strip()
            if (found := _SYSLOG.match(rest)) and (not stop or stop >= found.end()):
                self.form = "syslog"
                name = found[2].partition("(")[0].rsplit("/", 1)[-1]
                return Head(name), found[1], rest[found.end() :]
        if timed:
            self.form = self._shape(rest)
        if not 0 < stop <= _BEFORE_LEVEL + 12:
            return NOBODY, "", rest.strip().lstrip(_EDGE) or rest.strip()
        who = head(rest[stop:])
        if not (who.service or who.logger) and stop > _SHORTEST:
            who = before(_LEVEL.sub("", rest[:stop]))._replace(end=who.end)
        message = rest[stop + who.end :].strip()
        return who, "", message if who.end and message else message.lstrip(_EDGE) or rest.strip()

    def _shape(self, rest: str) -> str:
        """Return what kind of text a line is: by its own look in the first lines, later as most of these were."""
        if self._asked < _SAMPLE:
            self._asked += 1
            form = next((name for name, pattern in _SHAPES if pattern.match(rest)), "text")
            self._shapes[form] = self._shapes.get(form, 0) + 1
            return form
        self._usual = self._usual or max(self._shapes, key=lambda f: self._shapes[f])
        return self._usual


def _level(text: str, rest: str, start: int) -> tuple[Level, int]:
    """Return the level of a line whose time begins at `start`, and where its word ends in what follows the time."""
    level, stop = from_text(rest)
    if rest[:3] in REDIS_SIGNS and REDIS.match(text, 0, start):
        return max(level, from_word(REDIS_SIGNS[rest[:3]])), max(stop, 3)
    # before the time: `MainThread::ERROR::2011-…`, `<11>Nov 29 …`, `I0102 …`
    if not level and (start or text[:1] in "IWEF"):
        level = from_text(text[: start or 6])[0]
    return level, stop
