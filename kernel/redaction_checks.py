"""The validators of redaction: is a candidate a secret, how much of it to hide, and its normal form."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from datetime import date

#: What a validator returns: the end of what is hidden and the normal form that names it; None: not a hit.
Hidden = tuple[int, str] | None

PLACEHOLDER = re.compile(r"<[A-Z_]+:[0-9a-f]{6}>")

# Values that are no secret: masks, variables, words that a log prints after "password:".
_NO_SECRET = re.compile(
    r"[*•.xX#\-_?]*|(?i:null|none|nil|true|false|yes|no|undefined|required|invalid|incorrect|wrong|expired|empty|"
    r"missing|unset|redacted|hidden|masked|changed|failed|error|ok|not|is|for|to|authentication|string|str)|"
    r"\$\w+|\$?\{.*\}|%[sdrv]|%\(\w+\)s|<[^<>]*>|\[[\w ]*\]|[^\x00-\x7f]+"
)
_STRONG_KEY = re.compile(r"(?i)pass|pwd|secret|private|密码|口令|令牌|密钥")
_LIST_END = re.compile(r"[,;](?=\s|$|[\"'\w.-]+[\"']?\s*[=:])|%26|\\[nrt]|</")
#: A weak key (`token`, `key`) also stands before counts and words; its value must look like a key.
_WEAK_LENGTH, _WEAK_SURE_LENGTH = 8, 20


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def accept_keyed(data: bytes, key: bytes, start: int, end: int) -> Hidden:
    """Judge `key=value`: cut the value at the next list item, refuse masks, counts and plain words."""
    value = _text(data, start, end)
    quoted = data[end : end + 1] in (b'"', b"'", b"\\")
    if not quoted:
        if _NO_SECRET.fullmatch(value):
            return None
        if cut := _LIST_END.search(value):
            value = value[: cut.start()]
        value = value.rstrip(",;)].") if "{" in value else value.rstrip(",;)]}.")
    name = key.decode("utf-8", "replace")
    if not value or _NO_SECRET.fullmatch(value) or PLACEHOLDER.match(value):
        return None
    if name.lower() == "pwd" and value.startswith("/"):
        return None  # the working directory, in every dump of an environment
    if not _STRONG_KEY.search(name) and not _looks_random(value):
        return None
    return start + len(value.encode()), value


def _looks_random(value: str) -> bool:
    if len(value) < _WEAK_LENGTH or " " in value or value.isdecimal():
        return False
    return len(value) >= _WEAK_SURE_LENGTH or any(c.isdigit() for c in value)


def said(data: bytes, start: int, end: int) -> Hidden:
    """Judge "the password is …": only what no prose looks like."""
    value = _text(data, start, end).rstrip(",;.)]}。，；")
    odd = any(c.isdigit() or c in "!@#$%^&*_+=~" for c in value) and any(c.isalpha() for c in value)
    if not odd or len(value) < 6 or PLACEHOLDER.match(value):  # noqa: PLR2004 shorter is "1st", "2nd", "v2"
        return None
    return start + len(value.encode()), value


# How a password is, not what it is: "the password is wrong", "… is due", "… was rotated".
_STATE = re.compile(
    r"(?i:\w+(?:ed|ing|able|ible|less|ly|tive|ous)|a|an|as|at|bad|blank|broken|by|chosen|clear|complex|correct|default|"
    r"different|down|due|easy|empty|expired|false|fine|forgotten|from|given|gone|good|hard|here|hidden|identical|in|"
    r"important|incorrect|invalid|it|kept|known|leaked|local|long|lost|mandatory|missing|necessary|new|now|null|okay|"
    r"old|on|only|optional|out|per|public|private|random|reset|right|safe|same|secret|secure|insecure|sent|set|short|"
    r"shown|simple|stale|stolen|strict|strong|such|temporary|that|the|there|this|too|true|unique|unknown|unset|unsafe|"
    r"up|date|valid|weak|written|wrong|your|ours?|my|his|her|their|abgelaufen|falsch|leer|richtig|neu|alt|nicht|gesperrt)"
)
# Behind a password that is a plain word its sentence ends or turns to something else.
_CLAUSE_ENDS = re.compile(
    rb"[\"'`]?(?:[.,;!?)\]]*(?:\s*\Z|\s*[\r\n])|[.,;!?)]|\s+(?:and|but|now|today|since|until)\b)"
)
_CLAUSE_ENDS_ZH = re.compile("[。，；！？、]")
_PLAIN_LENGTH = 3
# Spoken of beside "password" and no secret: how one is kept, or which turn it is.
_SCHEME = re.compile(
    r"(?i)(?:scram-)?sha-?\d+\S*|md5\S*|bcrypt\S*|argon2\S*|pbkdf2\S*|base64|utf-?8|ntlmv2|\d+(?:st|nd|rd|th)"
)
# What follows a password that is named without "is": "password hunter2 was rotated".
_VERB_FOLLOWS = re.compile(
    rb"[\"'`]?(?:[.,;!?)]*\s*(?:\Z|[\r\n])|\s+(?:is|was|has|must|will|got|no longer|does|did|works?|fails?|failed|"
    rb"leaked|expires?|expired|to|for|on|and|should|needs?)\b)"
)


def told(data: bytes, start: int, end: int) -> Hidden:
    """Judge "the password of … is …": what looks like a secret, and a plain word that ends what is said."""
    if (sure := said(data, start, end)) is not None:
        return sure
    value = _text(data, start, end)
    if cut := _CLAUSE_ENDS_ZH.search(value):
        value = value[: cut.start()]
    value = value.rstrip(",;.!?)]}")
    stop = start + len(value.encode())
    if (
        len(value) < _PLAIN_LENGTH
        or _NO_SECRET.fullmatch(value)
        or _STATE.fullmatch(value.rpartition("-")[2])
    ):
        return None
    if PLACEHOLDER.match(value) or not re.fullmatch(r"[!-~]+", value) or not _ends_clause(data, start, stop):
        return None
    return stop, value


def _ends_clause(data: bytes, start: int, stop: int) -> bool:
    if data[start - 1 : start] in (b"'", b'"', b"`") and data[stop : stop + 1] == data[start - 1 : start]:
        return True
    after = data[stop : stop + 12]
    return _CLAUSE_ENDS.match(after) is not None or after.decode("utf-8", "replace")[:1] in tuple(
        "。，；！？、"
    )


def bare(data: bytes, start: int, end: int) -> Hidden:
    """Judge "password …" without a verb between: a value of letters with digits or marks of which something is said."""
    value = _text(data, start, end).rstrip(",;.!?)]}")
    stop = start + len(value.encode())
    hidden = said(data, start, stop)
    if hidden is None or _SCHEME.fullmatch(value) or not _VERB_FOLLOWS.match(data, stop):
        return None
    return hidden


def always(data: bytes, start: int, end: int) -> Hidden:
    value = _text(data, start, end)
    return None if PLACEHOLDER.match(value) or _NO_SECRET.fullmatch(value) else (end, value)


def never(data: bytes, start: int, end: int) -> Hidden:
    return None


def bearer(data: bytes, start: int, end: int) -> Hidden:
    return (end, _text(data, start, end)) if _looks_random(_text(data, start, end)) else None


def basic(data: bytes, start: int, end: int) -> Hidden:
    value = data[start:end]
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return None
    return (end, value.decode()) if b":" in plain and plain.isascii() else None


def user(data: bytes, start: int, end: int) -> Hidden:
    value = _text(data, start, end)
    return (
        None if value.isdecimal() or PLACEHOLDER.match(value) else (end, value)
    )  # -u 1000:1000 is a user id


# Units of systemd, files and images look like addresses; git@host is the login of every repository.
_NO_MAIL = re.compile(
    r"(?i)^git@|@\dx\.|\.(?:service|socket|timer|target|mount|slice|scope|device|js|json|tgz|gz|zip|whl|png|jpe?g|"
    r"svg|so|jar|py|conf|log)$"
)


def mail(data: bytes, start: int, end: int) -> Hidden:
    value = _text(data, start, end)
    return None if _NO_MAIL.search(value) else (end, value.lower())


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a number is no part of a version, an address or an id with dashes."""
    before, after = data[max(0, start - 2) : start], data[end : end + 2]
    if before.endswith(b".") and before[:1].isdigit():
        return False
    if before.endswith(b"-") and (before[:1] == b"_" or before[:1].isdigit()):
        return False
    return not (after[:1] in (b".", b"-", b":") and after[1:2].isalnum())


