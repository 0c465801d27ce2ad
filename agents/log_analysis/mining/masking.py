"""Turns a message into template tokens: what looks like a value becomes <*>; pure and memoised."""

from __future__ import annotations

import re

WILD = "<*>"

#: Tokens of one message that are looked at; the rest of a very long message says little about its kind.
TOKEN_LIMIT = 60

_MEMO_LIMIT = 50_000

_HOST_PORT = re.compile(r"^[\w-]+(?:[.-][\w-]+)+:\d{2,5}\b|^localhost:\d{2,5}\b")
_PATH = re.compile(r"^(?:[A-Za-z]:)?(?:[/\\][\w.@~%+=:-]+){2,}[/\\]?$|^[a-z][a-z0-9+.-]*://\S+$")
#: A piece of a token between delimiters that carries a digit is a value.
_VALUE = re.compile(r"[^\s\[\]()=,:;\"'<>{}|/]*\d[^\s\[\]()=,:;\"'<>{}|/]*")
_MERGED = re.compile(r"<\*>(?:[:/,.-]+<\*>)+")
_TRAIL = ",.;:)]}\"'"
#: `rhost=db.example.org`, `path=/a/b`: a value that is more than a word.
_ASSIGNED = re.compile(r"^([\w.-]+=)[^\s=,;\"']*[./\\-][^\s=,;\"']*")

#: A unit after a number belongs to the number: `1.5 KB`, `<1 sec`.
_UNITS = frozenset(["ms", "us", "ns", "s", "sec", "secs", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"])

#: The word after `user` is a name, and so is the word between `for` and `from`.
_NAMED = "user"
_NOT_NAMES = frozenset(
    ["from", "by", "is", "was", "has", "with", "in", "on", "at", "to", "for", "and", "or", "not", "unknown"]
)

#: `RequestID: abcdef`: an id is a value though it may be made of letters alone.
_ID = re.compile(r"(?i)[\w.-]*id[:=]")

_CALENDAR = frozenset(
    [
        "Mon",
        "Tue",
        "Wed",
        "Thu",
        "Fri",
        "Sat",
        "Sun",
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ]
)


def mask_word(word: str) -> str:
    """Return the word with its values replaced."""
    core = word.rstrip(_TRAIL)
    if _PATH.match(core):
        return WILD + word[len(core) :]
    if found := _ASSIGNED.match(word):
        return found[1] + WILD + word[found.end() :]
    if not any(c.isdigit() for c in word):
        return WILD if word in _CALENDAR else "(<*>)" if word == "()" else word
    if found := _HOST_PORT.match(word):
        return WILD + word[found.end() :]
    masked = _MERGED.sub(WILD, _VALUE.sub(WILD, word))
    return WILD if masked in ("<<*>", "-<*>", "+<*>", "<*>%", "#<*>") else masked


class Masker:
    """Masks messages; remembers tokens, because logs repeat themselves."""

    def __init__(self) -> None:
        self._memo: dict[str, str] = {}

    def tokens(self, message: str) -> tuple[str, ...]:
        """Return the template tokens of a message."""
        words = message.split(None, TOKEN_LIMIT)[:TOKEN_LIMIT]
        known = self._memo.get
        masked = [known(word) or self._mask(word) for word in words]
        return _joined(words, masked) if len(masked) > 1 else tuple(masked)

    def _mask(self, word: str) -> str:
        if len(self._memo) > _MEMO_LIMIT:
            self._memo.clear()
        masked = self._memo[word] = mask_word(word)
        return masked


def _joined(words: list[str], masked: list[str]) -> tuple[str, ...]:
    """Apply the rules that look at neighbours: units, sizes in brackets, names, lists of values."""
    out = [masked[0]]
    last = masked[0]
    previous = words[0]
    for position in range(1, len(words)):
        word, token = words[position], masked[position]
        if last == WILD and (bare := word.rstrip(_TRAIL)) in _UNITS:
            out[-1] = last = WILD + word[len(bare) :]
        elif last == "(<*>" and word.rstrip(_TRAIL) in _UNITS:
            out.pop()  # `8451 bytes (8.25 KB)`: the same number once more
            last = out[-1] if out else ""
        elif token == WILD == last and len(out) > 1:
            pass  # a list of values of any length is one value
        else:
            if (
                token != WILD
                and _names(previous, words, position)
                and token not in _NOT_NAMES
                and token.isidentifier()
            ):
                token = WILD
            if not (token == WILD == last and len(out) > 1):
                out.append(token)
                last = token
        previous = word
    return tuple(out)


def _names(previous: str, words: list[str], position: int) -> bool:
    """Tell whether the word before says that this one is a name or an id."""
    if previous == _NAMED:
        return True
    if previous == "for":
        return position + 1 < len(words) and words[position + 1] == "from"
    return previous[-1] in ":=" and _ID.fullmatch(previous) is not None
