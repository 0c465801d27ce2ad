"""What looks like a value inside one word: coarse for telling kinds of lines apart, fine for showing them; pure."""

from __future__ import annotations

import re

WILD = "<*>"

TRAIL = ",.;:)]}>\"'"
_LEAD = "([{<\"'"

#: Delimiters inside a word, and a piece between them that carries a digit.
_VALUE = re.compile(r"[^\s\[\]()=,:;\"'<>{}|/]*\d[^\s\[\]()=,:;\"'<>{}|/]*")
_MERGED = re.compile(r"<\*>(?:[:/,.-]+<\*>)+")
_SIGNED = frozenset(["<<*>", "-<*>", "+<*>", "<*>%", "#<*>", "/<*>"])

_HOST_PORT = re.compile(r"/?[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|localhost:\d{2,5}\b")
#: `db.example.org`: small letters, at least two dots, and an end that names a zone; `java.lang.io` is a package.
_HOST = re.compile(
    r"(?!(?:com|org|net|java|javax|io|sun)\.)(?:[a-z\d-]{1,63}\.){1,12}(?:com|net|org|edu|gov|local|internal)"
    r"|(?!(?:com|org|net|java|javax|io|sun)\.)(?:[a-z\d-]{1,63}\.){2,12}[a-z]{2}"
)
_PATH = re.compile(
    r"(?:[A-Za-z]:(?=[/\\]))?(?:[/\\][\w.@~%+=:*$-]+)+[/\\]?(?:\?\S*)?|\.{1,2}/[\w.@~%+=:/-]+|[a-z][a-z\d+.-]{1,20}://\S+"
)
#: A path behind a sign or a bracket: `chdir(/p/gb2)`, `Error Path:/home/x`.
_INNER_PATH = re.compile(r"(?<=[(\[=:,\"'])(?:/[\w.@~%+*$-]+)+/?")
_MAC = re.compile(r"(?:[\dA-Fa-f]{2}[:-]){5,31}[\dA-Fa-f]{2}")
#: `rhost=db.example.org`, `path=/a/b`: a value that is more than a word.
_ASSIGNED = re.compile(r"([\w.-]+=)([^\s=,;\"']*[./\\-][^\s=,;\"']*)")
#: `user=root`: the word before the sign says that a name follows.
_NAME_ASSIGNED = re.compile(r"(?i)([\w.-]*(?:user|host|name|login|account)=)([^\s=,;\"'()\[\]{}]+)")
_BOOLEAN = re.compile(r"(?i)(?<![\w.<>/-])(?:true|false)(?![\w.<>/-])")

#: `core.2275`, `CPU#0`, `Server@33557fe4`, `enable.....0`: the part before the sign is a word.
_NUMBERED = re.compile(r"([A-Za-z][A-Za-z_.$-]*[A-Za-z][.#@-]+|[^\d]*\.{2,})(\d+|[\da-f]{6,16})")
_NUMBER = re.compile(r"(?:[+-]?\.?|~)\d|[vV]\d+\.\d")
_DIGIT = re.compile(r"\d")
_LONE_DIGITS = re.compile(r"(?<![A-Za-z\d_])\d+(?![A-Za-z\d_])")
#: `R62-M1-Nf-C`: dashes between groups of digits make an id.
_DASHED = re.compile(r"[A-Za-z_]*\d+[A-Za-z_]*-[\w-]*\d[\w-]*-[\w-]*")
#: So many digits in a piece that also has letters make it an id; fewer may belong to a word: `ssh2`, `L1`, `e820`.
_ID_DIGITS = 4

CALENDAR = re.compile(r"Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec")
#: Words of letters alone that are values: days and months, booleans, and a dump's word (no language has such a one).
_VALUE_WORD = re.compile(CALENDAR.pattern + r"|[tT]rue|[fF]alse|TRUE|FALSE|[a-f]{8,}")


def mask_word(word: str) -> tuple[str, str]:
    """Return the word with its values replaced: coarse, where any digit makes a value, and fine."""
    core = word.rstrip(TRAIL)
    if core.isalpha():
        return (both := WILD + word[len(core) :] if _VALUE_WORD.fullmatch(core) else word), both
    bare = core.lstrip(_LEAD)
    head, tail = core[: len(core) - len(bare)], word[len(core) :]
    if bare and (_PATH.fullmatch(bare) or _MAC.fullmatch(bare) or _HOST.fullmatch(bare)):
        return (both := head + WILD + tail), both
    if found := _ASSIGNED.match(word) or _NAME_ASSIGNED.match(word):
        certain = found[1][:-1].lower().endswith(_NAMES) or not found[2].replace(".", "").isalpha()
        coarse = found[1] + WILD + word[found.end() :]
        return coarse, coarse if certain else word
    if word == "()":
        return "(<*>)", "(<*>)"  # a value that is empty this time
    core = _INNER_PATH.sub(WILD, core)
    if _DIGIT.search(core) is None:
        both = _BOOLEAN.sub(WILD, core) + tail
        return both, both
    if found := _HOST_PORT.match(bare):
        return (both := head + WILD + bare[found.end() :] + tail), both
    core = _MAC.sub(WILD, core)
    return _tidy(_VALUE.sub(_coarse, core) + tail), _tidy(_VALUE.sub(_fine, core) + tail)


_NAMES = ("user", "host", "name", "login", "account")


def _tidy(masked: str) -> str:
    masked = _BOOLEAN.sub(WILD, _MERGED.sub(WILD, masked))
    return WILD if masked in _SIGNED else masked


def _coarse(found: re.Match[str]) -> str:
    numbered = _NUMBERED.fullmatch(found[0])
    return numbered[1] + WILD if numbered and ".." in numbered[1] else WILD


def _fine(found: re.Match[str]) -> str:
    piece = found[0]
    if _NUMBER.match(piece) or _HOST.fullmatch(piece):
        return WILD
    if numbered := _NUMBERED.fullmatch(piece):
        return numbered[1] + WILD
    if sum(c.isdigit() for c in piece) >= _ID_DIGITS or _DASHED.fullmatch(piece):
        return WILD
    return _LONE_DIGITS.sub(WILD, piece)
