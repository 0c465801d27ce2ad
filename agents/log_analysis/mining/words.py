"""What looks like a value inside one word: coarse for telling kinds of lines apart, fine for showing them; pure."""

from __future__ import annotations

import re

WILD = "<*>"

TRAIL = ",.;:)]}>\"'"
_LEAD = "([{<\"'"

#: Delimiters inside a word, and a piece between them that carries a digit.
#: Scripts written without blanks end a piece: the number in `用户123登录失败` is a value, its neighbours are not.
#: The letter in `12µs`, of which there are two, is none of them.
_PART = r"[^\s\[\]()=,:;\"'<>{}|/#\u0080-\u00b4\u00b6-\u03bb\u03bd-\U0010ffff]*"
_VALUE = re.compile(_PART + r"[0-9]" + _PART)
_MERGED = re.compile(r"<\*>(?:[:/,.-]+<\*>)+")
_SIGNED = frozenset(["<<*>", "-<*>", "+<*>", "<*>%", "#<*>", "/<*>"])

_ADDRESS = re.compile(
    r"/?[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|localhost:\d{2,5}\b|[A-Za-z]\w*-[\w-]*:\d{2,5}\b"
    r"|[\w.-]+/(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b"
    r"|(?:[\dA-Fa-f]{1,4}:){1,7}:(?:[\dA-Fa-f]{1,4}:){0,6}[\dA-Fa-f]{1,4}\b"
    r"|(?:[\dA-Fa-f]{1,4}:){4,7}[\dA-Fa-f]{1,4}\b"
)
#: `db.example.org`: small letters, at least two dots, and an end that names a zone; `java.lang.io` is a package.
_HOST = re.compile(
    r"(?!(?:com|org|net|java|javax|io|sun)\.)(?:[a-z\d-]{1,63}\.){1,12}(?:com|net|org|edu|gov|local|internal)"
    r"|(?!(?:com|org|net|java|javax|io|sun)\.)(?:[a-z\d-]{1,63}\.){2,12}[a-z]{2}"
)
#: `sweep.c:1455`: a line of a program, not a port of a host.
_SOURCE_LINE = re.compile(
    r"([\w/-]+\.(?:c|cc|cpp|cxx|h|hpp|m|java|kt|scala|py|go|rs|js|ts|rb|cs|php|ex|lua|pl|sh|swift)):\d{1,6}"
)
_PATH = re.compile(
    r"(?:[A-Za-z]:(?=[/\\]))?(?:[/\\][\w.@~%+=:*$-]+)+[/\\]?(?:\?\S*)?|\.{1,2}/[\w.@~%+=:/-]+|[a-z][a-z\d+.-]{1,20}://\S+"
    r"|(?:[a-z]\w*\.){2,12}\w+/[\w.$]+"
)
#: A path behind a sign or a bracket: `chdir(/p/gb2)`, `Error Path:/home/x`.
_INNER_PATH = re.compile(r"(?<=[(\[=:,\"'])(?:/[\w.@~%+*$-]+)+/?")
_INNER_URL = re.compile(r"(?<=[=(\[\"'<])[a-z][a-z\d+.-]{1,20}://[^\s,;\"'()\[\]{}<>|]+")
_MAC_SIGNS = 5
_MAC = re.compile(r"(?:[\dA-Fa-f]{2}[:-]){5,31}[\dA-Fa-f]{2}")
#: `rhost=db.example.org`, `path=/a/b`: a value that is more than a word.
_ASSIGNED = re.compile(r"(?:(?<=[\w\])]=)|(?<==[\[{(]))(?!<)[^\s=,;()\[\]{}\"']*[./\\-][^\s=,;()\[\]{}\"']*")
#: `user=root`: the word before the sign says that a name follows.
_NAME_ASSIGNED = re.compile(r"(?i)((?:user|host|name|login|account)=)([^\s=,;\"'()\[\]{}]+)")
_BOOLEAN = re.compile(
    r"(?i)(?<![\w.<>/-])(?:true|false|[a-f]{7,})(?![\w.<>/-])|(?<==)(?:null|none|nil)(?![\w.<>/-])"
)
#: `tag="View Lock"`: what is quoted behind a sign is one value, blanks and all (they come as BLANK).
_QUOTED = re.compile(r"(?<==)([\"'])[^\"']*\1")
BLANK = "\ue000"
#: `[a, b, c]`, with blanks as BLANK.
_LIST = re.compile(r"[\[({][^\[\](){}]{1,256}[\])}]")

