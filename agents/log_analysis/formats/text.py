"""Bytes of a log line into text that is safe to show: encodings, colour codes, invisible characters; pure."""

from __future__ import annotations

import re

#: Sequences that only colour, move or link. They count where they are whole: an open one would swallow the text.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]{0,2000}\x1b\\"  # DCS, SOS, PM, APC
    r"|[\x1b\x9b]\[[0-?]{0,40}[ -/]{0,4}[@-~]"  # CSI: colours, moves
    r"|\x1b(?:[()][A-Z0-2]|[78=>M])"  # character sets, saved places
)
#: Characters of no width: they part words for machines and not for people. What they hide is shown by their going.
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff]")
#: Controls, line separators, characters that turn the direction of writing, and tags, which only models read.
_CONTROL = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2065-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_NAMED = {"\n": "\\n", "\r": "\\r", "\x0b": "\\v", "\x0c": "\\f", "\x08": "\\b", "\x07": "\\a"}
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
    """Return the text without colour codes and characters of no width; other controls are shown as escapes."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROL.sub(_shown, _INVISIBLE.sub("", text))


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x100:  # noqa: PLR2004 - two hexadecimal digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the first plane


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
    if at < 0 or (at <= limit // 2 and at + len(around) <= limit):  # what stands late has its end later still
        return text[: limit - 1] + "…"
    head = limit // 4
    start = max(head, min(at - 20, len(text) - (limit - head)))
    end = start + limit - head
    return f"{text[:head]}…{text[start:end]}{'…' if end < len(text) else ''}"