_PHONE_WORD = re.compile(r"(?i)tel|phone|mobile|call|sms|contact|手机|电话|联系|号码|致电")
_ZONE = re.compile(rb"\+\d{4}[ \]]")


def phone(data: bytes, start: int, end: int) -> Hidden:
    if not _stands_alone(data, start, end) or _ZONE.match(data, start):
        return None
    raw = data[start:end]
    digits = re.sub(rb"\D", b"", raw).decode()
    if not 8 <= len(digits) <= 15:  # noqa: PLR2004 E.164
        return None
    if raw[:1] == b"+" and data[max(0, start - 1) : start].isalnum():
        return None  # 1+23456789 is a sum
    if b" " in raw and raw[:1] not in (b"+", b"(") and not raw.startswith(b"0086"):
        before = _text(data, max(0, start - 24), start)
        if not _PHONE_WORD.search(before):
            return None  # three columns of numbers
    return end, re.sub(r"^(?:00)?86(?=1[3-9]\d{9}$)", "", digits)


# Two digits each (GB/T 2260).
_PROVINCES = (
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83"
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_ID_LENGTH = 18


def _is_identity(number: str) -> bool:
    if len(number) != _ID_LENGTH or not number[:-1].isdecimal() or number[:2] not in _PROVINCES.split():
        return False
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(d) * w for d, w in zip(number[:17], _ID_WEIGHTS, strict=True))
    return born.year >= 1900 and "10X98765432"[total % 11] == number[-1].upper()  # noqa: PLR2004 nobody is older


# Visa, Mastercard, Amex, Discover, JCB, UnionPay: prefix and length, before the check digit is looked at.
_CARD = re.compile(
    r"4\d{12}(?:\d{3})?(?:\d{3})?|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d+|3[47]\d{13}|"
    r"6(?:011|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
_MASTERCARD_LENGTH = 16


def _is_card(digits: str) -> bool:
    if not _CARD.fullmatch(digits) or (digits[0] in "25" and len(digits) != _MASTERCARD_LENGTH):
        return False
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0  # noqa: PLR2004 Luhn


def number(data: bytes, start: int, end: int) -> Hidden:
    """Judge a run of digits, ASCII or full-width: identity number, bank card or mobile phone."""
    number = re.sub(r"[ -]", "", unicodedata.normalize("NFKC", _text(data, start, end)))
    if not _stands_alone(data, start, end):
        return None
    mobile = re.fullmatch(r"1[3-9]\d{9}", number)
    return (end, number) if mobile or _is_identity(number) or _is_card(number) else None


def pem_line(data: bytes, start: int, end: int) -> Hidden:
    """Judge a line of a key's body that comes without its BEGIN: 64 characters, and no hex digest."""
    value = data[start:end].decode()
    mixed = re.search(r"[g-z]", value) and re.search(r"[G-Z]", value) and re.search(r"\d", value)
    return (end, value) if mixed else None
