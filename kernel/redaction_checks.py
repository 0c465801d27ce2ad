"""The validators of redaction: is a candidate a secret, how much of it to hide, and its normal form."""

from __future__ import annotations

import base64
import binascii
import re

#: What a validator returns: the end of what is hidden and the normal form that names it; None: not a hit.
Hidden = tuple[int, str] | None

PLACEHOLDER = re.compile(r"<[A-Z_]+:[0-9a-f]{6}>")

# Values that are no secret: masks, variables, words that a log prints after "password:".
NO_SECRET = re.compile(
    r"[*•.xX#\-_?]*|(?i:null|none|nil|true|false|yes|no|undefined|required|invalid|incorrect|wrong|expired|empty|"
    r"missing|unset|redacted|hidden|masked|changed|failed|error|ok|not|is|for|to|authentication|string|str)|"
    r"\$\w+|\$?\{.*\}|%[sdrv]|%\(\w+\)s|<[^<>]*>|\[[\w ]*\]|[^\x00-\x7f]+"
)
_STRONG_KEY = re.compile(r"(?i)pass\w|pwd|secret|private|account|shared|密\s?码|口\s?令|令\s?牌|密\s?钥")
_LIST_END = re.compile(r"[,;](?=\s|$|[\"'\w.-]+[\"']?\s*[=:])|%2[26]|%7[Dd]|\\[nrt]|</")
#: A value without quotes, and how many bytes of it are judged.
_RUN = re.compile(rb"[^\t\n\f\r \"'&]*")
_JUDGED = 2048
#: A weak key (`token`, `key`) also stands before counts and words; its value must look like a key.
_WEAK_LENGTH, _WEAK_SURE_LENGTH = 8, 20


def text_of(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def accept_keyed(data: bytes, key: bytes, start: int, end: int) -> Hidden:
    """Judge `key=value`: cut the value at the next list item, refuse masks, counts and plain words."""
    value = text_of(data, start, end)
    if data[start - 1 : start] == b"\\" and value[:1] in ("n", "r", "t"):
        return None  # a line break, written out
    quoted = data[end : end + 1] in (b'"', b"'", b"\\")
    if not quoted:
        if NO_SECRET.fullmatch(value):
            return None
        if cut := _LIST_END.search(value):
            value = value[: cut.start()]
        value = value.rstrip(",;)].") if "{" in value else value.rstrip(",;)]}.")
    name = key.decode("utf-8", "replace")
    if not value or NO_SECRET.fullmatch(value) or PLACEHOLDER.match(value):
        return None
    if name.lower() == "pwd" and value.startswith("/"):
        return None  # the working directory, in every dump of an environment
    if not _STRONG_KEY.search(name) and not _looks_random(value):
        return None
    return start + len(value.encode()), value


def accept_bare(data: bytes, key: bytes, start: int) -> Hidden:
    """Judge `key=value` without quotes by the start of the value, however far that goes.

    Each of a thousand values that run on to the end of a hostile line is looked at; none is read to its end.
    """
    end = _end_of_run(data, start, start + _JUDGED)
    hidden = accept_keyed(data, key, start, end)
    if hidden is None or hidden[0] < end or end < start + _JUDGED:
        return hidden
    end = _end_of_run(data, end, len(data))
    return end, text_of(data, start, end)


def _end_of_run(data: bytes, start: int, limit: int) -> int:
    found = _RUN.match(data, start, limit)
    return found.end() if found else start


def _looks_random(value: str) -> bool:
    if len(value) < _WEAK_LENGTH or " " in value or value.isdecimal():
        return False
    return len(value) >= _WEAK_SURE_LENGTH or any(c.isdigit() for c in value)


def always(data: bytes, start: int, end: int) -> Hidden:
    value = text_of(data, start, end)
    return None if PLACEHOLDER.match(value) or NO_SECRET.fullmatch(value) else (end, value)


def never(data: bytes, start: int, end: int) -> Hidden:
    return None


def bearer(data: bytes, start: int, end: int) -> Hidden:
    return (end, text_of(data, start, end)) if _looks_random(text_of(data, start, end)) else None


def basic(data: bytes, start: int, end: int) -> Hidden:
    value = data[start:end]
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return None
    return (end, value.decode()) if b":" in plain and plain.isascii() else None


def auth(data: bytes, start: int, end: int) -> Hidden:
    """Judge what follows "Authorization:" without a scheme: a plain word is prose."""
    value = text_of(data, start, end)
    return None if value.isalpha() and len(value) < _WEAK_SURE_LENGTH else always(data, start, end)


def user(data: bytes, start: int, end: int) -> Hidden:
    value = text_of(data, start, end)
    return (
        None if value.isdecimal() or PLACEHOLDER.match(value) else (end, value)
    )  # -u 1000:1000 is a user id


#: What stands before a colon and an address, and is no user with a password; a number or a version is a tag or a count.
_LOGIN = re.compile(rb"[A-Za-z][\w.%+-]{0,63}$")
_ADDRESSED = re.compile(
    rb"(?i)(?:sips?|mailto|xmpp|acct|tel|from|to|r?cc|bcc|reply-to|sender|peer|node|host|server|client|git|ssh)$"
)
_TAG = re.compile(r"v?\d{1,5}(?:\.\d+)*")


def login(data: bytes, start: int, end: int) -> Hidden:
    """Judge `user:password@host:port` without a scheme."""
    name = _LOGIN.search(data, max(0, start - 65), start - 1)
    if name is None or _ADDRESSED.match(name.group()) or _TAG.fullmatch(text_of(data, start, end)):
        return None
    return always(data, start, end)


# Units of systemd, files and images look like addresses; git@host is the login of every repository.
_NO_MAIL = re.compile(
    r"(?i)^git@|@\dx\.|\.(?:service|socket|timer|target|mount|slice|scope|device|js|json|tgz|gz|zip|whl|png|jpe?g|"
    r"svg|so|jar|py|conf|log)$"
)


def mail(data: bytes, start: int, end: int) -> Hidden:
    value = text_of(data, start, end)
    return None if _NO_MAIL.search(value) else (end, value.lower())


def pem_line(data: bytes, start: int, end: int) -> Hidden:
    """Judge a line of a key's body that comes without its BEGIN: 64 characters, and no hex digest."""
    value = data[start:end].decode()
    mixed = re.search(r"[g-z]", value) and re.search(r"[G-Z]", value) and re.search(r"\d", value)
    return (end, value) if mixed else None
