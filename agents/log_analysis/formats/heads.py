"""What stands between a line's level and its message: threads, loggers, callers, applications, ids of traces; pure."""

from __future__ import annotations

import re
from typing import NamedTuple

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_EDGE = re.compile(r"[ \t\-|:：,\]>)]*")
#: A bracket, in which others may stand: `[QuorumPeer[myid=1]/0:0:2181:Election@774]`.
_BRACKET = re.compile(
    r"(?:\[((?:[^\[\]]|\[[^\[\]]{0,40}\]){0,120})\]|【([^】]{1,40})】|\(([\w .#:/-]{1,60})\)(?= ))[ \t]*(?:[-:] +)?"
)
#: Numbers of processes, and the dashes of Spring Boot.
_PROCESS = re.compile(r"\d{1,7}\s{1,3}(?:---\s{1,3}(?=\[)|(?=\[))|---\s{1,3}(?=\[)")
#: A logger and what parts it from the message; what it has of its own (`key=value`, `{…}`, `[…]`) belongs to it.
_LOGGER = re.compile(
    rf"([A-Za-z_/{_CJK}](?:[\w.$#/@{_CJK}-]|::|\[[\w.$/-]{{0,40}}\]){{1,100}}+)"
    r"(?P<at>(?::[\w<>$]{1,60})?:\d{1,6})?+"
    r"(?:(?P<own>(?: [\w.-]{1,40}=[^\s=]{0,80}){1,8}| \{[^{}]{0,300}\}| \[[^\[\]]{0,100}\])?(?P<dash> --? )(?=\S)"
    r"|(?P<wide>\s{1,40}:\s)|(?P<sign>:\s)|(?P<close>\]\s))"
)
#: What tracing of Rust puts before the target: `request{id=12}: shop::checkout: `.
_SPANS = re.compile(r"(?:[\w.-]{1,60}\{[^{}]{0,300}\}:){1,6} ?(?=[\w:]{2,80}: )")
#: Where a line was written: `pkg/file.go:12`, in a column or before a sign.
_CALLER = re.compile(r"[\w./@+-]{1,160}\.[a-z]{1,5}:\d{1,6}(?:\t| > )")
_COLUMN = re.compile(r"([A-Za-z][\w./-]{1,60})\t(?=[^\t])")
#: `ERROR:name:text` of Python, `ERROR in name: text` of Flask, `ERROR/MainProcess] text` of Celery,
#: `ERROR -- name: text` of Ruby.
_TIGHT = re.compile(
    r"(?::([A-Za-z_][\w.-]{0,60}):(?=\S)| in (\w[\w.]{0,60}): |/[\w:-]{2,40}\] | -- (\w[\w.:-]{0,60}): )"
)
_TIGHTLY = (":", "/", " in ", " -- ")
#: What most heads are, asked first: a class and a sign.
_USUAL = re.compile(
    r"[ \t\-|:：,\]>)]*([A-Za-z_$][\w$]{0,60}+(?:\.[A-Za-z_$][\w$-]{0,60}+){1,14}+)(?: --? (?=\S)|\s{0,40}:\s)"
)
#: A class of at least three parts, whose message follows without a sign, or a request in brackets.
_DOTTED = re.compile(r"([A-Za-z_]\w{0,60}(?:\.[\w$]{1,80}){2,12})\s(?=\S)")
_REQUEST = re.compile(r"[ |]{0,4}([A-Za-z_]\w{0,60}+(?:\.[\w$]{1,80}+){1,12}+) \[([^\[\]]{1,200})\] ?(--? )?")
#: Names that only threads have, and names with a number, which have them too.
_THREAD = re.compile(
    r"(?i)(?:main|background|\w{0,40}thread\S{0,60}"
    r"|[\w.-]{0,60}(?:pool|worker|exec|loop|scheduling|default task)\S{0,60})"
)
_NUMBERED = re.compile(r"[\w .:|/-]{0,90}[#_-]\d{1,9}(?:[/-].{0,60})?")
_ID = re.compile(
    r"(?i)(?:x-)?(?:trace|span|request|req|correlation|tid|transaction)[\w.-]{0,12}"
    r"(?:[=: ].*|-?[0-9a-f]{8}-[0-9a-f-]{20}.*)"
    r"|req-[0-9a-f]{8}-.*|(?=.{0,30}\d)[0-9a-f]{16,32}(?:[,: /-][0-9a-f]{0,32}){0,4}(?:,(?:true|false))?"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[,\s-]{0,9}"
)
#: An application and its ids, as Sleuth writes.
_TRACED = re.compile(r"([A-Za-z][\w.-]{1,60})(?:,[0-9a-fA-F-]{0,36}){1,3}(?:,(?:true|false)?)?")
_CLASS = re.compile(r"[A-Za-z_$][\w$]{0,60}(?:\.[\w$#-]{1,80}){1,14}|\w{1,60}(?:::\w{1,60}){1,8}")
_CHINESE = re.compile(rf"[\w-]{{0,20}}[{_CJK}][\w-]{{0,20}}")
_APPLICATION = re.compile(r"[a-z][a-z0-9]{1,30}(?:[_-][a-z0-9]{1,30}){0,5}|[A-Z][a-z]\w{1,40}")
_NAME = re.compile(r"[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{0,30}){1,6}")
#: Names of loggers that nobody named, and words that are values where they stand in brackets.
_UNNAMED = frozenset(
    ("root", "main", "__main__", "default", "null", "nil", "none", "ok", "fail", "failed", "done")
)
#: The number of a process behind its name.
_PID = re.compile(r"(?:\[\d{1,10}\]|(?<=[\w\]]):)(?=\s)")
#: What stands alone before a level that is no name: `got ERROR from upstream`.
_VERBS = frozenset(
    ("a", "an", "got", "if", "in", "is", "no", "on", "the", "with", "found", "raised", "returned", "returns")
)
#: A thread, a class and a line, as ZooKeeper writes.
_PLACED = re.compile(r"[^@]{0,100}?([A-Z]\w{1,60})(?:\$\w{1,60})?@\d{1,6}")
#: Names of files, not of classes.
_FILE = re.compile(r".*\.(?:py|go|js|ts|rb|java|cs|cpp|cc|c|rs|php)")
_ITEMS = 6
_NUMBERS = frozenset("-0123456789")