#: `'orders'`, `("orders"),`: a word in quotes is a value, though it may never change; before a colon it is a key.
_QUOTED_WORD = re.compile(r"([\[({<]*([\"']))([^\"'\s]+)(\2[,.;)\]}>]*)")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}\.[A-Za-z]{2,12}")
#: `com.example.orders.Reader`: which package or class it is seldom makes another kind of line, which error does.
_DOTTED = re.compile(r"(?!\S*(?:Exception|Error)$)[A-Za-z_][\w$]*(?:\.[A-Za-z_$][\w$]*){2,12}")
#: `服务[shop-api]注册成功`, `用户：ann，`, `“张伟”`: in scripts without blanks, signs tell values from words.
_NAMED_AMONG = re.compile(r"(?<=[\[【「（：=])[A-Za-z/][\w./?=@-]*|(?<=“)[^”<>]{1,64}(?=”)", re.ASCII)
#: `[]`, `parameters={}`, `ruser=`: a value that is empty this time.
_EMPTY = re.compile(
    r"(?<=\[)(?=\])|(?<=\{)(?=\})|(?<=\w=)(?=[,;)\]}]|$)|(?<=\w\()(?=\))|(?<=^\")(?=\"$)|(?<=^')(?='$)"
)

_NOTHING = ('""', "''")

#: `core.2275`, `CPU#0`, `Server@33557fe4`, `enable.....0`: the part before the sign is a word.
_NUMBERED = re.compile(
    r"([A-Za-z][A-Za-z_.$-]*[A-Za-z][.#@-]+|@|[^\d]*\.{2,})(\d+|[\da-f]{6,16}|0x[\da-fA-F]+)"
)
_NUMBER = re.compile(r"(?:[+-]?\.?|~)\d|[vV]\d+\.\d")
_DIGIT = re.compile(r"\d")
_LONE_DIGITS = re.compile(r"(?<![A-Za-z\d_])\d+(?![A-Za-z\d_])")
#: `R62-M1-Nf-C`: dashes between groups of digits make an id.
_DASHED = re.compile(r"[A-Za-z_]*\d+[A-Za-z_]*-[A-Za-z_-]*\d\w*-[\w-]*")
#: So many digits in a piece that also has letters make it an id; fewer may belong to a word: `ssh2`, `L1`, `e820`.
#: And so does a name of many letters: `IO80211PeerManager`.
_ID_DIGITS, _ID_SHARE = 4, 0.3

CALENDAR = re.compile(r"Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec")
#: A longer word is a dump, whatever it holds. It also bounds what the patterns here can cost.
_LONGEST = 256
_SIGN = re.compile(r"[A-Za-z_.]{1,64}[:=](?!//)")
#: Words of letters alone that are values: days and months, booleans, and a dump's word (no log has such a one).
_VALUE_WORD = re.compile(CALENDAR.pattern + r"|[tT]rue|[fF]alse|TRUE|FALSE|[a-f]{7,}")


def mask_word(word: str) -> tuple[str, str]:
    """Return the word with its values replaced: coarse, where any digit makes a value, and fine."""
    core = word.rstrip(TRAIL)
    tail = word[len(core) :]
    if core.isalpha():
        return (both := WILD + tail if _VALUE_WORD.fullmatch(core) else word), both
    if core.isdigit():
        return (both := WILD + tail), both
    if len(word) > _LONGEST:
        sign = _SIGN.match(word)
        return (both := (sign[0] if sign else "") + WILD), both
    if word == "()":
        return "(<*>)", "(<*>)"  # a value that is empty this time
    if BLANK in word and '="' not in word and (found := _LIST.search(word)):
        return _listed(word[: found.start()], found[0], word[found.end() :])
    if ("'" in word or '"' in word) and (found := _QUOTED_WORD.fullmatch(word)):
        return f"{found[1]}{WILD}{found[4]}", found[1] + mask_word(found[3])[1] + found[4]
    coarse, fine = _masked(word, core, tail)
    if not word.isascii():
        coarse = _NAMED_AMONG.sub(WILD, coarse)
    empty = "=" in word or "()" in word or "[]" in word or "{}" in word or word in _NOTHING
    return _EMPTY.sub(WILD, coarse) if empty else coarse, fine.replace(BLANK, " ")


