"""Passwords as people speak of them, in a sentence and without a key: is the word that follows the secret."""

from __future__ import annotations

import re

from kernel.redaction_checks import NO_SECRET, PLACEHOLDER, Hidden, text_of


def said(data: bytes, start: int, end: int) -> Hidden:
    """Judge "the password is …": only what no prose looks like."""
    value = text_of(data, start, end).rstrip(",;.)]}。，；")
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
    value = text_of(data, start, end)
    if cut := _CLAUSE_ENDS_ZH.search(value):
        value = value[: cut.start()]
    value = value.rstrip(",;.!?)]}")
    stop = start + len(value.encode())
    if len(value) < _PLAIN_LENGTH or NO_SECRET.fullmatch(value) or _STATE.fullmatch(value.rpartition("-")[2]):
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
    value = text_of(data, start, end).rstrip(",;.!?)]}")
    stop = start + len(value.encode())
    hidden = said(data, start, stop)
    if hidden is None or _SCHEME.fullmatch(value) or not _VERB_FOLLOWS.match(data, stop):
        return None
    return hidden