class Head(NamedTuple):
    """Who wrote a line: `service` is an application or a class, `logger` a name that may be less; `end` of the head."""

    service: str = ""
    logger: str = ""
    end: int = 0


NOBODY = Head()


def head(text: str) -> Head:
    """Return the head of what follows a level, up to the message."""
    if text.startswith(_TIGHTLY) and (found := _TIGHT.match(text)):
        return _named(found[1] or found[2] or found[3] or "", found.end())
    if found := _USUAL.match(text) or _REQUEST.match(text):
        own = found.lastindex == 1 or found[3] or _ID.fullmatch(found[2]) or _thread(found[2])
        return Head(found[1], "", found.end() if own else found.end(1) + 1)
    at = _edge(text, 0)
    if "\t" in text[:at]:
        return _columns(text, at)
    if " > " in text and (caller := _CALLER.match(text, at)):
        return Head(end=caller.end())
    items, at, dashed = _items(text, at)
    if "{" in text and (spans := _SPANS.match(text, at)):
        at = spans.end()
    signed = " -" in text or ":" in text or "]" in text
    found = _LOGGER.match(text, at) if signed else None
    if found and (named := _logger(found, bool(items or dashed))) is not None:
        application = _application([word for word, _ in items])
        return Head(application or named.service, "" if application else named.logger, found.end())
    if items and (found := _DOTTED.match(text, at)):
        return Head(found[1], "", found.end())
    return _bracketed(items)


def before(text: str) -> Head:
    """Return who is named between the time and the level."""
    items = [_inner(bracket) for bracket in _BRACKET.finditer(text)] if "[" in text or "【" in text else []
    for word in items:
        if (named := _whose(word)) != NOBODY:
            return named
    words = (_BRACKET.sub(" ", text) if items else _PID.sub(" ", text)).strip(" \t-|:[(<").split()
    if len(words) != 1 or words[0] in _VERBS or not (words[0].islower() or _CLASS.fullmatch(words[0])):
        return NOBODY
    return _named(words[0], 0)