def _listed(head: str, listed: str, rest: str) -> tuple[str, str]:
    """Mask a list in brackets: it is one value, however many it lists."""
    before, after = mask_word(head), mask_word(rest)
    fine = " ".join(mask_word(piece)[1] for piece in listed[1:-1].split(BLANK))
    return (
        f"{before[0]}{listed[0]}{WILD}{listed[-1]}{after[0]}",
        f"{before[1]}{listed[0]}{fine}{listed[-1]}{after[1]}",
    )


def _masked(word: str, core: str, tail: str) -> tuple[str, str]:
    bare = core.lstrip(_LEAD)
    if whole := _whole(bare):
        head = core[: len(core) - len(bare)]
        return head + whole[0] + tail, head + whole[1] + tail
    if "://" in core:
        word, core = _INNER_URL.sub(WILD, word), _INNER_URL.sub(WILD, core)
    if "=" in word:
        return _assigned(word)
    if "." in bare and tail[:1] != ":" and _DOTTED.fullmatch(bare):
        head = core[: len(core) - len(bare)]
        return head + WILD + tail, head + _tidy(_VALUE.sub(_fine, bare)) + tail
    core = _INNER_PATH.sub(WILD, core) if "/" in core else core
    if _DIGIT.search(core) is None:
        return (both := _BOOLEAN.sub(WILD, core) + tail), both
    core = _MAC.sub(WILD, core) if core.count(":") >= _MAC_SIGNS else core
    return _tidy(_VALUE.sub(_coarse, core) + tail), _tidy(_VALUE.sub(_fine, core) + tail)


def _whole(bare: str) -> tuple[str, str] | None:
    """Return how a word reads that is a value as a whole: a path, an address, a host, a place in a program."""
    slash, colon = "/" in bare or "\\" in bare, ":" in bare
    if slash and _PATH.fullmatch(bare):
        return WILD, WILD
    if (colon or "-" in bare) and _MAC.fullmatch(bare):
        return WILD, WILD
    if "." in bare and (_HOST.fullmatch(bare) or ("@" in bare and _MAIL.fullmatch(bare))):
        return WILD, WILD
    if colon and (found := _SOURCE_LINE.fullmatch(bare)):
        return WILD, f"{found[1]}:{WILD}"
    if (colon or slash) and (found := _ADDRESS.match(bare)):
        return (both := _tidy(WILD + _VALUE.sub(WILD, bare[found.end() :]))), both
    return None


def _assigned(word: str) -> tuple[str, str]:
    """Mask a word with names and signs, `a=1,b="x y"`: quoted strings, names, and whatever is more than a word."""
    text = _NAME_ASSIGNED.sub(rf"\1{WILD}", _INNER_PATH.sub(WILD, _QUOTED.sub(f"\\1{WILD}\\1", word)))
    text = _MAC.sub(WILD, text) if text.count(":") >= _MAC_SIGNS else text
    coarse = _VALUE.sub(_coarse, _ASSIGNED.sub(WILD, text))
    return _tidy(coarse), _tidy(_VALUE.sub(_fine, _ASSIGNED.sub(_more_than_a_word, text)))


def _more_than_a_word(found: re.Match[str]) -> str:
    return found[0] if found[0].replace(".", "").isalpha() else WILD


def _tidy(masked: str) -> str:
    masked = _BOOLEAN.sub(WILD, _MERGED.sub(WILD, masked))
    return WILD if masked in _SIGNED else masked


def _coarse(found: re.Match[str]) -> str:
    numbered = _NUMBERED.fullmatch(found[0])
    return numbered[1] + WILD if numbered and ".." in numbered[1] else WILD


def _fine(found: re.Match[str]) -> str:
    return "##".join(map(_fine_piece, found[0].split("##")))


def _fine_piece(piece: str) -> str:
    if _NUMBER.match(piece) or _HOST.fullmatch(piece):
        return WILD
    if numbered := _NUMBERED.fullmatch(piece):
        return numbered[1] + WILD
    digits = sum(c.isdigit() for c in piece)
    if (digits >= _ID_DIGITS and digits >= _ID_SHARE * len(piece)) or _DASHED.fullmatch(piece):
        return WILD
    return _LONE_DIGITS.sub(WILD, piece)
