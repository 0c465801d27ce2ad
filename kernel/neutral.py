"""Neutral text, pure: untrusted words without live mentions, links or images, cut to a number of bytes."""

from __future__ import annotations

import re
import unicodedata

_ELLIPSIS = "…"

#: Cf: zero-width and bidirectional characters, which hide a mention from us but not from a chat program.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co"})
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

#: Order matters only in that each result is inert for all the others.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # Slack and Feishu put mentions and links between angle brackets; so does HTML
    (re.compile("<"), "‹"),
    (re.compile(">"), "›"),
    # an entity would bring them back where a channel decodes it
    (re.compile(r"&(?=#?\w{1,31};)"), "＆"),
    # @all, @here, @everyone, @所有人, @13800000000, and addresses that mail programs link
    (re.compile(r"[@＠](?=\S)"), "(at)"),
    # Markdown: inline, image, reference and definition forms all need a bracket that touches what follows
    (re.compile(r"\](?=[(\[:])"), "] "),
    (re.compile(r"!(?=\[)"), "! "),
    # bare addresses: no scheme, no www, no link
    (re.compile(r"(?i)\b(h)tt(ps?)://"), r"\1xx\2[:]//"),
    # whatever its scheme, of one letter or of thirty
    (re.compile(r"(?i)(?<=[a-z0-9+.-])://"), "[:]//"),
    (re.compile(r"(?i)\b(mailto|tel|sms|javascript|data|vbscript):(?=\S)"), r"\1[:]"),
    (re.compile(r"(?i)\b(www)\.(?=\w)"), r"\1[.]"),
)


def neutralise(text: str) -> str:
    """Return the text with everything a channel could make live taken apart; readable, and safe to do twice."""
    text = _LINE_ENDS.sub("\n", text)
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _DROPPED)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def one_line(text: str) -> str:
    """Return the text on one line, for titles and subjects."""
    return " ".join(text.split())


def cut(text: str, max_bytes: int) -> str:
    """Return the text in at most `max_bytes` of UTF-8, cut between characters and marked with an ellipsis."""
    content = text.encode("utf-8", errors="replace")
    if len(content) <= max_bytes:
        return text
    room = max(0, max_bytes - len(_ELLIPSIS.encode()))
    return content[:room].decode("utf-8", errors="ignore") + (
        _ELLIPSIS if max_bytes >= len(_ELLIPSIS.encode()) else ""
    )