def _edge(text: str, at: int) -> int:
    found = _EDGE.match(text, at)
    return found.end() if found else at


def _inner(found: re.Match[str]) -> str:
    return (found[1] or found[2] or found[3] or "").strip()


def _thread(word: str) -> bool:
    return _THREAD.fullmatch(word) is not None or _NUMBERED.fullmatch(word) is not None


def _named(word: str, end: int) -> Head:
    """Return who a word names that stands where names stand."""
    if word in _UNNAMED or _FILE.fullmatch(word):
        return Head(end=end)
    if _CLASS.fullmatch(word) or _CHINESE.fullmatch(word):
        return Head(word, "", end)
    return Head("", word, end) if _APPLICATION.fullmatch(word) else Head(end=end)


def _whose(word: str) -> Head:
    """Return who a word in brackets names: it may be a thread instead."""
    if "@" in word and (found := _PLACED.fullmatch(word)):
        return Head("", found[1])
    return NOBODY if _thread(word) else _named(word, 0)


def _columns(text: str, at: int) -> Head:
    """Return the head of a line in columns: a logger, where it was written, the message (zap)."""
    logger = ""
    if (found := _COLUMN.match(text, at)) and not _CALLER.match(text, at):
        logger, at = found[1], found.end()
    if caller := _CALLER.match(text, at):
        at = caller.end()
    return Head("", logger, at)


def _items(text: str, at: int) -> tuple[list[tuple[str, int]], int, bool]:
    """Return what stands in brackets, each with its end, where they end, and whether a process stands before them."""
    items: list[tuple[str, int]] = []
    process = False
    for _ in range(_ITEMS):
        if text[at : at + 1] in _NUMBERS and (found := _PROCESS.match(text, at)):
            process, at = True, found.end()
        if text[at : at + 1] not in ("[", "【", "(") or not (found := _BRACKET.match(text, at)):
            break
        at = found.end()
        items.append((_inner(found), at))
    return items, at, process


def _application(words: list[str]) -> str:
    """Return the application that stands in brackets with a thread, or with ids."""
    if len(words) == 1 and "," not in words[0] and words[0].isascii():
        return ""
    for place, word in enumerate(words):
        if "," in word and (traced := _TRACED.fullmatch(word)):
            return traced[1]
        others = words[:place] + words[place + 1 :]
        if _CHINESE.fullmatch(word) or (
            _APPLICATION.fullmatch(word)
            and not _thread(word)
            and word not in _UNNAMED
            and any(other and (_thread(other) or _ID.fullmatch(other)) for other in others)
        ):
            return word
    return ""


def _logger(found: re.Match[str], headed: bool) -> Head | None:
    """Return who a logger before a sign is; None where it may be a word of the message."""
    name = found[1].rstrip(":")
    if _CLASS.fullmatch(name.partition("[")[0]) or "::" in name:
        return Head(name) if name[:1] != "/" else None
    if found["close"]:
        return None
    if _CHINESE.fullmatch(name):
        return Head(name) if found["dash"] or found["wide"] else None
    plain = found["sign"] and not found["at"]
    if headed and (found["wide"] or found["dash"]):
        return Head("", "" if name in _UNNAMED else name)
    if plain or found["wide"]:
        return None
    if found["dash"] and name.islower() and not found["at"]:
        return Head(name) if name not in _UNNAMED else NOBODY
    return Head("", name) if found["at"] or _NAME.fullmatch(name) else None


def _bracketed(items: list[tuple[str, int]]) -> Head:
    """Return the head that brackets make by themselves, up to the first that may belong to the message."""
    known, end = NOBODY, 0
    for word, after in items:
        named = NOBODY if known != NOBODY else _whose(word)
        if named != NOBODY:
            known = named
        elif not (_ID.fullmatch(word) or _THREAD.fullmatch(word) or (known != NOBODY and _thread(word))):
            break
        end = after
    return known._replace(end=end)
