"""Bytes of a log line into text that is safe to show: encodings, colour codes, invisible characters; pure."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]{0,2000}(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[\x1b\x9b]\[?[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]"  # CSI and two-character escapes
)
#: Zero-width, direction and tag characters: they hide text from people and not from models.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
#: A pair of bytes of GB 2312, the part of GBK that real text is made of.
_GB_PAIR = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")
_HIGH = re.compile(rb"[\x80-\xff]+")

#: Of the bytes above 127, so many must be pairs of GB 2312 before a line counts as GBK.
_GB_SHARE = 0.6
_GB_PAIRS = 2

#: Base64 lines of this length stand in private keys and certificates: no single line shows which.
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{60,76}={0,2}")
_HEX_LINE = re.compile(r"[0-9a-fA-F]+")


def decode(raw: bytes) -> str:
    """Return the text of one line: UTF-8, else GBK or Latin-1 where the bytes look like it, else with U+FFFD."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    loose = raw.decode("utf-8", errors="replace")
    bad = loose.count("\ufffd")
    if sum(1 for c in loose if c > "\x7f") - bad > bad:
        return loose  # UTF-8 with a few broken bytes
    runs = _HIGH.findall(raw)
    pairs = len(_GB_PAIR.findall(raw))
    if pairs >= _GB_PAIRS and pairs * 2 >= sum(map(len, runs)) * _GB_SHARE:
        try:
            return raw.decode("gb18030")
        except UnicodeDecodeError:
            pass
    return raw.decode("latin-1") if all(len(run) == 1 for run in runs) else loose


def clean(text: str) -> str:
    """Return the text without colour codes and invisible characters; other controls become spaces."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROL.sub(" ", _INVISIBLE.sub("", text))


def hide_key_line(text: str) -> str:
    """Return a stand-in for a line that may be the inside of a private key."""
    bare = text.strip()
    if len(bare) >= 60 and _KEY_LINE.fullmatch(bare) and not _HEX_LINE.fullmatch(bare):  # noqa: PLR2004 - PEM: 64
        return "<KEY LINE>"
    return text


def cut_words(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut with … between two words where there is a gap to cut at."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if not text[limit - 1].isspace():
        words = head.rsplit(None, 1)
        # one word longer than half of the room (a path, or CJK, which has no gaps) is cut where the room ends
        head = words[0] if len(words) > 1 and len(words[0]) >= limit // 2 else head
    return head.rstrip(" ,;:") + "…"


def cut(text: str, limit: int, around: str = "") -> str:
    """Return at most about `limit` characters, cut with …; keeps the head and what stands at `around`."""
    if len(text) <= limit:
        return text
    at = text.find(around) if around else -1
    if at < 0 or at + len(around) <= limit:
        return text[: limit - 1] + "…"
    head = limit // 4
    start = max(head, min(at - 20, len(text) - (limit - head)))
    end = start + limit - head
    return f"{text[:head]}…{text[start:end]}{'…' if end < len(text) else ''}"
