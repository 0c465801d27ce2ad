"""What a later run can search a log for to see whether an incident is back."""

from __future__ import annotations

import re

from kernel.contracts import Finding

#: What differs from one line of a kind to the next: times, numbers, ids, quoted and assigned values, redactions.
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|<[A-Z_]+:[0-9a-f]+>|…|\"[^\"]*\"|'[^']*'|\b0x[0-9a-fA-F]+"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F\-]{27}|\b[0-9a-fA-F]{8,}\b|(?<==)\S+|\b[\w.\-/:]*\d[\w.\-/:]*%?"
)
_LEVEL = re.compile(
    r"^\W*(?:(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b\W*)+", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]")
_META = re.compile(r"([\\.+*?()|\[\]{}^$])")
#: A phrase with fewer letters is in every log; CJK says as much with a third of the letters.
_LETTERS_LEAST, _CJK_LEAST = 8, 3
_PATTERN_LENGTH = 80
#: How a finding of the log agent ends: the service it is about, and the phrase that a later search can look for.
_SERVICE = re.compile(r'\bService: ([\w.-]{2,60})\. Pattern: "')
_PHRASE = re.compile(r'\bPattern: "([^"…]{1,200})"\.$')


def service_of(finding: Finding) -> str:
    """Return the service that a finding says it is about, or ""."""
    told = _SERVICE.findall(finding.detail)
    return str(told[-1]) if told else ""  # what stands before may be quoted


def pattern(finding: Finding) -> str:
    """Return a regular expression of the phrase that a finding names, else of the longest stable one of its evidence.

    "" where there is none.
    """
    if (told := _PHRASE.search(finding.detail)) and _says_enough(told[1]):
        return _META.sub(r"\\\1", _cut(told[1].strip()))
    for evidence in finding.evidence:
        phrases = [
            _LEVEL.sub("", part).strip(" \t,;:-—|=[](){}<>") for part in _VOLATILE.split(evidence.quote)
        ]
        phrase = max(phrases, key=lambda part: len(_LETTERS.findall(part)), default="")
        if _says_enough(phrase):
            return _META.sub(r"\\\1", _cut(phrase))
    return ""


def _says_enough(phrase: str) -> bool:
    return len(_LETTERS.findall(phrase)) >= (_LETTERS_LEAST if phrase.isascii() else _CJK_LEAST)


def _cut(phrase: str) -> str:
    if len(phrase) <= _PATTERN_LENGTH:
        return phrase
    head = phrase[:_PATTERN_LENGTH]
    return head.rsplit(" ", 1)[0] if " " in head else head
